// Names in the code: the name at the pointer or caret, the hover card, and the keys that move the caret in read-only
// text.

import { EditorSelection } from '@codemirror/state';
import type { EditorState, Extension, SelectionRange } from '@codemirror/state';
import { EditorView, hoverTooltip, type KeyBinding, keymap, type Tooltip } from '@codemirror/view';
import { bringsColours, colourAt } from './colouring.ts';
import { pointCount } from './columns.ts';

/** A name in a file. */
export interface NameLocation {
  readonly name: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

/** Draws the card of a name into an element. @returns  removes it */
export type ShowCard = (element: HTMLElement, target: NameLocation) => () => void;

/** Colours of words that are not names. */
const NO_NAMES = /code-(?:comment|string|number|keyword|constant)/;

/** The range of the name at a position. Undefined: none. */
function nameRange(state: EditorState, position: number): SelectionRange | undefined {
  const word = state.wordAt(position);
  if (word === null) return undefined;
  const text = state.sliceDoc(word.from, word.to);
  const isName = /^[\p{L}_$]/u.test(text) && !NO_NAMES.test(colourAt(state, word.from));
  return isName ? word : undefined;
}

export function nameAt(state: EditorState, position: number): NameLocation | undefined {
  const range = nameRange(state, position);
  if (range === undefined) return undefined;
  const line = state.doc.lineAt(range.from);
  const before = line.text.slice(0, range.from - line.from);
  return {
    name: state.sliceDoc(range.from, range.to),
    line: line.number,
    column: pointCount(before) + 1,
  };
}

/** Opens the hover card of a name. */
export function nameCards(show: ShowCard): Extension {
  return hoverTooltip(
    ({ state }, position): Tooltip | null => {
      const range = nameRange(state, position);
      const target = nameAt(state, position);
      if (range === undefined || target === undefined) return null;
      return { pos: range.from, end: range.to, above: true, create: () => cardView(show, target) };
    },
    // Closes the card if the colours, once they arrive, show that the word is part of a comment or the like.
    {
      hideOn: (change, { pos }) =>
        bringsColours(change) && nameRange(change.state, pos) === undefined,
    },
  );
}

function cardView(show: ShowCard, target: NameLocation) {
  const dom = document.createElement('div');
  dom.className = 'name-card';
  const destroy = show(dom, target);
  return { dom, destroy };
}

/** Ctrl or Cmd and a click go to the definition of the name. */
export function nameClicks(go: (target: NameLocation) => void): Extension {
  return EditorView.domEventHandlers({
    mousedown(event, view) {
      if (event.button !== 0 || !(event.ctrlKey || event.metaKey)) return false;
      const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
      const target = position === null ? undefined : nameAt(view.state, position);
      if (target === undefined) return false;
      event.preventDefault();
      go(target);
      return true;
    },
  });
}

type Move = (view: EditorView, from: SelectionRange) => SelectionRange;

function moving(key: string, move: Move): KeyBinding {
  const run =
    (isExtended: boolean) =>
    (view: EditorView): boolean => {
      const { main } = view.state.selection;
      const moved = move(view, main);
      const selection = isExtended
        ? EditorSelection.range(main.anchor, moved.head)
        : EditorSelection.cursor(moved.head);
      view.dispatch({ selection, scrollIntoView: true, userEvent: 'select' });
      return true;
    };
  return { key, run: run(false), shift: run(true) };
}

/** Keys that move the caret. */
export const CARET_KEYS: Extension = keymap.of([
  moving('ArrowLeft', (view, from) => view.moveByChar(from, false)),
  moving('ArrowRight', (view, from) => view.moveByChar(from, true)),
  moving('Mod-ArrowLeft', (view, from) => view.moveByGroup(from, false)),
  moving('Mod-ArrowRight', (view, from) => view.moveByGroup(from, true)),
  moving('ArrowUp', (view, from) => view.moveVertically(from, false)),
  moving('ArrowDown', (view, from) => view.moveVertically(from, true)),
  moving('Home', (view, from) => view.moveToLineBoundary(from, false)),
  moving('End', (view, from) => view.moveToLineBoundary(from, true)),
]);

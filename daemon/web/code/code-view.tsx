// A read-only view of a file's code. CodeMirror draws only the lines near the window, so 50,000 lines scroll as fast as
// fifty. Line numbers are links; the linked lines are marked.

import {
  closeSearchPanel,
  gotoLine,
  highlightSelectionMatches,
  openSearchPanel,
  search,
  searchPanelOpen,
} from '@codemirror/search';
import { Compartment, EditorState, type Extension, type StateEffect } from '@codemirror/state';
import {
  EditorView,
  activateHover,
  drawSelection,
  highlightSpecialChars,
  keymap,
} from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';
import { HIDDEN, codeOf, visibleName } from '../parts/hidden-characters.ts';
import { blameGutter, type BlameHunk } from './blame-gutter.ts';
import { type LineRange, rangeText } from './line-range.ts';
import { layoutOf, vimKeys } from './editor-options.ts';
import { linkedRange, showRange } from './linked-range.ts';
import { STYLE_NONCE } from '../data/base-path.ts';
import { type Settings, useRemembered } from '../data/remembered.ts';
import { colouring } from './colouring.ts';
import { type FileMatch, matchField, offsetOf, setMatches } from './match-marks.ts';
import { CARET_KEYS, nameAt, nameCards, nameClicks } from './names.ts';
import type { NameLocation, ShowCard } from './names.ts';
import { selectedRange } from './selected-range.ts';
import '../styles/code-view.css';

/** Longer files, in characters, get syntax colours only on request. */
export const COLOURED_SIZE_MAX = 5_000_000;

/**
 * Why only this key: the search panel's other keys would override the browser's, such as a second mod+F for its own
 * search.
 */
const FIND_KEYS = [{ key: 'Escape', run: closeSearchPanel, scope: 'editor search-panel' }];

/** What the page can do with the view. */
export interface CodeHandle {
  /** The name at the caret. */
  readonly name: () => NameLocation | undefined;
  readonly openCard: () => void;
  readonly openFind: () => void;
  readonly isFindOpen: () => boolean;
  readonly openGoToLine: () => void;
  readonly focus: () => void;
}

interface CodeViewProps {
  readonly path: string;
  readonly text: string;
  readonly language: string;
  /** False for files above COLOURED_SIZE_MAX until requested: colours cost time. */
  readonly isColoured: boolean;
  readonly range: LineRange | undefined;
  /** Blame of its lines; undefined: not displayed. */
  readonly blame: readonly BlameHunk[] | undefined;
  readonly matches: readonly FileMatch[];
  /** Index of the current match. */
  readonly currentMatch: number | undefined;
  /** The user chose lines by their numbers. */
  readonly onRange: (range: LineRange) => void;
  /** The selection changed; undefined: empty. */
  readonly onSelect: (range: LineRange | undefined) => void;
  readonly showCard: ShowCard;
  /** Goes to the definition of a name. */
  readonly goToName: (target: NameLocation) => void;
  readonly handle: RefObject<CodeHandle | null>;
}

interface Parts {
  readonly keys: Compartment;
  readonly layout: Compartment;
  readonly colours: Compartment;
  readonly blame: Compartment;
}

const SPECIAL = highlightSpecialChars({
  specialChars: new RegExp(HIDDEN.source, 'gu'),
  render(code) {
    const box = document.createElement('span');
    box.className = 'hidden-character';
    box.textContent = codeOf(String.fromCharCode(code));
    box.title = box.textContent;
    return box;
  },
});

/** The view's events. The functions may change with each render. */
type Handlers = Pick<CodeViewProps, 'onRange' | 'onSelect' | 'showCard' | 'goToName'>;

function makeState(
  props: CodeViewProps,
  handlers: { readonly current: Handlers },
  { keys, layout, colours, blame }: Parts,
  settings: Settings,
): EditorState {
  return EditorState.create({
    // Lines end as in the daemon: a lone carriage return is a character, and a final newline does not begin another
    // line.
    doc: props.text.replaceAll('\r\n', '\n').replace(/\n$/, ''),
    extensions: [
      EditorState.lineSeparator.of('\n'),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.cspNonce.of(STYLE_NONCE),
      EditorView.contentAttributes.of({
        tabindex: '0',
        'aria-label': `${visibleName(props.path)}, read only`,
      }),
      keys.of([]),
      layout.of(layoutOf(settings, props.text)),
      blame.of([]),
      linkedRange(props.range, (chosen) => handlers.current.onRange(chosen)),
      selectedRange((selected) => handlers.current.onSelect(selected)),
      SPECIAL,
      drawSelection(),
      highlightSelectionMatches(),
      search({ top: true }),
      keymap.of(FIND_KEYS),
      CARET_KEYS,
      nameCards((element, target) => handlers.current.showCard(element, target)),
      nameClicks((target) => handlers.current.goToName(target)),
      matchField,
      colours.of([]),
    ],
  });
}

function handleOf(view: EditorView): CodeHandle {
  const caret = () => view.state.selection.main.head;
  return {
    name: () => nameAt(view.state, caret()),
    openCard: () =>
      activateHover(view, caret(), 1, { until: ({ selection }) => selection !== undefined }),
    openFind: () => openSearchPanel(view),
    isFindOpen: () => searchPanelOpen(view.state),
    openGoToLine: () => gotoLine(view),
    focus: () => view.focus(),
  };
}

function showMatches(
  view: EditorView,
  all: readonly FileMatch[],
  current: number | undefined,
): void {
  const effects: StateEffect<unknown>[] = [setMatches.of({ all, current })];
  const at = current === undefined ? undefined : all[current];
  if (at === undefined) {
    view.dispatch({ effects });
    return;
  }
  const anchor = offsetOf(view.state.doc, at.start);
  effects.push(EditorView.scrollIntoView(anchor, { y: 'center' }));
  view.dispatch({ effects, selection: { anchor } });
}

/** The gutters are hidden from screen readers, except when they hold the links of blame. */
function showBlame(
  view: EditorView,
  part: Compartment,
  blame: readonly BlameHunk[] | undefined,
): void {
  view.dispatch({ effects: part.reconfigure(blame === undefined ? [] : blameGutter(blame)) });
  const columns = view.dom.querySelector('.cm-gutters');
  columns?.setAttribute('aria-hidden', String(blame === undefined));
}

/** Applies the layout settings to a new view, and whenever they change. */
function useLayout(
  view: RefObject<EditorView | null>,
  { keys, layout }: Parts,
  { text, language, path }: CodeViewProps,
): void {
  const tabWidth = useRemembered((state) => state.tabWidth);
  const isWrapped = useRemembered((state) => state.isWrapped);
  const isVim = useRemembered((state) => state.keymap === 'vim');
  useEffect(() => {
    view.current?.dispatch({
      effects: layout.reconfigure(layoutOf({ tabWidth, isWrapped }, text)),
    });
  }, [tabWidth, isWrapped, text]);
  useEffect(() => {
    const of = view.current;
    const set = (found: Extension): void => {
      if (view.current === of) of?.dispatch({ effects: keys.reconfigure(found) });
    };
    if (!isVim) set([]);
    // If loading fails, the normal keys stay.
    else void vimKeys().then(set, () => {});
  }, [isVim, text, language, path]);
}

export function CodeView(props: CodeViewProps) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const handlers = useRef<Handlers>(props);
  handlers.current = props;
  const parts = useRef<Parts>({
    keys: new Compartment(),
    layout: new Compartment(),
    colours: new Compartment(),
    blame: new Compartment(),
  });
  const { text, language, path, range, blame, isColoured, matches, currentMatch, handle } = props;

  useEffect(() => {
    if (container.current === null) return;
    const made = new EditorView({
      parent: container.current,
      state: makeState(props, handlers, parts.current, useRemembered.getState()),
    });
    view.current = made;
    handle.current = handleOf(made);
    return () => {
      made.destroy();
      view.current = null;
      handle.current = null;
    };
    // A different text gets a new view; the other properties update the current one.
  }, [text, language, path]);

  useEffect(() => {
    const colours = isColoured ? colouring(language) : [];
    view.current?.dispatch({ effects: parts.current.colours.reconfigure(colours) });
  }, [isColoured, text, language, path]);

  useLayout(view, parts.current, props);

  const blamed = JSON.stringify(blame);
  useEffect(() => {
    if (view.current !== null) showBlame(view.current, parts.current.blame, blame);
    // `blame` is a new array in each render; `blamed` identifies it.
  }, [blamed, text, language, path]);

  const ranged = range === undefined ? '' : rangeText(range);
  useEffect(() => {
    if (view.current !== null) showRange(view.current, range);
    // `range` is a new object in each render; `ranged` identifies it.
  }, [ranged, text, language, path]);

  useEffect(() => {
    if (view.current !== null) showMatches(view.current, matches, currentMatch);
  }, [matches, currentMatch, text, language, path]);

  return <div ref={container} className="code-view" />;
}

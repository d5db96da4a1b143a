// A file as code, to be read: CodeMirror, which draws only what is near the window, so that 50,000 lines scroll as
// fast as fifty. Numbers link to lines; a range of lines is marked.

import {
  closeSearchPanel,
  gotoLine,
  highlightSelectionMatches,
  openSearchPanel,
  search,
  searchPanelOpen,
} from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import type { Extension, StateEffect } from '@codemirror/state';
import {
  EditorView,
  activateHover,
  drawSelection,
  highlightSpecialChars,
  keymap,
} from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';
import { HIDDEN, codeOf, visibleName } from '../parts/hidden-characters.ts';
import { blameGutter } from './blame-gutter.ts';
import type { BlameStretch } from './blame-gutter.ts';
import { rangeText } from './line-range.ts';
import type { LineRange } from './line-range.ts';
import { layoutOf, vimKeys } from './layout.ts';
import { linkedRange, showRange } from './linked-range.ts';
import { STYLE_NONCE } from '../data/base-path.ts';
import { useRemembered } from '../data/remembered.ts';
import type { Settings } from '../data/remembered.ts';
import { colouring } from './colouring.ts';
import { matchField, offsetOf, setMatches } from './match-marks.ts';
import type { FileMatch } from './match-marks.ts';
import { CARET_KEYS, nameAt, nameCards, nameClicks } from './names.ts';
import type { NameLocation, ShowCard } from './names.ts';
import { selectedRange } from './selected-range.ts';
import '../styles/code-view.css';

/** Files above this many characters get their colours only when asked for. */
export const COLOURED_SIZE_MAX = 5_000_000;

/** Only these: the others that come with finding are the browser's own, such as its search by a second mod+F. */
const FIND_KEYS = [{ key: 'Escape', run: closeSearchPanel, scope: 'editor search-panel' }];

/** What is done with the view from outside. */
export interface CodeHandle {
  /** Under the caret. */
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
  /** Colours cost time: files above COLOURED_SIZE_MAX get them when asked for. */
  readonly isColoured: boolean;
  readonly range: LineRange | undefined;
  /** Where its lines come from; undefined: not shown. */
  readonly blame: readonly BlameStretch[] | undefined;
  readonly matches: readonly FileMatch[];
  /** Index of the match that one is at. */
  readonly currentMatch: number | undefined;
  /** Lines were chosen by their numbers. */
  readonly onRange: (range: LineRange) => void;
  /** Text was selected; undefined: none is any more. */
  readonly onSelect: (range: LineRange | undefined) => void;
  readonly showCard: ShowCard;
  /** To the definition of a name. */
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

/** What the view tells; the functions may be others in each rendering. */
type Handlers = Pick<CodeViewProps, 'onRange' | 'onSelect' | 'showCard' | 'goToName'>;

function makeState(
  props: CodeViewProps,
  handlers: { readonly current: Handlers },
  { keys, layout, colours, blame }: Parts,
  settings: Settings,
): EditorState {
  return EditorState.create({
    // Lines end where those of the daemon do: a lone carriage return is a character, and what ends the last line begins no
    // other.
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

/** Columns are hidden from those who do not see them, which links must not be. */
function showBlame(
  view: EditorView,
  part: Compartment,
  blame: readonly BlameStretch[] | undefined,
): void {
  view.dispatch({ effects: part.reconfigure(blame === undefined ? [] : blameGutter(blame)) });
  const columns = view.dom.querySelector('.cm-gutters');
  columns?.setAttribute('aria-hidden', String(blame === undefined));
}

/** Shows a new view, and the one there is when settings change. */
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
    // Without them the other keys are there.
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
    // A text of another file, or another text of it, is another view; the rest is told to the one there is.
  }, [text, language, path]);

  useEffect(() => {
    const colours = isColoured ? colouring(language) : [];
    view.current?.dispatch({ effects: parts.current.colours.reconfigure(colours) });
  }, [isColoured, text, language, path]);

  useLayout(view, parts.current, props);

  const blamed = JSON.stringify(blame);
  useEffect(() => {
    if (view.current !== null) showBlame(view.current, parts.current.blame, blame);
    // `blame` is made anew each time; `blamed` says whether it is another one.
  }, [blamed, text, language, path]);

  const ranged = range === undefined ? '' : rangeText(range);
  useEffect(() => {
    if (view.current !== null) showRange(view.current, range);
    // `range` is made anew each time; `ranged` says whether it is another one.
  }, [ranged, text, language, path]);

  useEffect(() => {
    if (view.current !== null) showMatches(view.current, matches, currentMatch);
  }, [matches, currentMatch, text, language, path]);

  return <div ref={container} className="code-view" />;
}

// A file as code, to be read: CodeMirror, which draws and parses only what is near the window, so that 50,000 lines scroll as
// fast as fifty. Numbers link to lines; a range of lines is marked.

import { LRLanguage, Language, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import {
  Compartment,
  EditorState,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import type { DecorationSet } from '@codemirror/view';
import { LRParser } from '@lezer/lr';
import { defineLanguageFacet } from '@codemirror/language';
import { useEffect, useRef } from 'react';
import { blameGutter } from './blame-gutter.ts';
import type { BlameStretch } from './blame-gutter.ts';
import type { LineRange } from './line-range.ts';
import { STYLE_NONCE } from '../data/place.ts';
import { highlighter } from './highlighter.ts';
import { parserOf } from './languages.ts';

/** Files above this many characters get their colours only when asked for. */
export const COLOURED_SIZE_MAX = 5_000_000;

const setRange = StateEffect.define<LineRange | undefined>();

/** Marks the lines that the address names. */
const rangeField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, transaction) {
    const effect = transaction.effects.find((one) => one.is(setRange));
    if (effect === undefined) return before;
    const range: LineRange | undefined = effect.value;
    if (range === undefined) return Decoration.none;
    const { doc } = transaction.state;
    const builder = new RangeSetBuilder<Decoration>();
    const mark = Decoration.line({ class: 'linked-line' });
    for (let number = range.from; number <= Math.min(range.to, doc.lines); number++) {
      const { from } = doc.line(number);
      builder.add(from, from, mark);
    }
    return builder.finish();
  },
  provide: (field) => EditorView.decorations.from(field),
});

interface CodeViewProps {
  readonly path: string;
  readonly text: string;
  readonly language: string;
  readonly range: LineRange | undefined;
  /** Where its lines come from; undefined: not shown. */
  readonly blame: readonly BlameStretch[] | undefined;
  /** Lines were chosen by their numbers. */
  readonly onRange: (range: LineRange) => void;
}

/** The language of a parser for the view. */
async function languageOf(name: string): Promise<Extension> {
  const parser = await parserOf(name);
  if (parser === undefined) return [];
  if (parser instanceof LRParser) return LRLanguage.define({ parser });
  return new Language(defineLanguageFacet(), parser);
}

function numbers(onRange: (range: LineRange) => void, anchor: { current: number }): Extension {
  return lineNumbers({
    domEventHandlers: {
      mousedown(view, block, event) {
        const { number } = view.state.doc.lineAt(block.from);
        const isRange = event instanceof MouseEvent && event.shiftKey;
        const from = isRange ? anchor.current : number;
        anchor.current = from;
        onRange({ from: Math.min(from, number), to: Math.max(from, number) });
        return true;
      },
    },
  });
}

interface Parts {
  readonly colours: Compartment;
  readonly blame: Compartment;
}

function makeState(
  props: CodeViewProps,
  onRange: (range: LineRange) => void,
  { colours, blame }: Parts,
): EditorState {
  return EditorState.create({
    doc: props.text,
    extensions: [
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.cspNonce.of(STYLE_NONCE),
      EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': `${props.path}, read only` }),
      blame.of([]),
      numbers(onRange, { current: props.range?.from ?? 1 }),
      highlightSpecialChars(),
      drawSelection(),
      highlightSelectionMatches(),
      search({ top: true }),
      keymap.of(searchKeymap),
      rangeField,
      syntaxHighlighting(highlighter),
      colours.of([]),
    ],
  });
}

export function CodeView(props: CodeViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const told = useRef(props.onRange);
  told.current = props.onRange;
  const parts = useRef<Parts>({ colours: new Compartment(), blame: new Compartment() });
  const { text, language, path, range, blame } = props;

  useEffect(() => {
    if (place.current === null) return;
    const { colours } = parts.current;
    const made = new EditorView({
      parent: place.current,
      state: makeState(props, (chosen) => told.current(chosen), parts.current),
    });
    view.current = made;
    let isOver = false;
    const colourIt = async (): Promise<void> => {
      const extension = await languageOf(language);
      if (!isOver) made.dispatch({ effects: colours.reconfigure(extension) });
    };
    if (text.length <= COLOURED_SIZE_MAX) void colourIt();
    return () => {
      isOver = true;
      made.destroy();
      view.current = null;
    };
    // A text of another file, or another text of it, is another view; the rest is told to the one there is.
  }, [text, language, path]);

  const blamed = JSON.stringify(blame);
  useEffect(() => {
    const column = blame === undefined ? [] : blameGutter(blame);
    view.current?.dispatch({ effects: parts.current.blame.reconfigure(column) });
    // `blame` is made anew each time; `blamed` says whether it is another one.
  }, [blamed, text, language, path]);

  const from = range?.from;
  const to = range?.to;
  useEffect(() => {
    const shown = view.current;
    if (shown === null) return;
    const chosen = from === undefined || to === undefined ? undefined : { from, to };
    const effects: StateEffect<unknown>[] = [setRange.of(chosen)];
    if (chosen !== undefined && chosen.from <= shown.state.doc.lines) {
      const { from: at } = shown.state.doc.line(chosen.from);
      const isSeen =
        shown.viewport.from <= at && at <= shown.viewport.to && shown.scrollDOM.scrollTop > 0;
      if (!isSeen) effects.push(EditorView.scrollIntoView(at, { y: 'center' }));
    }
    shown.dispatch({ effects });
  }, [from, to, text, language, path]);

  return <div ref={place} className="code-view" />;
}

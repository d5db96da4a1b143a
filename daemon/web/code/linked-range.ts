// The lines that the address names: marks them, scrolls to them, and lets the user choose them by line number, with
// shift or by dragging.

import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import type { Extension, Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, lineNumbers } from '@codemirror/view';
import type { LineRange } from './line-range.ts';
import { offsetOf } from './match-marks.ts';

const setRange = StateEffect.define<LineRange | undefined>();

const LINE = Decoration.line({ class: 'linked-line' });
const PART = Decoration.mark({ class: 'linked-part' });

/** Offsets of the range's columns; undefined: it has none, or they do not fit this text. */
function partOf(text: Text, range: LineRange): readonly [number, number] | undefined {
  const { from, to, fromColumn, toColumn } = range;
  if ((fromColumn === undefined && toColumn === undefined) || to > text.lines) return undefined;
  const begin = offsetOf(text, { lineNumber: from, column: fromColumn ?? 1 });
  const end = offsetOf(text, { lineNumber: to, column: toColumn ?? Infinity });
  return begin < end ? [begin, end] : undefined;
}

function decorations(text: Text, range: LineRange): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const part = partOf(text, range);
  for (let number = range.from; number <= Math.min(range.to, text.lines); number++) {
    const { from } = text.line(number);
    builder.add(from, from, LINE);
    if (number === range.from && part !== undefined) builder.add(part[0], part[1], PART);
  }
  return builder.finish();
}

const rangeField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, transaction) {
    const effect = transaction.effects.find((one) => one.is(setRange));
    if (effect === undefined) return before;
    const range: LineRange | undefined = effect.value;
    return range === undefined ? Decoration.none : decorations(transaction.state.doc, range);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function isInView({ viewport, scrollDOM }: EditorView, at: number): boolean {
  return viewport.from <= at && at <= viewport.to && scrollDOM.scrollTop > 0;
}

/** Marks the lines of the address and scrolls to them. */
export function showRange(view: EditorView, chosen: LineRange | undefined): void {
  const effects: StateEffect<unknown>[] = [setRange.of(chosen)];
  if (chosen !== undefined && chosen.from <= view.state.doc.lines) {
    const { from: at } = view.state.doc.line(chosen.from);
    if (!isInView(view, at)) effects.push(EditorView.scrollIntoView(at, { y: 'center' }));
  }
  view.dispatch({ effects });
}

function between(one: number, other: number): LineRange {
  return { from: Math.min(one, other), to: Math.max(one, other) };
}

/** Follows the mouse from press to release. The range is marked meanwhile, and reported at the release. */
function followDrag(view: EditorView, anchor: number, onRange: (range: LineRange) => void): void {
  let range = between(anchor, anchor);
  const move = ({ clientY }: MouseEvent): void => {
    const block = view.lineBlockAtHeight(clientY - view.documentTop);
    range = between(anchor, view.state.doc.lineAt(block.from).number);
    view.dispatch({ effects: setRange.of(range) });
  };
  const release = (event: MouseEvent): void => {
    window.removeEventListener('mousemove', move);
    move(event);
    onRange(range);
  };
  window.addEventListener('mousemove', move);
  window.addEventListener('mouseup', release, { once: true });
}

/** @param anchor  the line from which shift extends the range */
function numbers(onRange: (range: LineRange) => void, anchor: { current: number }): Extension {
  return lineNumbers({
    domEventHandlers: {
      mousedown(view, block, event) {
        if (!(event instanceof MouseEvent) || event.button !== 0) return false;
        const { number } = view.state.doc.lineAt(block.from);
        if (!event.shiftKey) anchor.current = number;
        followDrag(view, anchor.current, onRange);
        // The drag selects lines, not text.
        event.preventDefault();
        return true;
      },
    },
  });
}

/** @param onRange  called when the user chose lines by their numbers */
export function linkedRange(
  first: LineRange | undefined,
  onRange: (range: LineRange) => void,
): Extension {
  return [numbers(onRange, { current: first?.from ?? 1 }), rangeField];
}

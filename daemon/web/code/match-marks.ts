// Marks the matches of a search in a file, and the current one.

import { RangeSetBuilder, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import { unitsIn } from './columns.ts';

/** A location as in the API: line and column from 1, columns in code points. */
interface Location {
  readonly lineNumber: number;
  readonly column: number;
}

/** `end` is exclusive. */
export interface FileMatch {
  readonly start: Location;
  readonly end: Location;
}

interface Matches {
  /** In file order. */
  readonly all: readonly FileMatch[];
  /** Index of the current match; undefined: none. */
  readonly current: number | undefined;
}

export const setMatches = StateEffect.define<Matches>();

const MATCH = Decoration.mark({ tagName: 'mark' });
const CURRENT = Decoration.mark({ tagName: 'mark', class: 'match-current' });

/** Converts locations to offsets in the text, clamped to it. Ascending locations in one line are cheap. */
function offsetsIn(text: Text): (location: Location) => number {
  let line = text.line(1);
  let units = unitsIn(line.text);
  return ({ lineNumber, column }) => {
    const number = Math.min(Math.max(lineNumber, 1), text.lines);
    if (number !== line.number) {
      line = text.line(number);
      units = unitsIn(line.text);
    }
    return line.from + units(column);
  };
}

export function offsetOf(text: Text, location: Location): number {
  return offsetsIn(text)(location);
}

function decorations(text: Text, { all, current }: Matches): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const offset = offsetsIn(text);
  let last = 0;
  for (const [index, { start, end }] of all.entries()) {
    const from = Math.max(offset(start), last);
    const to = offset(end);
    if (from >= to) continue;
    builder.add(from, to, index === current ? CURRENT : MATCH);
    last = to;
  }
  return builder.finish();
}

export const matchField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, transaction) {
    const effect = transaction.effects.find((one) => one.is(setMatches));
    return effect === undefined ? before : decorations(transaction.state.doc, effect.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

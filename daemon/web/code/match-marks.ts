// Matches of a search in a file: where they are, and which of them one is at.

import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import type { Text } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';
import type { DecorationSet } from '@codemirror/view';

/** A place of the API: line and column from 1, columns in code points. */
interface Location {
  readonly lineNumber: number;
  readonly column: number;
}

/** `end` is behind the match. */
export interface FileMatch {
  readonly start: Location;
  readonly end: Location;
}

interface Matches {
  /** In the order of the file. */
  readonly all: readonly FileMatch[];
  /** Index of the one that one is at; undefined: none. */
  readonly current: number | undefined;
}

export const setMatches = StateEffect.define<Matches>();

const MATCH = Decoration.mark({ tagName: 'mark' });
const CURRENT = Decoration.mark({ tagName: 'mark', class: 'match-current' });

/** Where a place is in the text, as near as the text has it. */
export function offsetOf(text: Text, { lineNumber, column }: Location): number {
  const line = text.line(Math.min(Math.max(lineNumber, 1), text.lines));
  const before = Array.from(line.text)
    .slice(0, column - 1)
    .join('');
  return line.from + before.length;
}

function decorations(text: Text, { all, current }: Matches): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  let last = 0;
  for (const [index, { start, end }] of all.entries()) {
    const from = Math.max(offsetOf(text, start), last);
    const to = offsetOf(text, end);
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

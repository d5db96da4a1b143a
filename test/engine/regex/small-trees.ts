// All expressions of a size: leaves, repeats, sequences and choices over an alphabet of three characters; and all
// texts over it.

import type { CodePointRange, RegexTree } from '../../../daemon/engine/regex/tree.ts';

const NOT_A: readonly CodePointRange[] = [{ start: 0x61, end: 0x62 }];

const LEAVES: readonly RegexTree[] = [
  { kind: 'literal', codePoint: 0x61, isFolded: false },
  { kind: 'literal', codePoint: 0x62, isFolded: false },
  { kind: 'class', ranges: NOT_A, properties: [], isNegated: true, isFolded: false },
  { kind: 'assertion', at: 'lineStart' },
  { kind: 'assertion', at: 'lineEnd' },
  { kind: 'assertion', at: 'wordBorder' },
  { kind: 'sequence', children: [] },
];

const COUNTS: readonly { readonly min: number; readonly max?: number }[] = [
  { min: 0 },
  { min: 1 },
  { min: 0, max: 1 },
];

export function* treesOf(size: number): Generator<RegexTree> {
  if (size === 1) yield* LEAVES;
  if (size < 2) return;
  for (const child of treesOf(size - 1)) {
    for (const counts of COUNTS) {
      yield { kind: 'repeat', child, ...counts, isLazy: false };
      yield { kind: 'repeat', child, ...counts, isLazy: true };
    }
  }
  for (let leftSize = 1; leftSize < size - 1; leftSize++) {
    const rights = [...treesOf(size - 1 - leftSize)];
    for (const left of treesOf(leftSize)) {
      for (const right of rights) {
        yield { kind: 'sequence', children: [left, right] };
        yield { kind: 'choice', children: [left, right] };
      }
    }
  }
}

/** Every text of `a`, `b` and newlines of up to `lengthMax` characters. */
export function textsUpTo(lengthMax: number): readonly string[] {
  const texts = [''];
  for (let index = 0; texts[index]!.length < lengthMax; index++) {
    texts.push(...['a', 'b', '\n'].map((character) => texts[index] + character));
  }
  return texts;
}

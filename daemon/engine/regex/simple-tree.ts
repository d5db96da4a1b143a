// A regular expression in few node kinds: literals, dots and classes are sets. Made by simplify.ts.

import type { AssertionNode, Choice, CodePointRanges, Repeat, Sequence } from './tree.ts';

/** One code point of a set; the empty set fails. */
export interface SetNode {
  readonly kind: 'set';
  /** Ascending, neither overlapping nor adjacent, without surrogates. */
  readonly ranges: CodePointRanges;
}

export type SimpleRepeatNode = Repeat<SimpleTree>;

/** No sequence has a sequence as a child, and no choice a choice. */
export type SimpleTree =
  SetNode | AssertionNode | SimpleRepeatNode | Sequence<SimpleTree> | Choice<SimpleTree>;

/** Matches the empty text everywhere. */
export const EMPTY: SimpleTree = { kind: 'sequence', children: [] };

export const NOTHING: SimpleTree = { kind: 'set', ranges: [] };

/** simplify.ts reduces everything that matches nothing to the empty set. */
export function isNothing(tree: SimpleTree): boolean {
  return tree.kind === 'set' && tree.ranges.length === 0;
}

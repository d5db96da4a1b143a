// A regular expression in the few node kinds that analysis and compilation need: literals, dots and classes are sets of code
// points. Made by simplify.ts.

import type { AssertionNode, Choice, CodePointRange, Repeat, Sequence } from './tree.ts';

/** One code point of a set; the empty set fails. */
export interface SetNode {
  readonly kind: 'set';
  /** Ascending, neither overlapping nor adjacent, without surrogates. */
  readonly ranges: readonly CodePointRange[];
}

export type SimpleRepeatNode = Repeat<SimpleTree>;

/** No sequence has a sequence as a child, and no choice a choice. */
export type SimpleTree =
  SetNode | AssertionNode | SimpleRepeatNode | Sequence<SimpleTree> | Choice<SimpleTree>;

/** Matches the empty text everywhere. */
export const EMPTY: SimpleTree = { kind: 'sequence', children: [] };

/** Matches nothing. */
export const NOTHING: SimpleTree = { kind: 'set', ranges: [] };

/** Whether `tree` is the empty set, to which simplify.ts reduces everything that matches nothing. */
export function isNothing(tree: SimpleTree): boolean {
  return tree.kind === 'set' && tree.ranges.length === 0;
}

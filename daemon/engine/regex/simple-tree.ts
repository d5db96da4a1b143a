// A regular expression in the few node kinds that analysis and compilation need: literals, dots and classes are sets of code
// points. Made by simplify.ts.

import { printRanges } from './code-points.ts';
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

/** Canonical text of `tree`, for example `seq([61], repeat(0,, [62-63]))`. */
export function printSimple(tree: SimpleTree): string {
  switch (tree.kind) {
    case 'set':
      return `[${printRanges(tree.ranges).join(' ')}]`;
    case 'assertion':
      return tree.at;
    case 'repeat': {
      const counts = `${tree.min},${tree.max ?? ''}`;
      return `${tree.isLazy ? 'lazy' : 'repeat'}(${counts}, ${printSimple(tree.child)})`;
    }
    default: {
      const children = tree.children.map(printSimple).join(', ');
      return `${tree.kind === 'choice' ? 'or' : 'seq'}(${children})`;
    }
  }
}

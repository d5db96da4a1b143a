// A regular expression in the few kinds of nodes that analysis and compilation need: every literal, dot and
// class has become a set of code points. simplify.ts makes it.

import { printRanges } from './code-points.ts';
import type { AssertionNode, CodePointRange } from './tree.ts';

/** One code point of a set; of none: fails. */
export interface SetNode {
  readonly kind: 'set';
  /** Ascending, neither overlapping nor adjacent, without surrogates. */
  readonly ranges: readonly CodePointRange[];
}

export interface SimpleRepeatNode {
  readonly kind: 'repeat';
  readonly child: SimpleTree;
  readonly min: number;
  /** Absent: without bound. */
  readonly max?: number;
  /** As few as possible are tried first. */
  readonly isLazy: boolean;
}

/** Children one after the other, none of them a sequence; none at all: the empty text. Never exactly one. */
export interface SimpleSequenceNode {
  readonly kind: 'sequence';
  readonly children: readonly SimpleTree[];
}

/** At least two children, none of them a choice, the earlier preferred. */
export interface SimpleChoiceNode {
  readonly kind: 'choice';
  readonly children: readonly SimpleTree[];
}

export type SimpleTree =
  SetNode | AssertionNode | SimpleRepeatNode | SimpleSequenceNode | SimpleChoiceNode;

/** Matches the empty text everywhere. */
export const EMPTY: SimpleTree = { kind: 'sequence', children: [] };

/** Matches nothing. */
export const NOTHING: SimpleTree = { kind: 'set', ranges: [] };

/** Whether `tree` is the set of no code points, to which simplify.ts reduces what can match nothing. */
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

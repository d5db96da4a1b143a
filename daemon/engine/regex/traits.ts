// Whether a match of an expression can be empty, and whether one can contain a character after a newline.

import type { SimpleTree } from './simple-tree.ts';
import type { Assertion, RegexTree } from './tree.ts';

/** Kinds of neighbours on either side of a position between two code points; `border`: the end of the text. */
const NEIGHBOURS = ['border', 'newline', 'word', 'other'] as const;
type Neighbour = (typeof NEIGHBOURS)[number];

/** Bit 4 * left + right for each pair of neighbours. */
const ALL_NEIGHBOURS = 0xffff;

const ALLOWED_NEIGHBOURS: Readonly<Record<Assertion, number>> = {
  lineStart: neighboursWhere((left) => left === 'border' || left === 'newline'),
  lineEnd: neighboursWhere((_, right) => right === 'border' || right === 'newline'),
  textStart: neighboursWhere((left) => left === 'border'),
  textEnd: neighboursWhere((_, right) => right === 'border'),
  wordBorder: neighboursWhere((left, right) => (left === 'word') !== (right === 'word')),
  notWordBorder: neighboursWhere((left, right) => (left === 'word') === (right === 'word')),
};

function neighboursWhere(isTrue: (left: Neighbour, right: Neighbour) => boolean): number {
  let mask = 0;
  for (const [i, left] of NEIGHBOURS.entries()) {
    for (const [j, right] of NEIGHBOURS.entries())
      if (isTrue(left, right)) mask |= 1 << (4 * i + j);
  }
  return mask;
}

export function canBeEmpty(tree: SimpleTree): boolean {
  return emptyNeighbours(tree) !== 0;
}

function emptyNeighbours(tree: SimpleTree): number {
  switch (tree.kind) {
    case 'set':
      return 0;
    case 'assertion':
      return ALLOWED_NEIGHBOURS[tree.at];
    case 'repeat':
      return tree.min === 0 ? ALL_NEIGHBOURS : emptyNeighbours(tree.child);
    case 'sequence':
      return tree.children.reduce(
        (allowed, child) => allowed & emptyNeighbours(child),
        ALL_NEIGHBOURS,
      );
    case 'choice':
      return tree.children.reduce((allowed, child) => allowed | emptyNeighbours(child), 0);
  }
}

/** Whether the tree can match without reading. */
export function isNullable(tree: SimpleTree | RegexTree, areAssertionsTrue = true): boolean {
  const isChildNullable = (child: SimpleTree | RegexTree) => isNullable(child, areAssertionsTrue);
  switch (tree.kind) {
    case 'assertion':
      return areAssertionsTrue;
    case 'repeat':
      return tree.min === 0 || isChildNullable(tree.child);
    case 'sequence':
      return tree.children.every(isChildNullable);
    case 'choice':
      return tree.children.some(isChildNullable);
    default:
      return false;
  }
}

interface Reach {
  readonly isFilled: boolean;
  readonly hasNewline: boolean;
  readonly spansLines: boolean;
}

/** Whether a match may be non-empty; `tree` is simplified, so that all of its parts can match. */
export function canBeFilled(tree: SimpleTree): boolean {
  return reachOf(tree).isFilled;
}

export function spansLines(tree: SimpleTree): boolean {
  return reachOf(tree).spansLines;
}

const NO_REACH: Reach = { isFilled: false, hasNewline: false, spansLines: false };

function reachOf(tree: SimpleTree): Reach {
  switch (tree.kind) {
    case 'set':
      return {
        isFilled: tree.ranges.length > 0,
        hasNewline: tree.ranges.some(({ start, end }) => start <= 0x0a && end > 0x0a),
        spansLines: false,
      };
    case 'assertion':
      return NO_REACH;
    case 'repeat': {
      const reach = reachOf(tree.child);
      return { ...reach, spansLines: reach.spansLines || (tree.max !== 1 && reach.hasNewline) };
    }
    case 'sequence':
      return tree.children.map(reachOf).reduce(
        (before, after) => ({
          isFilled: before.isFilled || after.isFilled,
          hasNewline: before.hasNewline || after.hasNewline,
          spansLines:
            before.spansLines || after.spansLines || (before.hasNewline && after.isFilled),
        }),
        NO_REACH,
      );
    case 'choice': {
      const reaches = tree.children.map(reachOf);
      return {
        isFilled: reaches.some((reach) => reach.isFilled),
        hasNewline: reaches.some((reach) => reach.hasNewline),
        spansLines: reaches.some((reach) => reach.spansLines),
      };
    }
  }
}

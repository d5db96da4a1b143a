// Expression trees for the tests of core/regex: the leaves of small ones, and random ones.

import * as fc from 'fast-check';
import {
  choice,
  concat,
  literal,
  range,
  readsNewlines,
  repeat,
  type Tree,
} from './regex-program.ts';

/** Two letters, the newline and all assertions. */
export const LEAVES: readonly Tree[] = [
  literal('a'),
  literal('b'),
  literal('\n'),
  ...[1, 2, 3, 4, 5, 6].map((assertion): Tree => ({ kind: 'assert', assert: assertion })),
];

function isNullable(tree: Tree): boolean {
  if (tree.kind === 'bytes') return false;
  if (tree.kind === 'assert') return true;
  if (tree.kind === 'repeat') return tree.min === 0 || isNullable(tree.child);
  return tree.kind === 'concat' ? tree.children.every(isNullable) : tree.children.some(isNullable);
}

/** Trees of any shape, but for repetitions of what can be empty, which JavaScript treats in its own way. */
function treesOver(leaves: readonly Tree[]): fc.Arbitrary<Tree> {
  return fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc.constantFrom(...leaves, range(0x61, 0x63), range(0x20, 0x7e), literal('ab')),
      fc
        .record({ child: tie('tree'), sign: fc.constantFrom('*', '+', '?'), isLazy: fc.boolean() })
        .map(({ child, sign, isLazy }) =>
          isNullable(child) ? child : repeat(child, sign, isLazy),
        ),
      fc.array(tie('tree'), { minLength: 2, maxLength: 4 }).map((trees) => concat(...trees)),
      fc.array(tie('tree'), { minLength: 2, maxLength: 3 }).map((trees) => choice(...trees)),
    ),
  })).tree;
}

export const treeArbitrary = treesOver(LEAVES);

/** The same without newlines: no match spans lines. */
export const lineTreeArbitrary = treesOver(LEAVES.filter((leaf) => !readsNewlines(leaf)));

/** Copies of bytes one after the other: a thread that begins at each byte is in all of them. */
const copies = fc
  .record({
    leaf: fc.constantFrom(range(0x61, 0x63), range(0x20, 0x7e), range(0x0a, 0x7e)),
    count: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ leaf, count }) => concat(...Array.from({ length: count }, () => leaf)));

export const wideTreeArbitrary = fc
  .array(fc.oneof({ arbitrary: copies, weight: 4 }, fc.constantFrom(...LEAVES)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => concat(...parts, literal('b')));

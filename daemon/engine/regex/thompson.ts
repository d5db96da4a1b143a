// Translates a simple tree into an automaton: each node becomes states that continue at a given state. Source: K. Thompson,
// Regular Expression Search Algorithm, CACM 11 (1968); preferences: R. Cox, https://swtch.com/~rsc/regexp/regexp2.html.

import { type Automaton, AutomatonBuilder, COPIED_COUNT_MAX } from './automaton.ts';
import type { SimpleRepeatNode, SimpleTree } from './simple-tree.ts';
import { isNullable } from './traits.ts';

/**
 * Invariant: a cycle of states that read nothing occurs only around a repeated part that can be empty. There an iteration that
 * read nothing ends the repeat, as in RE2: the next one would only reach states already visited.
 * Errors: StateLimitError beyond `countMax` states, or `stepsMax` visited nodes and states. Cost: linear in these.
 * @param isReverse  reads from the end
 * @param copiedCountMax  states that sets of several nodes may take before they are called
 */
export function compileTree(
  tree: SimpleTree,
  isReverse: boolean,
  countMax: number,
  stepsMax: number,
  copiedCountMax = COPIED_COUNT_MAX,
): Automaton {
  const builder = new AutomatonBuilder(isReverse, countMax, stepsMax, copiedCountMax);
  const start = compile(builder, tree, builder.addMatch());
  return { states: builder.states, start };
}

/** States for `tree` that continue at `next`; returns their start. */
function compile(builder: AutomatonBuilder, tree: SimpleTree, next: number): number {
  builder.countStep();
  switch (tree.kind) {
    case 'set':
      return builder.addSet(tree.ranges, next);
    case 'assertion':
      return builder.addAssertion(tree.at, next);
    case 'repeat':
      return compileRepeat(builder, tree, next);
    case 'sequence': {
      const children = builder.isReverse ? tree.children : tree.children.toReversed();
      return children.reduce((start, child) => compile(builder, child, start), next);
    }
    case 'choice':
      return builder.addChoice(tree.children.map((child) => compile(builder, child, next)));
  }
}

/** `x{2,4}` is `xx(x(x)?)?`, `x{2,}` is `xx+`. */
function compileRepeat(builder: AutomatonBuilder, node: SimpleRepeatNode, next: number): number {
  const { child, min, max, isLazy } = node;
  let start = next;
  if (max === undefined) {
    start = min === 0 ? compileStar(builder, node, next) : compilePlus(builder, node, next);
  } else {
    for (let count = max; count > min; count--)
      start = choose(builder, isLazy, compile(builder, child, start), next);
  }
  const copyCount = max === undefined ? min - 1 : min;
  for (let count = 0; count < copyCount; count++) start = compile(builder, child, start);
  return start;
}

function compileStar(builder: AutomatonBuilder, node: SimpleRepeatNode, next: number): number {
  const { child, isLazy } = node;
  // Why: where the part can be empty, `(x+)?` has another preference than a plain loop.
  if (isNullable(child)) return choose(builder, isLazy, compilePlus(builder, node, next), next);
  const loop = builder.reserveChoice();
  const body = compile(builder, child, loop);
  builder.setChoice(loop, isLazy ? [next, body] : [body, next]);
  return loop;
}

function compilePlus(builder: AutomatonBuilder, node: SimpleRepeatNode, next: number): number {
  const loop = builder.reserveChoice();
  const body = compile(builder, node.child, loop);
  builder.setChoice(loop, node.isLazy ? [next, body] : [body, next]);
  return body;
}

function choose(builder: AutomatonBuilder, isLazy: boolean, body: number, next: number): number {
  return builder.addChoice(isLazy ? [next, body] : [body, next]);
}

// Matching by the definition: walks the syntax tree as parsed, over characters, and tries one way after the
// other in the order of preference. As in RE2 a search never comes to the same point of the expression at the
// same place twice: what it had found there, it has found already. That decides what repeats of something
// that may be empty mean.

import type {
  Assertion,
  ClassNode,
  RegexTree,
  RepeatNode,
} from '../../../daemon/engine/regex/tree.ts';
import type { Range } from './twin.ts';

/** Tries to match from a place on; the end of the match, or undefined. */
type Step = (at: number) => number | undefined;

/** A step for each point of the expression; `next` comes after `tree`. */
function stepOf(tree: RegexTree, text: string, next: Step): Step {
  switch (tree.kind) {
    case 'literal':
      return once((at) => (text.codePointAt(at) === tree.codePoint ? next(at + 1) : undefined));
    case 'any':
      return once((at) =>
        at < text.length && (tree.hasNewline || text[at] !== '\n') ? next(at + 1) : undefined,
      );
    case 'class':
      return once((at) =>
        at < text.length && isMember(tree, text.codePointAt(at)!) ? next(at + 1) : undefined,
      );
    case 'assertion':
      return once((at) => (holds(tree.at, text, at) ? next(at) : undefined));
    case 'sequence':
      return tree.children.reduceRight((step, child) => stepOf(child, text, step), next);
    case 'choice': {
      const steps = tree.children.map((child) => stepOf(child, text, next));
      return once((at) => firstEnd(steps, at));
    }
    case 'repeat':
      return repeatStep(tree, text, next);
  }
}

/** The step, but it fails where it has been before. */
function once(step: Step): Step {
  const seen = new Set<number>();
  return (at) => {
    if (seen.has(at)) return undefined;
    seen.add(at);
    return step(at);
  };
}

function firstEnd(steps: readonly Step[], at: number): number | undefined {
  for (const step of steps) {
    const end = step(at);
    if (end !== undefined) return end;
  }
  return undefined;
}

function repeatStep(node: RepeatNode, text: string, next: Step): Step {
  const { child, min, max = Infinity, isLazy } = node;
  if (child.kind === 'repeat' && isSameOperator(child, node)) return repeatStep(child, text, next);
  const choose = (taken: Step, left: Step): Step =>
    once((at) => firstEnd(isLazy ? [left, taken] : [taken, left], at));
  let step = next;
  if (max === Infinity) {
    const loop: Step = choose((at) => round(at), next);
    const round = stepOf(child, text, loop);
    // Why: `x*` is one point, to which every round comes back; if x may be empty it is `(x+)?`.
    if (min === 0) step = isNullable(child) ? choose(round, next) : loop;
    else step = round;
    for (let count = 1; count < min; count++) step = stepOf(child, text, step);
    return step;
  }
  for (let count = max; count > 0; count--) {
    step = stepOf(child, text, step);
    if (count > min) step = choose(step, next);
  }
  return step;
}

export function isNullable(tree: RegexTree): boolean {
  if (tree.kind === 'repeat') return tree.min === 0 || isNullable(tree.child);
  if (tree.kind === 'sequence') return tree.children.every(isNullable);
  if (tree.kind === 'choice') return tree.children.some(isNullable);
  return tree.kind === 'assertion';
}

/** RE2 takes `**`, `++` and `??` for a single one. */
export function isSameOperator(inner: RepeatNode, outer: RepeatNode): boolean {
  const { min, max = Infinity, isLazy } = outer;
  const isSingle = min <= 1 && (max === 1 || max === Infinity);
  return (
    isSingle && inner.min === min && (inner.max ?? Infinity) === max && inner.isLazy === isLazy
  );
}

function isMember(node: ClassNode, codePoint: number): boolean {
  return node.ranges.some((r) => r.start <= codePoint && codePoint < r.end) !== node.isNegated;
}

function holds(at: Assertion, text: string, index: number): boolean {
  const before = text[index - 1];
  const after = text[index];
  const isBorder = /\w/.test(before ?? '') !== /\w/.test(after ?? '');
  return {
    lineStart: before === undefined || before === '\n',
    lineEnd: after === undefined || after === '\n',
    textStart: before === undefined,
    textEnd: after === undefined,
    wordBorder: isBorder,
    notWordBorder: !isBorder,
  }[at];
}

/** All ends of matches that begin at `at`, preferred or not. */
export function endsOf(tree: RegexTree, text: string, at: number): readonly number[] {
  const ends: number[] = [];
  const collect: Step = (end) => {
    ends.push(end);
    return undefined;
  };
  stepOf(tree, text, collect)(at);
  return ends;
}

/** All matches that do not overlap, left to right, without the empty ones. */
export function matchesByDefinition(tree: RegexTree, text: string): readonly Range[] {
  const matches: Range[] = [];
  let start = 0;
  while (start <= text.length) {
    const end = stepOf(tree, text, (at) => at)(start);
    if (end !== undefined && end > start) {
      matches.push({ start, end });
      start = end;
    } else {
      start++;
    }
  }
  return matches;
}

// Syntax tree to simple tree: literals, dots and classes become sets of code points; lists are flattened;
// what can match nothing or only the empty text disappears; repeats of repeats become one; neighbouring
// alternatives share what they begin with. None of it changes which text is matched, or in which order of
// preference.

import {
  CODE_POINT_END,
  complementRanges,
  normalizeRanges,
  withoutSurrogates,
} from './code-points.ts';
import { foldRanges, foldVariants } from './fold.ts';
import { propertyRanges } from './properties.ts';
import { EMPTY, isNothing, NOTHING, printSimple, type SimpleTree } from './simple-tree.ts';
import type { ClassNode, CodePointRange, RegexTree, RepeatNode } from './tree.ts';
import { printRegex } from './print.ts';

const ANY = withoutSurrogates([{ start: 0, end: CODE_POINT_END }]);
const ANY_IN_LINE = withoutSurrogates(complementRanges([{ start: 0x0a, end: 0x0b }]));

/** Sets of classes that occurred before in the same expression, by the text of the class. */
type Sets = Map<string, readonly CodePointRange[]>;

/**
 * The simple tree that matches what `tree` matches.
 *
 * Cost: linear in the tree, and in the ranges of each different class.
 */
export function simplify(tree: RegexTree): SimpleTree {
  return simplifyNode(tree, new Map());
}

function simplifyNode(tree: RegexTree, sets: Sets): SimpleTree {
  switch (tree.kind) {
    case 'literal':
      return { kind: 'set', ranges: literalRanges(tree.codePoint, tree.isFolded) };
    case 'any':
      return { kind: 'set', ranges: tree.hasNewline ? ANY : ANY_IN_LINE };
    case 'class':
      return { kind: 'set', ranges: classRanges(tree, sets) };
    case 'assertion':
      return tree;
    case 'repeat':
      return simplifyRepeat(tree, sets);
    case 'sequence':
      return sequenceOf(tree.children.map((child) => simplifyNode(child, sets)));
    case 'choice':
      return choiceOf(tree.children.map((child) => simplifyNode(child, sets)));
  }
}

function literalRanges(codePoint: number, isFolded: boolean): readonly CodePointRange[] {
  const variants = isFolded ? foldVariants(codePoint) : [codePoint];
  const ranges = variants.map((variant) => ({ start: variant, end: variant + 1 }));
  return withoutSurrogates(normalizeRanges(ranges));
}

/** The members of a class. Without regard to case every part of it is folded before it is negated. */
function classRanges(node: ClassNode, sets: Sets): readonly CodePointRange[] {
  const key = printRegex(node);
  const known = sets.get(key);
  if (known !== undefined) return known;
  const { isFolded } = node;
  const folded = (ranges: readonly CodePointRange[]) => (isFolded ? foldRanges(ranges) : ranges);
  const parts = [...folded(node.ranges)];
  for (const { name, isNegated } of node.properties) {
    const ranges = folded(propertyRanges(name));
    parts.push(...(isNegated ? complementRanges(ranges) : ranges));
  }
  const union = normalizeRanges(parts);
  const ranges = withoutSurrogates(node.isNegated ? complementRanges(union) : union);
  sets.set(key, ranges);
  return ranges;
}

function simplifyRepeat({ child, min, max, isLazy }: RepeatNode, sets: Sets): SimpleTree {
  if (max === 0) return EMPTY;
  const simple = simplifyNode(child, sets);
  if (isNothing(simple)) return min === 0 ? EMPTY : NOTHING;
  // A repeat that may be left out is preferred in vain where it adds nothing.
  if (isZeroWidth(simple)) return min === 0 ? EMPTY : simple;
  if (min === 1 && max === 1) return simple;
  if (simple.kind === 'repeat' && simple.isLazy === isLazy && isIdempotent(simple, min, max)) {
    return simple;
  }
  const repeat = { kind: 'repeat', child: simple, min, isLazy } as const;
  return max === undefined ? repeat : { ...repeat, max };
}

/** `(x*)*` is `x*`; the same with `+` and `?`. */
function isIdempotent(inner: { min: number; max?: number }, min: number, max?: number): boolean {
  return inner.min === min && inner.max === max && min <= 1 && (max ?? 1) === 1;
}

/** Whether nothing but the empty text can match. */
function isZeroWidth(tree: SimpleTree): boolean {
  switch (tree.kind) {
    case 'set':
      return false;
    case 'assertion':
      return true;
    case 'repeat':
      return isZeroWidth(tree.child);
    default:
      return tree.children.every(isZeroWidth);
  }
}

function sequenceOf(parts: readonly SimpleTree[]): SimpleTree {
  if (parts.some(isNothing)) return NOTHING;
  const children = parts.flatMap((part) => (part.kind === 'sequence' ? part.children : [part]));
  if (children.length === 0) return EMPTY;
  return children.length === 1 ? children[0]! : { kind: 'sequence', children };
}

function choiceOf(parts: readonly SimpleTree[]): SimpleTree {
  const possible = parts.filter((part) => !isNothing(part));
  const flat = possible.flatMap((part) => (part.kind === 'choice' ? part.children : [part]));
  const children = mergeNeighbours(flat);
  if (children.length === 0) return NOTHING;
  return children.length === 1 ? children[0]! : { kind: 'choice', children };
}

/**
 * Alternatives with the neighbours joined that begin with the same steps, or are sets. Only steps that
 * succeed in one way at most may be shared: behind others the order of preference would change.
 */
function mergeNeighbours(alternatives: readonly SimpleTree[]): readonly SimpleTree[] {
  const merged: SimpleTree[] = [];
  const all = alternatives.map(stepsOf);
  for (let index = 0; index < all.length;) {
    const key = all[index]!.keys[0];
    let end = index + 1;
    if (key !== undefined) while (end < all.length && all[end]!.keys[0] === key) end++;
    addAlternative(merged, shareSteps(all.slice(index, end)));
    index = end;
  }
  return merged;
}

/** An alternative as its steps, and the texts of those in front that may be shared. */
interface Steps {
  readonly steps: readonly SimpleTree[];
  readonly keys: readonly string[];
}

function stepsOf(tree: SimpleTree): Steps {
  const steps = tree.kind === 'sequence' ? tree.children : [tree];
  const fixed = steps.findIndex((step) => step.kind !== 'set' && step.kind !== 'assertion');
  const keys = steps.slice(0, fixed < 0 ? steps.length : fixed).map(printSimple);
  return { steps, keys };
}

/** One tree for alternatives that begin with the same step; for a single one itself. */
function shareSteps(group: readonly Steps[]): SimpleTree {
  const [first] = group;
  if (group.length === 1 || first === undefined) return sequenceOf(first?.steps ?? []);
  const isCommon = (key: string, at: number) => group.every(({ keys }) => keys[at] === key);
  const different = first.keys.findIndex((key, at) => !isCommon(key, at));
  const sharedCount = different < 0 ? first.keys.length : different;
  const rests = group.map(({ steps }) => sequenceOf(steps.slice(sharedCount)));
  return sequenceOf([...first.steps.slice(0, sharedCount), choiceOf(rests)]);
}

/** Adds an alternative; joins two sets, and leaves out what the one before is already. */
function addAlternative(alternatives: SimpleTree[], next: SimpleTree): void {
  const last = alternatives.at(-1);
  if (last?.kind === 'set' && next.kind === 'set') {
    const ranges = normalizeRanges([...last.ranges, ...next.ranges]);
    alternatives[alternatives.length - 1] = { kind: 'set', ranges };
  } else if (last === undefined || next !== EMPTY || last !== EMPTY) {
    alternatives.push(next);
  }
}

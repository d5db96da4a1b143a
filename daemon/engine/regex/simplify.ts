// Simplifies a syntax tree: literals, dots and classes become sets; lists are flattened; parts that match nothing or only the
// empty text go; nested repeats become one; alternatives share prefixes. Matches and their order stay.

import {
  CODE_POINT_END,
  complementRanges,
  normalizeRanges,
  withoutSurrogates,
} from './code-points.ts';
import { foldRanges, foldVariants } from './fold.ts';
import { propertyRanges } from './properties.ts';
import { EMPTY, isNothing, NOTHING, type SetNode, type SimpleTree } from './simple-tree.ts';
import type { ClassNode, CodePointRange, CodePointRanges, RegexTree, RepeatNode } from './tree.ts';
import { printRegex } from './print.ts';

const ANY = withoutSurrogates([{ start: 0, end: CODE_POINT_END }]);
const ANY_IN_LINE = withoutSurrogates(complementRanges([{ start: 0x0a, end: 0x0b }]));

/** Sets that occurred before in the same expression: equal sets become one object, so that derived data is made once. */
interface Sets {
  /** Classes by their text. */
  readonly classes: Map<string, SetNode>;
  /** Literals by code point: those of one case, those of any case. */
  readonly literals: readonly [Map<number, SetNode>, Map<number, SetNode>];
  /** Folded properties by name. */
  readonly properties: Map<string, CodePointRanges>;
}

/** Cost: linear in the tree, and in the ranges of each different class. */
export function simplify(tree: RegexTree): SimpleTree {
  return simplifyNode(tree, {
    classes: new Map(),
    literals: [new Map(), new Map()],
    properties: new Map(),
  });
}

function simplifyNode(tree: RegexTree, sets: Sets): SimpleTree {
  switch (tree.kind) {
    case 'literal':
      return literalSet(tree.codePoint, tree.isFolded, sets);
    case 'any':
      return { kind: 'set', ranges: tree.hasNewline ? ANY : ANY_IN_LINE };
    case 'class':
      return classSet(tree, sets);
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

function literalSet(codePoint: number, isFolded: boolean, { literals }: Sets): SetNode {
  const cached = literals[isFolded ? 1 : 0].get(codePoint);
  if (cached !== undefined) return cached;
  const variants = isFolded ? foldVariants(codePoint) : [codePoint];
  const ranges = variants.map((variant) => ({ start: variant, end: variant + 1 }));
  const set: SetNode = { kind: 'set', ranges: withoutSurrogates(normalizeRanges(ranges)) };
  literals[isFolded ? 1 : 0].set(codePoint, set);
  return set;
}

/** The members of a class. Ignoring case, every part is folded before negation. */
function classSet(node: ClassNode, sets: Sets): SetNode {
  const key = printRegex(node);
  const cached = sets.classes.get(key);
  if (cached !== undefined) return cached;
  const parts = [...(node.isFolded ? foldRanges(node.ranges) : node.ranges)];
  for (const { name, isNegated } of node.properties) {
    const ranges = node.isFolded ? foldedProperty(name, sets) : propertyRanges(name);
    parts.push(...(isNegated ? complementRanges(ranges) : ranges));
  }
  const union = normalizeRanges(parts);
  const ranges = withoutSurrogates(node.isNegated ? complementRanges(union) : union);
  const set: SetNode = { kind: 'set', ranges };
  sets.classes.set(key, set);
  return set;
}

function foldedProperty(name: string, { properties }: Sets): CodePointRanges {
  const ranges = properties.get(name) ?? foldRanges(propertyRanges(name));
  properties.set(name, ranges);
  return ranges;
}

function simplifyRepeat({ child, min, max, isLazy }: RepeatNode, sets: Sets): SimpleTree {
  if (max === 0) return EMPTY;
  const simple = simplifyNode(child, sets);
  if (isNothing(simple)) return min === 0 ? EMPTY : NOTHING;
  if (isZeroWidth(simple)) return min === 0 ? EMPTY : simple;
  if (min === 1 && max === 1) return simple;
  if (simple.kind === 'repeat' && simple.isLazy === isLazy && isIdempotent(simple, min, max))
    return simple;
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

/** Joins neighbouring alternatives that are sets or begin with the same steps. Others would change the order of preference. */
function mergeNeighbours(alternatives: readonly SimpleTree[]): readonly SimpleTree[] {
  const merged: SimpleTree[] = [];
  const all = alternatives.map(stepsOf);
  for (let index = 0; index < all.length;) {
    const [first] = all[index]!;
    let end = index + 1;
    while (end < all.length && isSameStep(first, all[end]![0])) end++;
    merged.push(end === index + 1 ? alternatives[index]! : shareSteps(all.slice(index, end)));
    index = end;
  }
  return joinSets(merged);
}

function stepsOf(tree: SimpleTree): readonly SimpleTree[] {
  return tree.kind === 'sequence' ? tree.children : [tree];
}

/** Whether two steps are equal, and succeed in at most one way. */
function isSameStep(left: SimpleTree | undefined, right: SimpleTree | undefined): boolean {
  if (left?.kind === 'assertion') return right?.kind === 'assertion' && left.at === right.at;
  return left?.kind === 'set' && right?.kind === 'set' && isSameSet(left, right);
}

function isSameSet({ ranges: left }: SetNode, { ranges: right }: SetNode): boolean {
  if (left === right) return true;
  const isSame = ({ start, end }: CodePointRange, at: number): boolean =>
    start === right[at]!.start && end === right[at]!.end;
  return left.length === right.length && left.every(isSame);
}

function shareSteps(group: readonly (readonly SimpleTree[])[]): SimpleTree {
  const [first = []] = group;
  const isCommon = (step: SimpleTree, at: number) =>
    group.every((steps) => isSameStep(step, steps[at]));
  const different = first.findIndex((step, at) => !isCommon(step, at));
  const sharedCount = different < 0 ? first.length : different;
  const rests = group.map((steps) => sequenceOf(steps.slice(sharedCount)));
  return sequenceOf([...first.slice(0, sharedCount), choiceOf(rests)]);
}

/** Joins neighbouring sets, and drops an empty alternative after another empty one. */
function joinSets(alternatives: readonly SimpleTree[]): readonly SimpleTree[] {
  const joined: SimpleTree[] = [];
  for (let index = 0; index < alternatives.length;) {
    const sets: SetNode[] = [];
    for (let next = alternatives[index]; next?.kind === 'set'; next = alternatives[++index])
      sets.push(next);
    const [set] = sets;
    if (set !== undefined) {
      const ranges = sets.flatMap((one) => one.ranges);
      joined.push(sets.length === 1 ? set : { kind: 'set', ranges: normalizeRanges(ranges) });
      continue;
    }
    const next = alternatives[index++]!;
    if (next !== EMPTY || joined.at(-1) !== EMPTY) joined.push(next);
  }
  return joined;
}

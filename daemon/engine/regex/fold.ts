// Unicode simple case folding, from the core's table (core/text/fold.ts).

import { FOLD_DELTA_BIAS, FOLD_TABLE } from '../../../core/shared/fold-table.ts';
import { normalizeRanges } from './code-points.ts';
import type { CodePointRanges } from './tree.ts';

/** Code points that fold to another one, with that one. */
let folded: ReadonlyMap<number, number> | undefined;

/** The code points of a fold by its target; at least two each. */
let variants: ReadonlyMap<number, readonly number[]> | undefined;

interface Cased {
  /** All that equal another one without regard to case, ascending. */
  readonly points: readonly number[];
  /** For each of them, the indexes of all that equal it. */
  readonly peers: readonly (readonly number[])[];
}

let cased: Cased | undefined;

/** Why not when the program starts: it takes 20 ms, and few queries need it. */
function findCased(): Cased {
  const points = [...foldedPoints().keys(), ...variantsByFold().keys()].sort((a, b) => a - b);
  const indexes = new Map(points.map((codePoint, index) => [codePoint, index]));
  const peers = points.map((codePoint) => foldVariants(codePoint).map((one) => indexes.get(one)!));
  return { points, peers };
}

/** Why not when the program starts, as the next one: both take 4 ms. */
function foldedPoints(): ReadonlyMap<number, number> {
  return (folded ??= readTable());
}

function variantsByFold(): ReadonlyMap<number, readonly number[]> {
  return (variants ??= groupByFold());
}

function readTable(): ReadonlyMap<number, number> {
  const targets = new Map<number, number>();
  for (let row = 0; row < FOLD_TABLE.length; row += 3) {
    const [first = 0, last = 0, packed = 0] = FOLD_TABLE.slice(row, row + 3);
    const delta = (packed >> 2) - FOLD_DELTA_BIAS;
    for (let point = first; point <= last; point += packed & 3) targets.set(point, point + delta);
  }
  return targets;
}

function groupByFold(): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, number[]>();
  for (const [point, target] of foldedPoints()) {
    if (!groups.has(target)) groups.set(target, [target]);
    groups.get(target)!.push(point);
  }
  return groups;
}

export function foldCodePoint(codePoint: number): number {
  return foldedPoints().get(codePoint) ?? codePoint;
}

/** All code points with the same fold, itself included, in no particular order. */
export function foldVariants(codePoint: number): readonly number[] {
  return variantsByFold().get(foldCodePoint(codePoint)) ?? [codePoint];
}

export function foldText(text: string): string {
  let result = '';
  for (const character of text)
    result += String.fromCodePoint(foldCodePoint(character.codePointAt(0) ?? 0));
  return result;
}

/**
 * The normalized set plus everything that equals a member without regard to case. Cost: linear in the set and in the table of
 * folds; for a small set, in its members.
 */
export function foldRanges(ranges: CodePointRanges): CodePointRanges {
  const count = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  // Guess: one by one up to 200 members.
  const added = count <= 200 ? variantsOf(ranges) : missingVariants(ranges);
  if (added.length === 0) return ranges;
  const points = added.map((codePoint) => ({ start: codePoint, end: codePoint + 1 }));
  return normalizeRanges([...ranges, ...points]);
}

function variantsOf(ranges: CodePointRanges): readonly number[] {
  const found: number[] = [];
  for (const { start, end } of ranges) {
    for (let codePoint = start; codePoint < end; codePoint++)
      if (foldVariants(codePoint).length > 1) found.push(...foldVariants(codePoint));
  }
  return found;
}

function missingVariants(ranges: CodePointRanges): readonly number[] {
  const { points, peers } = (cased ??= findCased());
  let rangeIndex = 0;
  const isMember = points.map((codePoint) => {
    while (rangeIndex < ranges.length && ranges[rangeIndex]!.end <= codePoint) rangeIndex++;
    return rangeIndex < ranges.length && ranges[rangeIndex]!.start <= codePoint;
  });
  return points.filter(
    (_, index) => !isMember[index] && peers[index]!.some((peer) => isMember[peer]),
  );
}

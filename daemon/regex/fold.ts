// Unicode simple case folding in the daemon, by the same generated ranges as in the core (core/text/fold.ts):
// two code points are equal without regard to case exactly if they fold to the same one.

import { normalizeRanges } from './code-points.ts';
import { FOLD_DELTA_BIAS, FOLD_TABLE } from './fold-table.ts';
import type { CodePointRange } from './tree.ts';

/** What folds to another code point, and to which. */
const FOLDED: ReadonlyMap<number, number> = readTable();

/** The code points of a fold by what they fold to; at least two each. */
const VARIANTS: ReadonlyMap<number, readonly number[]> = groupByFold();

/** All that take part in a fold, ascending. */
const CASED: readonly number[] = [...FOLDED.keys(), ...VARIANTS.keys()].sort((a, b) => a - b);

function readTable(): ReadonlyMap<number, number> {
  const folded = new Map<number, number>();
  for (let row = 0; row < FOLD_TABLE.length; row += 3) {
    const [first = 0, last = 0, packed = 0] = FOLD_TABLE.slice(row, row + 3);
    const delta = (packed >> 2) - FOLD_DELTA_BIAS;
    for (let point = first; point <= last; point += packed & 3) folded.set(point, point + delta);
  }
  return folded;
}

function groupByFold(): ReadonlyMap<number, readonly number[]> {
  const variants = new Map<number, number[]>();
  for (const [point, target] of FOLDED) {
    const group = variants.get(target);
    if (group === undefined) variants.set(target, [target, point]);
    else group.push(point);
  }
  return variants;
}

/** The code point that `codePoint` folds to; itself if it has no case. */
export function foldCodePoint(codePoint: number): number {
  return FOLDED.get(codePoint) ?? codePoint;
}

/** Every code point that equals `codePoint` without regard to case, itself included, in no certain order. */
export function foldVariants(codePoint: number): readonly number[] {
  return VARIANTS.get(foldCodePoint(codePoint)) ?? [codePoint];
}

/** `text` with every code point folded. */
export function foldText(text: string): string {
  let folded = '';
  for (const character of text) {
    folded += String.fromCodePoint(foldCodePoint(character.codePointAt(0) ?? 0));
  }
  return folded;
}

/**
 * The set with all that equals a member without regard to case.
 *
 * @param ranges  normalized; so is the result
 *
 * Cost: linear in the smaller of the set and the table of folds.
 */
export function foldRanges(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  const added: CodePointRange[] = [];
  for (const codePoint of casedMembers(ranges)) {
    for (const variant of foldVariants(codePoint)) {
      added.push({ start: variant, end: variant + 1 });
    }
  }
  return added.length === 0 ? ranges : normalizeRanges([...ranges, ...added]);
}

/** The members that have variants, and perhaps others that have none. */
function casedMembers(ranges: readonly CodePointRange[]): readonly number[] {
  const count = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  if (count <= FOLDED.size) return membersOf(ranges);
  let index = 0;
  return CASED.filter((codePoint) => {
    while (index < ranges.length && ranges[index]!.end <= codePoint) index++;
    return index < ranges.length && ranges[index]!.start <= codePoint;
  });
}

function membersOf(ranges: readonly CodePointRange[]): readonly number[] {
  const members: number[] = [];
  for (const { start, end } of ranges) {
    for (let codePoint = start; codePoint < end; codePoint++) members.push(codePoint);
  }
  return members;
}

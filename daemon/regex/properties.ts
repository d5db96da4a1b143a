// The code points of Unicode properties, `\p{Greek}`, asked of the regular expressions of JavaScript: once a
// property and process, when an expression needs it. Most code points lie in few runs that have all properties in
// common, such as the ideographs or all that is unassigned; of each of these only the first is asked about.
// Which names there are is reader.ts's business.

import { CODE_POINT_END, SURROGATES } from './code-points.ts';
import type { CodePointRange } from './tree.ts';

/**
 * Runs of one category and one script. Invariant: the union of what it matches has no part that a general category
 * or a script tells apart from its neighbours; a test asks about each code point.
 */
const UNIFORM_RUNS =
  /\p{Cn}+|\p{Co}+|(?:(?=\p{Lo})\p{sc=Han})+|(?:(?=\p{Lo})\p{sc=Hang})+|(?:(?=\p{Lo})\p{sc=Egyp})+/gu;

/** Code points of equal size in UTF-16, cut into runs. */
interface Section {
  /** Of a code point. */
  readonly unitCount: number;
  /** The first code point of each run. */
  readonly text: string;
  /** Where each run starts, and the last one ends. */
  readonly borders: readonly number[];
}

let sections: readonly Section[] | undefined;
const known = new Map<string, readonly CodePointRange[]>();

/**
 * The code points of a general category or a script, or all for `Any`: normalized, without surrogates.
 *
 * Errors: throws on a name that is neither. Cost: about a millisecond at the first use of a name, and some 30 at the
 * first use of any.
 */
export function propertyRanges(name: string): readonly CodePointRange[] {
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const ranges = findRanges(runsOf(name));
  known.set(name, ranges);
  return ranges;
}

function runsOf(name: string): RegExp {
  if (name === 'Any') return /\p{Any}+/gu;
  try {
    return new RegExp(`\\p{gc=${name}}+`, 'gu');
  } catch {
    return new RegExp(`\\p{sc=${name}}+`, 'gu');
  }
}

function findRanges(runs: RegExp): readonly CodePointRange[] {
  sections ??= [
    makeSection(0, SURROGATES.start),
    makeSection(SURROGATES.end, 0x10000),
    makeSection(0x10000, CODE_POINT_END),
  ];
  const ranges: CodePointRange[] = [];
  for (const { unitCount, text, borders } of sections) {
    for (const match of text.matchAll(runs)) {
      const first = match.index / unitCount;
      const start = borders[first]!;
      const end = borders[first + match[0].length / unitCount]!;
      if (ranges.at(-1)?.end === start) ranges.push({ start: ranges.pop()!.start, end });
      else ranges.push({ start, end });
    }
  }
  return ranges;
}

function makeSection(start: number, end: number): Section {
  const unitCount = start < 0x10000 ? 1 : 2;
  const all = textOf(start, end);
  const borders: number[] = [];
  let text = '';
  let done = 0;
  const takeUntil = (index: number): void => {
    text += all.slice(done, index);
    for (; done < index; done += unitCount) borders.push(start + done / unitCount);
  };
  for (const match of all.matchAll(UNIFORM_RUNS)) {
    takeUntil(match.index + unitCount);
    done = match.index + match[0].length;
  }
  takeUntil(all.length);
  borders.push(end);
  return { unitCount, text, borders };
}

/** The code points from `start` to `end`, all on one side of U+10000. */
function textOf(start: number, end: number): string {
  const count = end - start;
  const units = new Uint16Array(start < 0x10000 ? count : 2 * count);
  for (let i = 0; i < count; i++) {
    const codePoint = start + i;
    if (start < 0x10000) {
      units[i] = codePoint;
    } else {
      units[2 * i] = 0xd7c0 + (codePoint >> 10);
      units[2 * i + 1] = 0xdc00 | (codePoint & 0x3ff);
    }
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

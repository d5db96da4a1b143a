// The code points of Unicode properties, `\p{Greek}`, asked of the regular expressions of JavaScript: once a
// property and process, when an expression needs it. Which names there are is reader.ts's business.

import { CODE_POINT_END, SURROGATES } from './code-points.ts';
import type { CodePointRange } from './tree.ts';

/** Code points that are asked about at a time. */
const PIECE_COUNT = 0x10000;

const known = new Map<string, readonly CodePointRange[]>();

/**
 * The code points of a general category or a script, or all for `Any`: normalized, without surrogates.
 *
 * Errors: throws on a name that is neither. Cost: some 10 ms at the first use of a name.
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
  const ranges: CodePointRange[] = [];
  const add = (start: number, end: number): void => {
    if (ranges.at(-1)?.end === start) start = ranges.pop()!.start;
    ranges.push({ start, end });
  };
  for (let start = 0; start < CODE_POINT_END; start += PIECE_COUNT) {
    const unitCount = start === 0 ? 1 : 2;
    for (const match of pieceFrom(start).matchAll(runs)) {
      const first = codePointAt(start, match.index / unitCount);
      const last = codePointAt(start, (match.index + match[0].length) / unitCount - 1);
      if (first < SURROGATES.start && last >= SURROGATES.end) {
        add(first, SURROGATES.start);
        add(SURROGATES.end, last + 1);
      } else {
        add(first, last + 1);
      }
    }
  }
  return ranges;
}

/** All code points from `start` on, up to the next multiple of PIECE_COUNT, that are not surrogates. */
function pieceFrom(start: number): string {
  const units: number[] = [];
  for (let codePoint = start; codePoint < start + PIECE_COUNT; codePoint++) {
    if (codePoint === SURROGATES.start) codePoint = SURROGATES.end;
    if (start > 0) units.push(0xd7c0 + (codePoint >> 10), 0xdc00 | (codePoint & 0x3ff));
    else units.push(codePoint);
  }
  return Buffer.from(Uint16Array.from(units).buffer).toString('utf16le');
}

/** The code point with the given index in the piece that begins with `start`. */
function codePointAt(start: number, index: number): number {
  const codePoint = start + index;
  const skipped = SURROGATES.end - SURROGATES.start;
  return start === 0 && codePoint >= SURROGATES.start ? codePoint + skipped : codePoint;
}

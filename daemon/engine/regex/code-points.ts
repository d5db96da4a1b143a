// Sets of code points as sorted half-open ranges: the ASCII classes of RE2 syntax and the operations of character classes.

import type { CodePointRange, CodePointRanges } from './tree.ts';

export const CODE_POINT_END = 0x110000;

/** Not valid code points: UTF-8 excludes them. */
export const SURROGATES: CodePointRange = { start: 0xd800, end: 0xe000 };

/** Ranges from pairs of characters, both inclusive: `09AZ`. */
function ascii(pairs: string): CodePointRanges {
  const ranges: CodePointRange[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2)
    ranges.push({ start: pairs.charCodeAt(i), end: pairs.charCodeAt(i + 1) + 1 });
  return ranges;
}

const DIGIT = ascii('09');
const WORD = ascii('09AZ__az');

/** The classes `\d`, `\s`, `\w`, by their letter. */
export const PERL_CLASSES: ReadonlyMap<string, CodePointRanges> = new Map([
  ['d', DIGIT],
  ['s', ascii('\t\n\f\r  ')],
  ['w', WORD],
]);

/** The classes `[:name:]`, by name. */
export const POSIX_CLASSES: ReadonlyMap<string, CodePointRanges> = new Map([
  ['alnum', ascii('09AZaz')],
  ['alpha', ascii('AZaz')],
  ['ascii', ascii('\0\x7f')],
  ['blank', ascii('\t\t  ')],
  ['cntrl', ascii('\0\x1f\x7f\x7f')],
  ['digit', DIGIT],
  ['graph', ascii('!~')],
  ['lower', ascii('az')],
  ['print', ascii(' ~')],
  ['punct', ascii('!/:@[`{~')],
  ['space', ascii('\t\r  ')],
  ['upper', ascii('AZ')],
  ['word', WORD],
  ['xdigit', ascii('09AFaf')],
]);

export function normalizeRanges(ranges: CodePointRanges): CodePointRanges {
  const merged: CodePointRange[] = [];
  let previous: CodePointRange | undefined;
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    if (previous === undefined || range.start > previous.end) {
      previous = range;
      merged.push(range);
    } else if (range.end > previous.end) {
      previous = { start: previous.start, end: range.end };
      merged[merged.length - 1] = previous;
    }
  }
  return merged;
}

/** All other code points. `ranges` must be normalized. */
export function complementRanges(ranges: CodePointRanges): CodePointRanges {
  const gaps: CodePointRange[] = [];
  let start = 0;
  for (const range of ranges) {
    if (range.start > start) gaps.push({ start, end: range.start });
    start = range.end;
  }
  if (start < CODE_POINT_END) gaps.push({ start, end: CODE_POINT_END });
  return gaps;
}

/** The same set without surrogates. `ranges` must be normalized. */
export function withoutSurrogates(ranges: CodePointRanges): CodePointRanges {
  const { start, end } = SURROGATES;
  if (!ranges.some((range) => range.start < end && range.end > start)) return ranges;
  return ranges.flatMap((range) =>
    [
      { start: range.start, end: Math.min(range.end, start) },
      { start: Math.max(range.start, end), end: range.end },
    ].filter((part) => part.start < part.end),
  );
}

/** Ranges with their last code points, in hexadecimal: `61-7a`. */
export function printRanges(ranges: CodePointRanges): readonly string[] {
  return ranges.map(({ start, end }) => {
    const last = end - 1;
    return last === start ? start.toString(16) : `${start.toString(16)}-${last.toString(16)}`;
  });
}

// The slow twins in JavaScript: UTF-8 with one U+FFFD for each bad byte, case folding by the engine's own
// regular expressions, and substring search over code points. They import nothing from the core.

import * as fc from 'fast-check';

const encoder = new TextEncoder();

export const REPLACEMENT = 0xfffd;

/** A code point and where it lies: bytes from the start of its text. */
export interface Point {
  point: number;
  offset: number;
  size: number;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function pointAt(bytes: Uint8Array, offset: number): { point: number; size: number } {
  if (bytes[offset]! < 0x80) return { point: bytes[offset]!, size: 1 };
  for (const size of [2, 3, 4]) {
    try {
      const text = strict.decode(bytes.subarray(offset, offset + size));
      if (text.length <= 2 && Array.from(text).length === 1 && offset + size <= bytes.length)
        return { point: text.codePointAt(0)!, size };
    } catch {
      continue;
    }
  }
  return { point: REPLACEMENT, size: 1 };
}

/** The code points of `bytes`; a byte that is not part of a well-formed sequence is U+FFFD. */
export function decodeText(bytes: Uint8Array): Point[] {
  const points: Point[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const point = { offset, ...pointAt(bytes, offset) };
    points.push(point);
    offset += point.size;
  }
  return points;
}

const folded = new Map<string, boolean>();

/** True if the two code points are equal without regard to case. */
export function foldsTogether(a: number, b: number): boolean {
  if (a === b) return true;
  if (a < 0x80 && b < 0x80) {
    return String.fromCharCode(a).toLowerCase() === String.fromCharCode(b).toLowerCase();
  }
  const key = `${a} ${b}`;
  const cached = folded.get(key);
  if (cached !== undefined) return cached;
  const result = new RegExp(`^\\u{${a.toString(16)}}$`, 'iu').test(String.fromCodePoint(b));
  folded.set(key, result);
  return result;
}

/** Flag of a haystack: its folding can lead into ASCII. */
export const FOLDS_INTO_ASCII = 1;

/** The flag that the haystack needs. */
export function flagsOf(haystack: Uint8Array): number {
  const points = decodeText(haystack).map(({ point }) => point);
  return points.includes(0x212a) || points.includes(0x17f) ? FOLDS_INTO_ASCII : 0;
}

/** First match of `needle` at or behind code point `from` of `haystack`, as indexes of code points. */
export function findPoints(
  haystack: Point[],
  needle: number[],
  from: number,
  isCaseSensitive: boolean,
): number {
  for (let index = from; index + needle.length <= haystack.length; index++) {
    const matches = needle.every((point, i) => {
      const other = haystack[index + i]?.point ?? -1;
      return isCaseSensitive ? point === other : foldsTogether(point, other);
    });
    if (matches) return index;
  }
  return -1;
}

/** Matches that do not overlap, from the left, as [start, end] in bytes. */
export function findAll(
  haystack: Uint8Array,
  needle: Uint8Array,
  isCaseSensitive: boolean,
): [number, number][] {
  const points = decodeText(haystack);
  const expected = decodeText(needle).map(({ point }) => point);
  const matches: [number, number][] = [];
  for (let from = 0; ; from += expected.length) {
    from = findPoints(points, expected, from, isCaseSensitive);
    if (from < 0) return matches;
    const first = points[from];
    const last = points[from + expected.length - 1];
    if (first === undefined || last === undefined) return matches;
    matches.push([first.offset, last.offset + last.size]);
  }
}

/** Pieces of text that the scanners could trip over: cases, Kelvin, long s, sigmas, bad bytes. */
const frames = Array.from(
  'aAkK\u212asS\u017fqZ_1 \n"\\' +
    'σςΣİıiIéÉßẞθϴﬅﬆ日本𐐀𐐨ᏸᏰꭰᎠ\u2126ωΩ' +
    '\ufffd\ufeff\u0000\u001f\u007f😀',
  (char) => new TextEncoder().encode(char),
);
const badFrames = [
  [0x80],
  [0xc3],
  [0xc0, 0xaf],
  [0xe2, 0x84],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
];
const allFrames = [...frames, ...badFrames.map((bytes) => Uint8Array.from(bytes))];

/** Bytes made of few pieces, so that matches are frequent. */
export function textArbitrary(frameCountMax: number): fc.Arbitrary<Uint8Array> {
  const frame = fc.constantFrom(...allFrames);
  return fc
    .array(frame, { maxLength: frameCountMax })
    .map((list) => Uint8Array.from(list.flatMap((bytes) => [...bytes])));
}

/** The text with U+FFFD for bad bytes, and the offset in the text of each byte of that and of its end. */
export function rewrite(text: Uint8Array): { valid: Uint8Array; offsets: number[] } {
  const valid: number[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const { point, size } of decodeText(text)) {
    const bytes = encoder.encode(String.fromCodePoint(point));
    valid.push(...bytes);
    offsets.push(...[...bytes].map(() => at));
    at += size;
  }
  return { valid: Uint8Array.from(valid), offsets: [...offsets, at] };
}

// Sets of docs as bitmaps: a bit for each doc, low bits first.

import type { DocSet } from '../host/encoded-plan.ts';

/** Bytes of a bitmap over `docCount` docs, in the form that threads use. */
export function bitmapSizeOf(docCount: number): number {
  return Math.ceil(docCount / 128) * 16;
}

export function hasBit(bits: Uint8Array, docId: number): boolean {
  return ((bits[docId >> 3]! >> (docId & 7)) & 1) === 1;
}

export function setBit(bits: Uint8Array, docId: number): void {
  bits[docId >> 3]! |= 1 << (docId & 7);
}

export function clearBit(bits: Uint8Array, docId: number): void {
  bits[docId >> 3]! &= ~(1 << (docId & 7));
}

export function containsDoc(set: DocSet, docId: number): boolean {
  return typeof set === 'string' ? set === 'all' : hasBit(set, docId);
}

/** Sets the bits from `start` to before `end`. */
export function setBits(bits: Uint8Array, start: number, end: number): void {
  let position = start;
  for (; position < end && (position & 7) !== 0; position++) setBit(bits, position);
  const wholeEnd = end & ~7;
  if (position < wholeEnd) {
    bits.fill(255, position >> 3, wholeEnd >> 3);
    position = wholeEnd;
  }
  for (; position < end; position++) setBit(bits, position);
}

/** Sets those of `count` bits from `start` on that are set in `source`, which has zeros after them. */
export function addBits(bits: Uint8Array, start: number, source: Uint8Array, count: number): void {
  const shift = start & 7;
  const first = start >> 3;
  const size = Math.ceil(count / 8);
  for (let i = 0; i < size; i++) {
    const moved = source[i]! << shift;
    if ((moved & 0xff) !== 0) bits[first + i]! |= moved & 0xff;
    if (moved > 0xff) bits[first + i + 1]! |= moved >> 8;
  }
}

const BIT_COUNTS = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte.toString(2).replaceAll('0', '').length,
);

export function countBits(bits: Uint8Array): number {
  let count = 0;
  for (const byte of bits) count += BIT_COUNTS[byte]!;
  return count;
}

// A compact code for a set of docs: nothing for the empty and the full set, else run lengths, or bits where those are shorter.

import { setBits } from './bits.ts';

/** Forms without bytes: no doc, every doc. */
export const FORM_NONE = 0;
export const FORM_ALL = 1;
/** Alternating varints: docs not in the set, docs in the set; ends with the latter. */
export const FORM_RUNS = 2;
/** A bit for each doc, low bits first. */
export const FORM_BITS = 3;

export interface CodedSet {
  readonly form: number;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array();

export function encodeSet(bitmap: Uint8Array, docCount: number): CodedSet {
  const bitsSize = Math.ceil(docCount / 8);
  const runs: number[] = [];
  let position = 0;
  while (runs.length < bitsSize) {
    const start = nextBit(bitmap, position, docCount, 1);
    if (start === docCount) break;
    const end = nextBit(bitmap, start, docCount, 0);
    if (start === 0 && end === docCount) return { form: FORM_ALL, bytes: NOTHING };
    pushVarint(runs, start - position);
    pushVarint(runs, end - start);
    position = end;
  }
  if (runs.length === 0) return { form: FORM_NONE, bytes: NOTHING };
  if (runs.length < bitsSize) return { form: FORM_RUNS, bytes: Uint8Array.from(runs) };
  return { form: FORM_BITS, bytes: bitmap.slice(0, bitsSize) };
}

/** First bit of this value from `position` on; `end` if there is none. */
function nextBit(bitmap: Uint8Array, position: number, end: number, value: 0 | 1): number {
  const idle = value === 1 ? 0 : 255;
  while (position < end) {
    const byte = bitmap[position >> 3]!;
    if ((position & 7) === 0 && byte === idle) position += 8;
    else if (((byte >> (position & 7)) & 1) === value) return position;
    else position++;
  }
  return end;
}

function pushVarint(bytes: number[], value: number): void {
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
  bytes.push(value);
}

/** Calls back with each run [start, end) of docs, ascending. */
function forEachRun(bytes: Uint8Array, onRun: (start: number, end: number) => void): void {
  let position = 0;
  let start = 0;
  let isIn = false;
  for (let i = 0; i < bytes.length; i++) {
    let value = 0;
    let factor = 1;
    for (; bytes[i]! > 127 && i < bytes.length; i++, factor *= 128)
      value += (bytes[i]! & 127) * factor;
    value += (bytes[i] ?? 0) * factor;
    start = position;
    position += value;
    if (isIn) onRun(start, position);
    isIn = !isIn;
  }
}

/** Whether a coded set has only docs below `docCount`. */
export function isValid({ form, bytes }: CodedSet, docCount: number): boolean {
  switch (form) {
    case FORM_NONE:
    case FORM_ALL:
      return bytes.length === 0;
    case FORM_RUNS: {
      let last = 0;
      forEachRun(bytes, (_, end) => (last = end));
      return last <= docCount;
    }
    case FORM_BITS: {
      const spare = docCount & 7;
      const isTailClear = spare === 0 || (bytes.at(-1) ?? 0) >> spare === 0;
      return bytes.length === Math.ceil(docCount / 8) && isTailClear;
    }
    default:
      return false;
  }
}

export function decodeInto({ form, bytes }: CodedSet, bitmap: Uint8Array): void {
  if (form === FORM_RUNS) forEachRun(bytes, (start, end) => setBits(bitmap, start, end));
  if (form === FORM_BITS) for (let i = 0; i < bytes.length; i++) bitmap[i]! |= bytes[i]!;
}

/** Calls back with the index of each doc in the set; `docIds` ascend. */
export function markDocsIn(
  { form, bytes }: CodedSet,
  docIds: Uint32Array,
  onDoc: (index: number) => void,
): void {
  if (form === FORM_ALL) for (let i = 0; i < docIds.length; i++) onDoc(i);
  if (form === FORM_BITS) {
    for (const [index, docId] of docIds.entries())
      if (((bytes[docId >> 3]! >> (docId & 7)) & 1) === 1) onDoc(index);
  }
  if (form !== FORM_RUNS) return;
  let index = 0;
  forEachRun(bytes, (start, end) => {
    while (index < docIds.length && docIds[index]! < start) index++;
    for (; index < docIds.length && docIds[index]! < end; index++) onDoc(index);
  });
}

// Finds lines of a content in its bytes.

import { LoopYielder } from '../../base/next-time-slice.ts';

const NEWLINE = 0x0a;

/** Number of lines; the last one may lack a newline. */
export async function lineCountOf(bytes: Uint8Array): Promise<number> {
  const yielder = new LoopYielder();
  let count = 0;
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    count++;
    start = end + 1;
    await yielder.pause();
  }
  return start < bytes.length ? count + 1 : count;
}

/** With their newlines, as a view of the bytes; `first` (1-based) to `last`, inclusive. */
export async function linesOf(bytes: Uint8Array, first: number, last: number): Promise<Uint8Array> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const yielder = new LoopYielder();
  let start = first === 1 ? 0 : buffer.length;
  let end = -1;
  for (let line = 1; line <= last; line++) {
    end = buffer.indexOf(NEWLINE, end + 1);
    if (end < 0) return buffer.subarray(start);
    if (line === first - 1) start = end + 1;
    await yielder.pause();
  }
  return buffer.subarray(start, end + 1);
}

// A JSON object with one long text, as bytes that are made while they are sent: neither the whole text nor its escaped
// form is ever in memory, only the bytes that it comes from, and no other request waits for more than a window of it.

import { setImmediate } from 'node:timers/promises';
import type { LazyBytes } from './lazy-bytes.ts';

/**
 * Bytes of the text that are escaped at a time.
 * Measured: 2026-11-21, 2 cores: 0.1 ms for source code.
 */
const WINDOW_SIZE = 64 * 1024;
/** A UTF-8 character has at most so many bytes after its first one. */
const CONTINUATION_MAX = 3;

/**
 * The JSON of an object whose first member is a text, and which has at least one more.
 *
 * @param name   of the text
 * @param bytes  of the text in UTF-8, bad ones become U+FFFD; must not change while the answer is sent
 * @param rest   the other members
 */
export async function longTextJson(
  name: string,
  bytes: Uint8Array,
  rest: Readonly<Record<string, unknown>>,
): Promise<LazyBytes> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cuts = cutsOf(text);
  const head = Buffer.from(`{${JSON.stringify(name)}:"`);
  const tail = Buffer.from(`",${JSON.stringify(rest).slice(1)}`);
  const partAt = (index: number): Buffer => {
    if (index === 0) return head;
    if (index === cuts.length) return tail;
    return escapeWindow(text, cuts[index - 1]!, cuts[index]!);
  };
  /** Where each part begins, and where the last ends. */
  const starts = [0];
  for (let index = 0; index <= cuts.length; index++) {
    starts.push(starts[index]! + partAt(index).length);
    await setImmediate();
  }
  let open: { index: number; part: Buffer } = { index: 0, part: head };
  return {
    byteLength: starts.at(-1) ?? 0,
    heldSize: 2 * WINDOW_SIZE,
    from(offset) {
      const index = partIndexAt(starts, offset);
      if (index !== open.index) open = { index, part: partAt(index) };
      return open.part.subarray(offset - starts[index]!);
    },
  };
}

/** Ends of windows, never within a character; 0 is the first. */
function cutsOf(text: Buffer): number[] {
  const cuts = [0];
  for (let cut = 0; cut < text.length; cuts.push(cut)) {
    cut = Math.min(cut + WINDOW_SIZE, text.length);
    if (cut === text.length) continue;
    let back = 0;
    while (back <= CONTINUATION_MAX && isContinuation(text[cut - back]!)) back++;
    // More of these in a row than a character has are no part of one: any place will do.
    if (back <= CONTINUATION_MAX) cut -= back;
  }
  return cuts;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function escapeWindow(text: Buffer, start: number, end: number): Buffer {
  return Buffer.from(JSON.stringify(text.toString('utf8', start, end)).slice(1, -1));
}

/** Index of the part that holds an offset. */
function partIndexAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

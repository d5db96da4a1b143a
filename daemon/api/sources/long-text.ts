// A JSON object with one long text, as bytes that are made while they are sent: neither the whole text nor its escaped
// form is ever in memory, only the bytes that it comes from, and no other request waits for more than a window of it.
// How long each window becomes is found once for all who are sent the same bytes.

import { nextTurn } from '../../base/next-turn.ts';
import { SharedWork } from '../../base/shared-work.ts';
import { utf8Text } from '../../base/utf8-text.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';

/**
 * Bytes of the text that are escaped at a time.
 * Measured: 2026-11-21, 2 cores: 0.1 ms for source code.
 */
const WINDOW_SIZE = 64 * 1024;
/** A UTF-8 character has at most so many bytes after its first one. */
const CONTINUATION_MAX = 3;

/** Where the windows of a text end. */
interface Measure {
  /** In the text; 0 is the first. */
  readonly cuts: readonly number[];
  /** In the escaped text; 0 is the first. */
  readonly ends: readonly number[];
  /** Bytes of the largest window, escaped. */
  readonly sizeMax: number;
}

const measures = new WeakMap<Uint8Array, Measure>();
const measuring = new SharedWork<Uint8Array, Measure>();

/**
 * The JSON of an object whose first member is a text, and which has at least one more.
 *
 * @param name   of the text
 * @param bytes  of the text in UTF-8, each bad one becomes U+FFFD; must not change any more
 * @param rest   the other members
 * @param context  whom it is for, and whether still
 *
 * Errors: the reason of the signal.
 */
export async function longTextJson(
  name: string,
  bytes: Uint8Array,
  rest: Readonly<Record<string, unknown>>,
  { signal, holder }: { readonly signal: AbortSignal; readonly holder: string },
): Promise<LazyBytes> {
  const measured =
    measures.get(bytes) ??
    (await measuring.get(bytes, signal, (end) => measure(bytes, end, holder)));
  // Why: what was measured for many at once goes on for one after the other.
  await nextTurn(holder);
  signal.throwIfAborted();
  return new LongText(textOf(bytes), measured, {
    head: Buffer.from(`{${JSON.stringify(name)}:"`),
    tail: Buffer.from(`",${JSON.stringify(rest).slice(1)}`),
  });
}

interface Around {
  readonly head: Buffer;
  readonly tail: Buffer;
}

class LongText implements LazyBytes {
  readonly byteLength: number;
  readonly heldSize: number;
  readonly #text: Buffer;
  readonly #measure: Measure;
  readonly #around: Around;
  /** Where the text behind the long one begins. */
  readonly #tailStart: number;
  /** Which window is escaped, and where; none until the first is asked for. */
  #window = -1;
  #escaped: Buffer | undefined;

  constructor(text: Buffer, measured: Measure, around: Around) {
    this.#text = text;
    this.#measure = measured;
    this.#around = around;
    this.#tailStart = around.head.length + measured.ends.at(-1)!;
    this.byteLength = this.#tailStart + around.tail.length;
    this.heldSize = measured.sizeMax;
  }

  from(offset: number): Uint8Array {
    const { head, tail } = this.#around;
    if (offset < head.length) return head.subarray(offset);
    if (offset >= this.#tailStart) return tail.subarray(offset - this.#tailStart);
    const { cuts, ends, sizeMax } = this.#measure;
    const inText = offset - head.length;
    const window = indexAt(ends, inText);
    const start = ends[window]!;
    this.#escaped ??= Buffer.allocUnsafeSlow(sizeMax);
    if (window !== this.#window)
      this.#escaped.write(escape(this.#text, cuts[window]!, cuts[window + 1]!));
    this.#window = window;
    return this.#escaped.subarray(inText - start, ends[window + 1]! - start);
  }
}

function textOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Errors: the reason of the signal. Cost: about as much as escaping all of it, a window a turn. */
async function measure(bytes: Uint8Array, signal: AbortSignal, holder: string): Promise<Measure> {
  const text = textOf(bytes);
  const cuts = cutsOf(text);
  const ends = [0];
  let end = 0;
  let sizeMax = 0;
  for (let index = 1; index < cuts.length; index++) {
    await nextTurn(holder);
    signal.throwIfAborted();
    const size = Buffer.byteLength(escape(text, cuts[index - 1]!, cuts[index]!));
    end += size;
    ends.push(end);
    sizeMax = Math.max(sizeMax, size);
  }
  const found = { cuts, ends, sizeMax };
  measures.set(bytes, found);
  return found;
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

/** As a JSON string without its quotes. */
function escape(text: Buffer, start: number, end: number): string {
  return JSON.stringify(utf8Text(text.subarray(start, end))).slice(1, -1);
}

/** Index of the part that holds an offset: part `i` is from `ends[i]` to `ends[i + 1]`. */
function indexAt(ends: readonly number[], offset: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

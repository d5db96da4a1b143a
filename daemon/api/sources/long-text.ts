// A JSON object with one long text, encoded while it is sent: only the source bytes are in memory, and other requests
// wait for at most one window. The sizes of the windows are computed once for the same bytes.

import { type Cancellation, signalOf } from '../../base/cancellation.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { SharedWork } from '../../base/shared-work.ts';
import { utf8Text } from '../../base/utf8-text.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';

/** Bytes escaped at a time. Measured 2026-11-21, 2 cores: 0.1 ms for source code. */
const WINDOW_SIZE = 64 * 1024;
/** Maximum number of bytes of a UTF-8 character after its first one. */
const CONTINUATION_MAX = 3;

interface Measure {
  /** In the text; starts with 0. */
  readonly cuts: readonly number[];
  /** In the escaped text; starts with 0. */
  readonly ends: readonly number[];
  /** Bytes of the largest window, escaped. */
  readonly sizeMax: number;
}

const measures = new WeakMap<Uint8Array, Measure>();
const measuring = new SharedWork<Uint8Array, Measure>();

/**
 * The text is the first member, `name`, and `rest` has at least one more; `bytes` must not change any more, invalid
 * UTF-8 becomes U+FFFD. Errors: the reason of the signal.
 */
export async function longTextJson(
  name: string,
  bytes: Uint8Array,
  rest: Readonly<Record<string, unknown>>,
  { signal, clientKey }: { readonly signal: Cancellation; readonly clientKey: string },
): Promise<LazyBytes> {
  const measured =
    measures.get(bytes) ??
    (await measuring.get(bytes, signalOf(signal), (end) => measure(bytes, end, clientKey)));
  // Clients that waited for the same measurement continue one after the other.
  await nextTimeSlice(clientKey);
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
  readonly memorySize: number;
  readonly #text: Buffer;
  readonly #measure: Measure;
  readonly #around: Around;
  /** Where the text after the long one starts. */
  readonly #tailStart: number;
  /** The escaped window and its position; none before the first read. */
  #window = -1;
  #escaped: Buffer | undefined;

  constructor(text: Buffer, measured: Measure, around: Around) {
    this.#text = text;
    this.#measure = measured;
    this.#around = around;
    this.#tailStart = around.head.length + measured.ends.at(-1)!;
    this.byteLength = this.#tailStart + around.tail.length;
    this.memorySize = measured.sizeMax;
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

/** Errors: the reason of the signal. Cost: about that of escaping everything, a window per turn. */
async function measure(
  bytes: Uint8Array,
  signal: Cancellation,
  clientKey: string,
): Promise<Measure> {
  const text = textOf(bytes);
  const cuts = cutsOf(text);
  const ends = [0];
  let end = 0;
  let sizeMax = 0;
  for (let index = 1; index < cuts.length; index++) {
    await nextTimeSlice(clientKey);
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

/** Ends of windows, never inside a character; starts with 0. */
function cutsOf(text: Buffer): number[] {
  const cuts = [0];
  for (let cut = 0; cut < text.length; cuts.push(cut)) {
    cut = Math.min(cut + WINDOW_SIZE, text.length);
    if (cut === text.length) continue;
    let back = 0;
    while (back <= CONTINUATION_MAX && isContinuation(text[cut - back]!)) back++;
    // A longer run of these bytes is not part of a character: any position will do.
    if (back <= CONTINUATION_MAX) cut -= back;
  }
  return cuts;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function escape(text: Buffer, start: number, end: number): string {
  return JSON.stringify(utf8Text(text.subarray(start, end))).slice(1, -1);
}

/** Index of the part with an offset: part `i` is from `ends[i]` to `ends[i + 1]`. */
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

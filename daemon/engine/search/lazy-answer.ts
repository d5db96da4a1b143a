// A large answer, assembled while it is sent: file results stay in the buffers of the threads that rendered them, because a
// copy of all would double the memory (daemon/DECISIONS.md).

import { textsAround } from './answer.ts';
import type { FileResults } from './render.ts';

/** About what a socket takes at a time, and fits into the cache. */
const WINDOW_SIZE = 256 * 1024;
const COMMA = 0x2c;

/** The output of writeWithFiles (answer.ts) for all results, in windows; a window is valid until the next. */
export class LazyAnswer {
  readonly byteLength: number;
  readonly memorySize: number;
  readonly #files: FileResults;
  readonly #before: Buffer;
  readonly #after: Buffer;
  /** Start of each result, and of the text after the last; a comma belongs to the result before it. */
  readonly #starts: Float64Array;
  readonly #buffer: Buffer;
  #window: Uint8Array = new Uint8Array();
  #windowStart = 0;

  constructor(head: object, files: FileResults, tail: object) {
    const { before, after } = textsAround(head, tail);
    this.#files = files;
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
    this.#starts = new Float64Array(files.count + 1);
    let position = this.#before.length;
    let largest = 0;
    for (let rank = 0; rank < files.count; rank++) {
      this.#starts[rank] = position;
      const size = files.sizeOf(rank, rank + 1) + (rank + 1 < files.count ? 1 : 0);
      largest = Math.max(largest, size);
      position += size;
    }
    this.#starts[files.count] = position;
    this.#buffer = Buffer.allocUnsafe(Math.max(largest, WINDOW_SIZE));
    this.byteLength = position + this.#after.length;
    this.memorySize = this.byteLength + this.#buffer.length;
  }

  /** From `offset` < byteLength on, as many bytes as the window has. */
  from(offset: number): Uint8Array {
    const isInWindow =
      offset >= this.#windowStart && offset < this.#windowStart + this.#window.byteLength;
    if (!isInWindow) this.#move(offset);
    return this.#window.subarray(offset - this.#windowStart);
  }

  release(): void {
    this.#files.release();
  }

  #move(offset: number): void {
    const { count } = this.#files;
    if (offset < this.#before.length) this.#setWindow(this.#before, 0);
    else if (offset >= this.#starts[count]!) this.#setWindow(this.#after, this.#starts[count]!);
    else this.#moveToResult(this.#rankAt(offset));
  }

  #setWindow(bytes: Uint8Array, start: number): void {
    this.#window = bytes;
    this.#windowStart = start;
  }

  /** Index of the result that contains `offset`. */
  #rankAt(offset: number): number {
    let low = 0;
    let high = this.#files.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #moveToResult(first: number): void {
    const { count } = this.#files;
    const start = this.#starts[first]!;
    let end = first + 1;
    while (end < count && this.#starts[end + 1]! - start <= WINDOW_SIZE) end++;
    const size = this.#files.writeTo(this.#buffer, 0, first, end);
    if (end < count) this.#buffer[size] = COMMA;
    this.#setWindow(this.#buffer.subarray(0, this.#starts[end]! - start), start);
  }
}

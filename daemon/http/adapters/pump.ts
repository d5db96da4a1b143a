// Sends a body while it is produced. Bytes that the socket does not take wait here, up to a limit that pauses the
// source.

import { type BodyStream, STREAM_STALL_MS } from './adapter.ts';
import { type Reader, StallTimer } from './stall-timer.ts';

/** Limit for waiting bytes, apart from a single larger chunk. */
export const BUFFER_SIZE_MAX = 2_097_152;
/** Reserved for the next chunk and for one that the socket holds. */
const RESERVED_SIZE = 1_048_576;
/** Bytes per waiting slice. Measured 2026-11-23: a body in chunks of one byte held 448 MB, and the thread for 10 s. */
const SLICE_COST = 512;

export interface Outlet extends Reader {
  /** Bytes written at a time. A client that takes less within a minute is dropped. */
  readonly sliceSizeMax: number;
  /** Writes bytes. False: the socket is full and will call the pump's `onDrain` once it is empty. */
  write(bytes: Uint8Array): boolean;
  /** The body is complete. */
  end(): void;
}

export class Pump {
  readonly #body: BodyStream;
  readonly #outlet: Outlet;
  readonly #stallMs: number;
  #waiting: Uint8Array[] = [];
  /** Bytes, with the overhead of each slice. */
  #waitingSize = 0;
  #canWrite = true;
  #isOver = false;
  #stall: StallTimer | undefined;
  #wake: () => void = () => {};

  constructor(body: BodyStream, outlet: Outlet, stallMs = STREAM_STALL_MS) {
    this.#body = body;
    this.#outlet = outlet;
    this.#stallMs = stallMs;
  }

  /** Resolves when the response is ended or dropped. */
  async run(): Promise<void> {
    let isComplete = true;
    try {
      for (let chunk = await this.#pull(); chunk !== undefined; chunk = await this.#pull()) {
        this.#add(chunk);
        this.#flush();
        while (!this.#isOver && this.#waitingSize > BUFFER_SIZE_MAX - RESERVED_SIZE)
          await this.#sleep();
      }
    } catch {
      isComplete = false;
    }
    while (!this.#isOver && !(this.#canWrite && this.#waitingSize === 0)) await this.#sleep();
    if (!this.#isOver && !isComplete) this.#outlet.drop();
    else if (!this.#isOver) this.#outlet.end();
    this.#finish();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    return this.#isOver ? undefined : await this.#body.next();
  }

  #add(chunk: Uint8Array): void {
    const { sliceSizeMax } = this.#outlet;
    for (let start = 0; start < chunk.byteLength; start += sliceSizeMax) {
      const slice = chunk.subarray(start, start + sliceSizeMax);
      this.#waiting.push(slice);
      this.#waitingSize += slice.byteLength + SLICE_COST;
    }
  }

  #flush(): void {
    while (this.#canWrite && !this.#isOver) {
      const slice = this.#waiting.shift();
      if (slice === undefined) return;
      this.#waitingSize -= slice.byteLength + SLICE_COST;
      this.#canWrite = this.#outlet.write(slice);
      if (!this.#canWrite) this.#stall = new StallTimer(this.#outlet, this.#stallMs);
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  onDrain(): void {
    this.#stall?.stop();
    this.#canWrite = true;
    this.#flush();
    this.#wake();
  }

  onGone(): void {
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stall?.stop();
    this.#waiting = [];
    this.#body.close();
    this.#wake();
  }
}

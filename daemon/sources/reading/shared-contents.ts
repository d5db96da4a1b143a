// Contents of files shared by concurrent readers: read once and held once. The bytes are counted for the first reader, and
// after it has left, for another one. The last reader to leave frees them; loading is aborted when nobody waits.

import { SharedWork } from '../../base/shared-work.ts';

/** The memory budget of a request. */
export interface ReaderMemory {
  /** Reserves bytes until released; undefined: no room. */
  tryTake(size: number): { release(): void } | undefined;
  /** Calls `end` when the response is over: at once if it is. */
  onOver(end: () => void): void;
}

/** No memory for a content. Becomes SERVER_OVERLOADED with `Retry-After`. */
export class MemoryBusyError extends Error {
  override readonly name = 'MemoryBusyError';
  readonly errorCode = 'SERVER_OVERLOADED';

  constructor() {
    super('Too many files are being read.');
  }
}

interface Content {
  readonly bytes: Uint8Array;
}

interface Entry<Value> {
  /** Undefined: not loaded yet. */
  value: Value | undefined;
  /** In order of arrival. */
  readonly readers: Set<ReaderMemory>;
  size: number;
  reservation: { release(): void } | undefined;
  owner: ReaderMemory;
}

export class SharedContents<Value extends Content> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loads = new SharedWork<string, Value>();

  /** Contents in use. */
  get count(): number {
    return this.#entries.size;
  }

  /**
   * The content of this key, held until the last of its readers is over. `size` counts until it is loaded, which starts
   * if nobody is reading it; the signal of `load` is aborted when all readers have left. Errors: MemoryBusyError; what
   * `load` throws; the reason of the signal.
   */
  async open(
    key: string,
    size: number,
    memory: ReaderMemory,
    signal: AbortSignal,
    load: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const entry = this.#entries.get(key) ?? this.#start(key, size, memory);
    if (!entry.readers.has(memory)) {
      entry.readers.add(memory);
      memory.onOver(() => this.#leave(key, entry, memory));
    }
    entry.value ??= await this.#loads.get(key, signal, load);
    const { value } = entry;
    const { byteLength } = value.bytes;
    // If all have left meanwhile, nobody would release the bytes.
    if (entry.size !== byteLength && entry.readers.size > 0) {
      entry.size = byteLength;
      this.#reserve(entry);
    }
    if (entry.reservation === undefined) throw new MemoryBusyError();
    return value;
  }

  #start(key: string, size: number, memory: ReaderMemory): Entry<Value> {
    const reservation = memory.tryTake(size);
    if (reservation === undefined) throw new MemoryBusyError();
    const readers = new Set<ReaderMemory>();
    const entry = { value: undefined, readers, size, reservation, owner: memory };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Reserves the bytes again: for their current reader, or for another one. */
  #reserve(entry: Entry<Value>): void {
    entry.reservation?.release();
    entry.reservation = undefined;
    const { owner } = entry;
    for (const reader of entry.readers.has(owner) ? [owner] : [...entry.readers, owner]) {
      entry.reservation = reader.tryTake(entry.size);
      if (entry.reservation === undefined) continue;
      entry.owner = reader;
      return;
    }
  }

  #leave(key: string, entry: Entry<Value>, memory: ReaderMemory): void {
    entry.readers.delete(memory);
    if (entry.readers.size === 0) {
      entry.reservation?.release();
      this.#entries.delete(key);
    } else if (entry.owner === memory) this.#reserve(entry);
  }
}

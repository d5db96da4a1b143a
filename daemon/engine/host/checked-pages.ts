// Pages of shard files that a thread has checked lately: no other thread of the process checks them again. A table of fixed
// size in shared memory; a page whose entry another one takes is checked once more.

/** Bound: 4 MiB of memory, for 2 GiB of pages. */
const ENTRY_COUNT = 1 << 19;
/** A file has fewer. */
const PAGE_COUNT = 1 << 20;
const WORD = 2 ** 32;
/**
 * Hexadecimal digits of a file's key. Bound: among 5,000 files, two have the same key with a probability below 1 in 10,000.
 * A page of one then counts as checked if the page with the same number of the other one was, until its entry expires.
 */
const KEY_DIGITS = 12;

/** Identifies a file whose name begins with a SHA-256 in hexadecimal; undefined: another name. */
export function fileKeyOf(name: string): number | undefined {
  return /^[0-9a-f]{64}/.test(name) ? Number.parseInt(name.slice(0, KEY_DIGITS), 16) : undefined;
}

export class CheckedPages {
  readonly #entries: Float64Array;
  readonly #validMs: number;

  /** @param validMs  most time for which a page counts as checked. A thread that has learned it does not ask again at once. */
  constructor(buffer: SharedArrayBuffer, validMs: number) {
    this.#entries = new Float64Array(buffer);
    this.#validMs = validMs;
  }

  static newBuffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(ENTRY_COUNT * Float64Array.BYTES_PER_ELEMENT);
  }

  /** Whether all these pages were checked. */
  has(fileKey: number, first: number, count: number): boolean {
    const identity = this.#identityOf(fileKey);
    for (let page = first; page < first + count; page++)
      if (this.#entries[indexOf(fileKey, page)] !== entryOf(identity, page)) return false;
    return true;
  }

  add(fileKey: number, first: number, count: number): void {
    const identity = this.#identityOf(fileKey);
    for (let page = first; page < first + count; page++)
      this.#entries[indexOf(fileKey, page)] = entryOf(identity, page);
  }

  clear(): void {
    this.#entries.fill(0);
  }

  /** Another one in each period of `validMs`, which forgets all pages. */
  #identityOf(fileKey: number): number {
    const period = Math.floor((performance.timeOrigin + performance.now()) / this.#validMs);
    return (fileKey ^ Math.imul(period, 0x9e3779b1)) >>> 0;
  }
}

/** Neighbours have neighbouring entries. */
function indexOf(fileKey: number, page: number): number {
  return (Math.floor(fileKey / WORD) * 8 + page) % ENTRY_COUNT;
}

/** Below 2^53, and not 0, which no page has. */
function entryOf(identity: number, page: number): number {
  return identity * PAGE_COUNT + page + 1;
}

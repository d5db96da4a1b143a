// What both adapters need for one request and do not get from their library: the headers under one rule,
// the body under a cap, and a signal that costs nothing until somebody asks for it.

import { BodyTooLargeError, ClientGoneError } from './adapter.ts';

/** Headers of which only the first occurrence counts. */
const SINGLE_HEADERS = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'x-request-id',
  'x-service-api-key',
]);

export class HeaderMap {
  readonly #values = new Map<string, string>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const present = this.#values.get(key);
    if (present === undefined) this.#values.set(key, value);
    else if (!SINGLE_HEADERS.has(key)) this.#values.set(key, `${present}, ${value}`);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }
}

/** An AbortSignal made on first use. */
export class LazySignal {
  #controller: AbortController | undefined;
  #isAborted = false;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}

/**
 * Beyond the limit, this many times the limit is still read and thrown away, so that a client that sends
 * before it reads gets the refusal instead of a broken connection.
 */
const DISCARD_FACTOR = 16;

/**
 * Collects a body up to a cap. The adapter calls `push`, `end` and `abort`; the handler awaits `result`,
 * before or after the body is there.
 */
export class BodyCollector {
  readonly #sizeMax: number;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #outcome: Buffer | Error | undefined;
  #settle: ((outcome: Buffer | Error) => void) | undefined;
  #isOverrun = false;

  /** @param declaredSize  value of Content-Length; undefined if missing or not a number */
  constructor(sizeMax: number, declaredSize: number | undefined) {
    this.#sizeMax = sizeMax;
    if ((declaredSize ?? 0) > sizeMax * DISCARD_FACTOR) this.#overrun();
  }

  /** More was sent than will be read: the connection cannot be used again. */
  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  /** @param piece  copied only if it is kept */
  push(piece: Uint8Array): void {
    this.#size += piece.byteLength;
    if (this.#size <= this.#sizeMax) this.#pieces.push(Uint8Array.prototype.slice.call(piece));
    else this.#pieces = [];
    if (this.#size > this.#sizeMax * DISCARD_FACTOR) this.#overrun();
  }

  end(): void {
    if (this.#size > this.#sizeMax) this.#finish(new BodyTooLargeError(this.#sizeMax));
    else this.#finish(Buffer.concat(this.#pieces, this.#size));
    this.#pieces = [];
  }

  abort(): void {
    this.#pieces = [];
    this.#finish(new ClientGoneError());
  }

  async result(): Promise<Buffer> {
    const outcome =
      this.#outcome ??
      (await new Promise<Buffer | Error>((resolve) => {
        this.#settle = resolve;
      }));
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  #overrun(): void {
    this.#isOverrun = true;
    this.#finish(new BodyTooLargeError(this.#sizeMax));
  }

  #finish(outcome: Buffer | Error): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#settle?.(outcome);
  }
}

/** Content-Length as a number, undefined if it is missing or odd. */
export function declaredSize(headers: HeaderMap): number | undefined {
  const text = headers.get('content-length');
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

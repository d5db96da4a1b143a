// Parts of a request that both adapters share: headers and the bounded body.

import {
  BodyTooLargeError,
  ClientGoneError,
  REQUEST_TIMEOUT_MS,
  RequestFault,
  UNASKED_BODY_SIZE_MAX,
  UNCOUNTED_SIZE_MAX,
} from './adapter.ts';
import type { BodyAllowance } from './adapter.ts';
import { noMemoryError } from './memory-budget.ts';

const SINGLE_HEADERS = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'x-request-id',
  'x-service-api-key',
]);

export class HeaderMap extends Map<string, string> {
  /** Single headers that came more than once. */
  readonly repeated: string[] = [];

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    const present = this.get(key);
    if (present === undefined) this.set(key, value);
    else if (SINGLE_HEADERS.has(key)) this.repeated.push(key);
    else this.set(key, `${present}${key === 'cookie' ? ';' : ','} ${value}`);
  }
}

/** Up to this many times the limit is read and discarded, so that a client that is still sending gets the refusal. */
const DISCARD_FACTOR = 16;

/** Collects a body up to its limit; the adapter fills it, the handler awaits `read`, in any order. */
export class BodyCollector {
  readonly #declaredSize: number;
  readonly #timeoutMs: number;
  #sizeMax = UNASKED_BODY_SIZE_MAX;
  #reserve: BodyAllowance['reserve'] | undefined;
  #reservedSize = 0;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #body: Buffer | Error | undefined;
  #settle: ((body: Buffer | Error) => void) | undefined;
  #isCut = false;

  /** `declaredSize`: Content-Length, if it is a number; `timeoutMs`: for the whole body, from the call of `read`. */
  constructor(declaredSize: number | undefined, timeoutMs = REQUEST_TIMEOUT_MS) {
    this.#declaredSize = declaredSize ?? 0;
    this.#timeoutMs = timeoutMs;
  }

  /** The rest will not be read, so the connection cannot be reused. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The buffer of an unread body is full: the adapter pauses until `read`. */
  get isFull(): boolean {
    const isUnasked = this.#reserve === undefined && this.#body === undefined;
    return isUnasked && this.#size > UNASKED_BODY_SIZE_MAX;
  }

  /** Discards the rest of an unread body: on a connection that nobody reads, a leaving client goes unnoticed. */
  giveUp(): void {
    if (this.#reserve === undefined) this.#cut(tooSlow());
  }

  push(chunk: Uint8Array): void {
    if (this.#body !== undefined) return;
    this.#size += chunk.byteLength;
    const isKept = this.#reserve === undefined || this.#mayKeep();
    if (isKept) this.#chunks.push(Uint8Array.prototype.slice.call(chunk));
    else this.#chunks = [];
    if (this.#size > this.#sizeMax * DISCARD_FACTOR) this.#cut(new BodyTooLargeError(this.#size));
  }

  end(): void {
    // A discarded body is not concatenated.
    if (this.#body !== undefined) return;
    if (this.#size > this.#sizeMax && this.#reserve !== undefined)
      this.finish(new BodyTooLargeError(this.#size));
    else this.finish(Buffer.concat(this.#chunks, this.#size));
    this.#chunks = [];
  }

  /** `body`: the whole of it, at most UNCOUNTED_SIZE_MAX bytes, without `push` and `end`; or why there is none. */
  finish(body: Buffer | Error): void {
    if (this.#body !== undefined) return;
    this.#body = body;
    this.#settle?.(body);
  }

  /** The rest of the body cannot be read: `read` rejects with this error. */
  fail(error: Error): void {
    this.#chunks = [];
    this.finish(error);
  }

  /** The answer is sent: a pending `read` rejects with ClientGoneError. */
  abandon(): void {
    if (this.#settle !== undefined && this.#body === undefined) this.fail(new ClientGoneError());
  }

  /** Waits for the whole body. Call once. `isAwaited`: the client waits for "100 Continue". */
  async read({ sizeMax, reserve }: BodyAllowance, isAwaited = false): Promise<Buffer> {
    this.#sizeMax = sizeMax;
    this.#reserve = reserve;
    if (this.#body === undefined && !this.#mayKeep()) this.#chunks = [];
    const isFar = this.#declaredSize > sizeMax * DISCARD_FACTOR;
    if (isFar || (isAwaited && this.#declaredSize > sizeMax))
      this.#cut(new BodyTooLargeError(this.#declaredSize));
    const body = this.#body ?? (await this.#wait());
    if (body instanceof Error) throw body;
    if (body.length > sizeMax) throw new BodyTooLargeError(body.length);
    return body;
  }

  async #wait(): Promise<Buffer | Error> {
    const timer = setTimeout(() => this.#cut(tooSlow()), this.#timeoutMs);
    const body = await new Promise<Buffer | Error>((resolve) => {
      this.#settle = resolve;
    });
    clearTimeout(timer);
    return body;
  }

  /** Reserves what has arrived. If the budget is exhausted the body is discarded. */
  #mayKeep(): boolean {
    if (this.#isCut || this.#size > this.#sizeMax) return false;
    if (this.#size <= UNCOUNTED_SIZE_MAX) return true;
    const more = this.#size - this.#reservedSize;
    this.#reservedSize = this.#size;
    if (this.#reserve?.(more) === true) return true;
    this.#cut(noMemoryError());
    return false;
  }

  #cut(error: Error): void {
    this.#isCut = true;
    this.fail(error);
  }
}

export function tooSlow(): RequestFault {
  return new RequestFault('REQUEST_TIMEOUT', 'The request did not arrive in time.');
}

export function hasBody(headers: HeaderMap): boolean {
  return headers.has('transfer-encoding') || (declaredSize(headers) ?? 0) > 0;
}

export function declaredSize(headers: HeaderMap): number | undefined {
  const text = headers.get('content-length');
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

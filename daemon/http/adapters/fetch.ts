// The bridge to handlers that speak the Request and Response of the Fetch standard, as libraries for tools and OAuth do.
// The body of a request is read when it is asked for, as far as it may be held; that of a response is pulled as fast
// as the client reads, and cancelled when the client is gone.

import { ApiError } from '../../api/shapes/api-error.ts';
import { Breather } from '../../base/next-turn.ts';
import type { BodyStream, HttpRequest, HttpResponse } from './adapter.ts';

/** Headers that say how one connection carries a message; whoever sends it adds its own. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What the Fetch standard takes as the value of a header. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * What was made of requests whose response is not over. Why it is held: the signal of a Request is aborted only while the
 * Request itself is in use (undici 6.24), and handlers keep the signal alone, or a listener to it. Why not by that signal:
 * undici holds the signal until the Request is collected, which would be never.
 */
const held = new Set<Request>();

/**
 * The request as the standard has it: GET for HEAD, headers with values outside of Latin-1 left out.
 *
 * @param baseUrl  of the daemon; its origin is that of the request, whatever the client has named
 * @param readBody  called at most once; its error is that of whoever reads the body
 * @param whenOver  gets what is to be done when the response is over
 * Errors: NOT_FOUND for a path that the standard reads as another one, such as one with `..`.
 */
export function toFetchRequest(
  request: HttpRequest,
  baseUrl: string,
  readBody: () => Promise<Uint8Array>,
  whenOver: (end: () => void) => void,
): Request {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const query = request.rawQuery === '' ? '' : `?${request.rawQuery}`;
  const url = new URL(baseUrl).origin + request.path + query;
  checkPath(request.path, new URL(url).pathname);
  const headers = [...request.headers()].filter(([, value]) => HEADER_VALUE.test(value));
  const { signal } = request;
  const body = method === 'GET' ? null : lazyBody(readBody);
  const made = new Request(url, {
    method,
    headers: new Headers(headers),
    signal,
    body,
    duplex: 'half',
  });
  held.add(made);
  const letGo = (): void => {
    held.delete(made);
    signal.removeEventListener('abort', letGo);
  };
  signal.addEventListener('abort', letGo);
  whenOver(letGo);
  return made;
}

/**
 * Refuses a path of which the standard makes another one: `/open/../closed` was let in by the rights of `/open`.
 *
 * Errors: NOT_FOUND.
 */
function checkPath(sent: string, read: string): void {
  if (decodeURIComponent(sent) !== decodeURIComponent(read))
    throw new ApiError('NOT_FOUND', 'Not found.');
}

/** Why no bytes ahead: a body that nobody reads is not to be held. */
function lazyBody(readBody: () => Promise<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const bytes = await readBody();
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What is to be known of a body while it is sent. */
export interface BodyWatch {
  /** Called before each piece is sent; what it throws ends the response. */
  checkRights(): void | Promise<void>;
  /** The body cannot be completed. */
  onFault(error: unknown): void;
  /** The response is over. */
  onClose(sentSize: number): void;
}

/**
 * The response for one of the standard, its cookies each a header of their own.
 * Errors: throws TypeError where it says only that it failed, or somebody reads its body already.
 *
 * @param isHead  the body is not wanted
 * @param common  headers that every response carries; those of `response` go before, cookies are added
 * @param watch  of a body, if there is one
 */
export function fromFetchResponse(
  response: Response,
  isHead: boolean,
  common: HttpResponse['headers'],
  watch: BodyWatch,
): HttpResponse {
  const { status, body } = response;
  if (response.type === 'error') throw new TypeError('a response that says only that it failed');
  const head = { status, headers: joinHeaders(response.headers, common) };
  if (body !== null && !isHead) return { ...head, body: new FetchBody(body, watch) };
  if (body !== null) giveUp(body);
  // Only these say by their status that nothing follows.
  const isEmpty = isHead || status === 204 || status === 304;
  return { ...head, body: isEmpty ? undefined : new Uint8Array() };
}

/** Tells a body that nobody reads it. Why without a word: that it failed, or fails at this, changes no answer. */
export function giveUp(body: ReadableStream): void {
  body.cancel().catch(() => {});
}

function joinHeaders(own: Headers, common: HttpResponse['headers']): HttpResponse['headers'] {
  const cookies = [common['Set-Cookie'] ?? [], own.getSetCookie()].flat();
  const kept = Object.entries(common).filter(([name]) => !own.has(name));
  const added = [...own].filter(([name]) => name !== 'set-cookie' && !CONNECTION_HEADERS.has(name));
  const headers = Object.fromEntries<string | string[]>([...kept, ...added]);
  return cookies.length === 0 ? headers : { ...headers, 'Set-Cookie': cookies };
}

class FetchBody implements BodyStream {
  readonly isOpenEnded = true;
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #watch: BodyWatch;
  readonly #breather = new Breather();
  #size = 0;

  constructor(body: ReadableStream<unknown>, watch: BodyWatch) {
    this.#reader = body.getReader();
    this.#watch = watch;
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      // Why: pieces that are there at once, or hold nothing, would leave no turn to anybody else.
      await this.#breather.pause();
      await this.#watch.checkRights();
      if (!(value instanceof Uint8Array)) throw new TypeError('a body of something but bytes');
      this.#size += value.byteLength;
      return value;
    } catch (error) {
      this.#watch.onFault(error);
      throw error;
    }
  }

  close(): void {
    // Of a body that has failed, or is complete, there is nothing to cancel.
    this.#reader.cancel().catch(() => {});
    this.#watch.onClose(this.#size);
  }
}

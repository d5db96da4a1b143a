// Bridges to handlers of the Fetch standard, such as the libraries for MCP and OAuth. Request bodies are read on
// demand; response bodies are pulled at the client's speed and cancelled when the client leaves.

import { ApiError } from '../../api/shapes/api-error.ts';
import { signalOf } from '../../base/cancellation.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import type { BodyStream, HttpRequest, HttpResponse } from './adapter.ts';

const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Requests whose response has not ended. Why: undici 6.24 aborts the signal only while the Request is referenced, and
 * handlers keep only the signal. As a weak key the signal would not help: undici holds it until the Request is
 * collected.
 */
const retained = new Set<Request>();

/**
 * The request in the form of the standard: GET for HEAD, without header values outside Latin-1. The origin is that of
 * `baseUrl`, whatever host the client named; `readBody` is called at most once. Errors: NOT_FOUND as `checkPath`.
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
  const headers = [...request.headers].filter(([, value]) => HEADER_VALUE.test(value));
  const signal = signalOf(request.signal);
  const body = method === 'GET' ? null : lazyBody(readBody);
  const made = new Request(url, {
    method,
    headers: new Headers(headers),
    signal,
    body,
    duplex: 'half',
  });
  retained.add(made);
  const letGo = (): void => {
    retained.delete(made);
    signal.removeEventListener('abort', letGo);
  };
  signal.addEventListener('abort', letGo);
  whenOver(letGo);
  return made;
}

/** Errors: NOT_FOUND for a path that the standard would normalize: `/open/../closed` would pass as `/open`. */
function checkPath(sent: string, read: string): void {
  if (decodeURIComponent(sent) !== decodeURIComponent(read))
    throw new ApiError('NOT_FOUND', 'Not found.');
}

/** Why nothing is read ahead: an unread body must not be buffered. */
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

export interface BodyWatch {
  /** Called before each chunk; an error ends the response. */
  checkRights(): void | Promise<void>;
  /** The body cannot be completed. */
  onFault(error: unknown): void;
  onClose(sentSize: number): void;
}

/** Each cookie becomes its own header; headers of `response` win over `common`. TypeError for an error response. */
export function fromFetchResponse(
  response: Response,
  isHead: boolean,
  common: HttpResponse['headers'],
  watch: BodyWatch,
): HttpResponse {
  const { status, body } = response;
  if (response.type === 'error')
    throw new TypeError('the response is an error response without content');
  const head = { status, headers: joinHeaders(response.headers, common) };
  if (body !== null && !isHead) return { ...head, body: new FetchBody(body, watch) };
  if (body !== null) giveUp(body);
  // Only these statuses imply an empty body.
  const isEmpty = isHead || status === 204 || status === 304;
  return { ...head, body: isEmpty ? undefined : new Uint8Array() };
}

/** Errors are ignored: they can change no answer. */
function giveUp(body: ReadableStream): void {
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
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #watch: BodyWatch;
  readonly #yielder = new LoopYielder();
  #size = 0;

  constructor(body: ReadableStream<unknown>, watch: BodyWatch) {
    this.#reader = body.getReader();
    this.#watch = watch;
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      // Chunks that are ready at once, or empty, would starve other requests.
      await this.#yielder.pause();
      await this.#watch.checkRights();
      if (!(value instanceof Uint8Array))
        throw new TypeError('the body may hold nothing but bytes');
      this.#size += value.byteLength;
      return value;
    } catch (error) {
      this.#watch.onFault(error);
      throw error;
    }
  }

  close(): void {
    // A failed or complete body cannot be cancelled.
    this.#reader.cancel().catch(() => {});
    this.#watch.onClose(this.#size);
  }
}

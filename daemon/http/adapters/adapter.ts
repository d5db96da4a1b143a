// The interface between the pipeline and the HTTP libraries, implemented by uws-adapter.ts and node-adapter.ts.
// Adapters know nothing of routes, JSON or errors; the pipeline knows nothing of sockets.

import type { Cancellation } from '../../base/cancellation.ts';
import { CodedError } from '../../base/caught.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';

/** A request. Its values stay valid after the handler returns. */
export interface HttpRequest {
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; '' if there is none. */
  readonly rawQuery: string;
  /** Address of the peer; '' if the connection is gone. */
  readonly remoteAddress: string;
  /** Aborted when the client goes away before the response is complete. */
  readonly signal: Cancellation;
  /** Set if the request must be refused: its head is malformed or unreadable. */
  readonly fault?: RequestFault | undefined;
  /** By lower-case name. Repeated headers are joined by commas, except those that may occur only once. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * At most UNASKED_BODY_SIZE_MAX bytes are buffered before this call. Errors: BodyTooLargeError; SERVER_OVERLOADED;
   * ClientGoneError; RequestFault if the framing is broken or the body is too slow.
   */
  body(allowance: BodyAllowance): Promise<Buffer>;
}

export interface BodyAllowance {
  readonly sizeMax: number;
  /** Reserves bytes as they arrive; false: there is no room. */
  readonly reserve: (size: number) => boolean;
}

/** A body that is produced while it is sent; the adapter pulls it at the client's speed. */
export interface BodyStream {
  /** Undefined: the body is complete. On an error what was pulled is sent, then the connection is aborted. */
  next(): Promise<Uint8Array | undefined>;
  close(): void;
}

/** A body of known size; undefined: no body. */
export type PlainBody = Uint8Array | LazyBytes | undefined;

export interface HttpResponse {
  readonly status: number;
  /** Without Content-Length, which the adapter adds if it is known. An array gives one header per value. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** For HEAD a plain body is only measured. */
  readonly body: PlainBody | BodyStream;
  /** The client that a large body is for; clients share the sending time fairly. */
  readonly clientKey?: string;
  /** Called once when a plain body is sent or dropped. */
  readonly onOver?: (() => void) | undefined;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

export interface AdapterOptions {
  readonly handle: HttpHandler;
  /** Connections are encrypted; the certificate follows. */
  readonly isTls?: boolean;
  /** Limit for a whole body from the call of `body`; default: REQUEST_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number | undefined;
  /** A client that takes less than 60 KB within this time is dropped; default: STREAM_STALL_MS. */
  readonly streamStallMs?: number | undefined;
}

export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

export interface HttpAdapter {
  readonly kind: 'uws' | 'node';
  /** Call once. `host`: an IP address; `port` 0: the system chooses. Rejects if the address cannot be bound. */
  listen(host: string, port: number): Promise<BoundAddress>;
  /** Stops accepting, waits up to `graceMs` for pending responses, then drops every connection. */
  close(graceMs: number): Promise<void>;
}

export class BodyTooLargeError extends Error {
  readonly size: number;

  constructor(size: number) {
    super(`request body of at least ${size} bytes`);
    this.name = 'BodyTooLargeError';
    this.size = size;
  }
}

/** The bytes received are no valid request; the connection ends after the refusal. */
export class RequestFault extends CodedError<
  'MALFORMED_REQUEST' | 'REQUEST_HEADERS_TOO_LARGE' | 'REQUEST_TIMEOUT'
> {
  override readonly name = 'RequestFault';
}

/** The client went away; no answer can reach it. */
export class ClientGoneError extends Error {
  constructor() {
    super('client went away');
    this.name = 'ClientGoneError';
  }
}

/** Bytes of a body buffered before the handler reads it, or for an anonymous caller. */
export const UNASKED_BODY_SIZE_MAX = 65_536;
/** Limit for the request line and all headers together, in bytes. */
export const HEAD_SIZE_MAX = 16_384;
/** Limit for the head of a request, from its first byte or the start of the connection. */
export const HEAD_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;

/** A connection without progress for this long is dropped. */
export const STALL_TIMEOUT_MS = 10_000;

/** A client that reads an answer must take 1 KB a second, else it is dropped. */
export const STREAM_STALL_MS = 60_000;

/** Bytes a client must take within `STREAM_STALL_MS`. */
export const STALL_SIZE = 61_440;

/** Smaller bodies and answers do not count as memory: a socket takes such an answer at once, nearly always. */
export const UNCOUNTED_SIZE_MAX = 16_384;

export function isBodyStream(body: HttpResponse['body']): body is BodyStream {
  return body !== undefined && 'next' in body;
}

export function bodySize(body: PlainBody): number {
  return body?.byteLength ?? 0;
}

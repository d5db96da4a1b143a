// The contract between the pipeline and the HTTP libraries: plain request and response values, and the life
// of a listening server. Two implementations pass one suite: uws-adapter.ts and node-adapter.ts. Adapters
// know nothing of routes, JSON or errors; the pipeline knows nothing of sockets.

import { CodedError } from '../../base/caught.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';
import type { Hold } from './memory-budget.ts';

/** A request whose values stay valid for as long as anybody holds it. */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; '' if there is none. */
  readonly rawQuery: string;
  /** Address of the peer; '' if it is already gone. */
  readonly remoteAddress: string;
  /** Aborted when the client goes away before the response is complete. */
  readonly signal: AbortSignal;
  /** Why it must be refused whatever it asks for: its head breaks the rules of HTTP, or could not be read at all. */
  readonly fault?: RequestFault | undefined;
  /** @param name  lower case. Repeated headers are joined by commas, except those that may occur once. */
  header(name: string): string | undefined;
  /** All headers, lower-case name and value as `header` has it. */
  headers(): Iterable<[string, string]>;
  /**
   * The whole body. Until it is asked for, at most UNASKED_BODY_SIZE_MAX bytes of it are held.
   * Errors: BodyTooLargeError; SERVER_OVERLOADED if the budget has no room; ClientGoneError if the client went away, or
   * has its answer; RequestFault if its framing is broken or it takes too long.
   */
  body(allowance: BodyAllowance): Promise<Buffer>;
}

/** How much of a body may be held, and out of which budget. */
export interface BodyAllowance {
  /** Bytes. */
  readonly sizeMax: number;
  /** Grows by what arrives; for the caller to release. */
  readonly hold: Hold;
}

/** A body that is made while it is sent: the adapter pulls it as fast as the client reads. */
export interface BodyStream {
  /**
   * The next piece; undefined: the body is complete.
   * Errors: the response cannot be completed; what was pulled is sent, then the connection is closed.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Its bytes do not say whether they are all: one that fails is broken off, not ended. */
  readonly isOpenEnded?: boolean;
  /** Called once when the response is over, whatever the reason. */
  close(): void;
}

/** A body of known size; undefined: no body. */
export type PlainBody = Uint8Array | LazyBytes | undefined;

export interface HttpResponse {
  readonly status: number;
  /** Without Content-Length, which the adapter adds where it is known. Several values: a header each. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** For HEAD a plain body is measured, not sent. */
  readonly body: PlainBody | BodyStream;
  /** Whom a large body is for: holders take turns in what it costs to send one. */
  readonly holder?: string;
  /** Called once when a plain body is no longer needed: it is sent, or nobody reads it. */
  readonly onOver?: (() => void) | undefined;
}

/** Answers one request; never rejects. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

export interface AdapterOptions {
  readonly handle: HttpHandler;
  /** Time for a whole body once it is asked for; default: REQUEST_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number | undefined;
  /** Time after which a client that takes less than 60 KB of an answer is dropped; default: STREAM_STALL_MS. */
  readonly streamStallMs?: number | undefined;
}

export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

export interface HttpAdapter {
  /** Which library does the work, for the log. */
  readonly kind: 'uws' | 'node';
  /**
   * Starts to accept connections. Once only.
   *
   * @param host  an IP address
   * @param port  0: the system chooses
   * Errors: rejects if the address cannot be bound.
   */
  listen(host: string, port: number): Promise<BoundAddress>;
  /**
   * Stops accepting, waits up to `graceMs` for the responses under way, then drops every connection.
   */
  close(graceMs: number): Promise<void>;
}

/** The request body exceeds what may be held of it. */
export class BodyTooLargeError extends Error {
  /** Bytes: as declared, or what has arrived. */
  readonly size: number;

  constructor(size: number) {
    super(`request body of at least ${size} bytes`);
    this.name = 'BodyTooLargeError';
    this.size = size;
  }
}

/** What arrived is no request, or not one that can be served; the connection ends with the refusal. */
export class RequestFault extends CodedError<
  'MALFORMED_REQUEST' | 'REQUEST_HEADERS_TOO_LARGE' | 'REQUEST_TIMEOUT'
> {
  override readonly name = 'RequestFault';
}

/** The client went away; whatever is answered reaches nobody. */
export class ClientGoneError extends Error {
  constructor() {
    super('client went away');
    this.name = 'ClientGoneError';
  }
}

/** Bytes of a body that are held before anybody has asked for it, or for somebody who is not known. */
export const UNASKED_BODY_SIZE_MAX = 65_536;
/** Bytes of the request line and all headers together, at most. */
export const HEAD_SIZE_MAX = 16_384;
/** Time for the head of a request, from its first byte, or from the start of the connection. */
export const HEAD_TIMEOUT_MS = 10_000;
/** Time for a whole request, its body included. */
export const REQUEST_TIMEOUT_MS = 30_000;

/** Time without progress after which a connection that waits for its peer is dropped. */
export const STALL_TIMEOUT_MS = 10_000;

/** The same for a client that reads an answer: it takes 1 KB a second, or is dropped. */
export const STREAM_STALL_MS = 60_000;

/** Bytes: a client that takes less of an answer within `STREAM_STALL_MS`, 1 KB a second, is dropped. */
export const STALL_SIZE = 61_440;

export function isBodyStream(body: HttpResponse['body']): body is BodyStream {
  return body !== undefined && 'next' in body;
}

/** Bytes of a response body of known size. */
export function bodySize(body: PlainBody): number {
  return body?.byteLength ?? 0;
}

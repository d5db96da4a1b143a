// HttpAdapter over uWebSockets.js, the only file that touches it. Its request object lives only during the
// handler call and its response object until it is ended or aborted, so everything is copied at once, the
// abort handler comes first, writes are corked and stop when the socket is full.
//
// Differences from node:http that callers should know: HTTP/1.0 is refused, and a client that pipelines is
// disconnected when its next request arrives while the previous one still waits for something. Its parser accepts lines of
// a chunked body that end with LF alone, and goes on: so it serves loopback alone (http/server.ts).

import { STATUS_CODES } from 'node:http';
import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { allBytes, type LazyBytes } from '../../base/lazy-bytes.ts';
import { deferredFor } from '../../base/deferred.ts';
import { SLICE_MS, nextTurn } from '../../base/next-turn.ts';
import {
  type AdapterOptions,
  bodySize,
  type BodyStream,
  type BoundAddress,
  ClientGoneError,
  type HttpAdapter,
  type HttpRequest,
  type HttpResponse,
  isBodyStream,
  type PlainBody,
  REQUEST_TIMEOUT_MS,
  STALL_SIZE,
  STREAM_STALL_MS,
} from './adapter.ts';
import { type Outlet, Pump } from './pump.ts';
import { faultOf } from './request-head.ts';
import {
  BodyCollector,
  HeaderMap,
  LazySignal,
  RequestView,
  declaredSize,
} from './exchange-parts.ts';

type Uws = typeof import('uWebSockets.js');

/** The library drops a connection that takes or sends nothing for 10 s, unless it is told in this interval not to. */
const KEEP_INTERVAL_MS = 4000;

/** The library; rejects where its binary does not load. */
export async function loadUws(): Promise<Uws> {
  // Safety: a CommonJS module comes as the default member, which its types do not say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const module = (await import('uWebSockets.js')) as unknown as { default: Uws & Silent };
  // oxlint-disable-next-line no-underscore-dangle
  module.default._cfg('silent');
  return module.default;
}

/** Turns off the header that names the server; missing from the library's types. */
interface Silent {
  _cfg(option: 'silent'): void;
}

/** One request under way. */
interface Exchange {
  readonly response: UwsResponse;
  readonly isHead: boolean;
  readonly gone: LazySignal;
  readonly body: BodyCollector;
  pump?: Pump;
  /** The connection cannot be used behind it. */
  isLast?: boolean;
  /** Nothing is read of its connection, as nobody has asked for its body. */
  isPaused?: boolean;
  /** Ends the pause. */
  pauseEnd?: NodeJS.Timeout;
  /** The library takes no more calls for it. */
  isOver?: boolean;
  onOver?: (() => void) | undefined;
}

export class UwsAdapter implements HttpAdapter {
  readonly kind = 'uws';
  readonly #uws: Uws;
  readonly #options: AdapterOptions;
  readonly #app: ReturnType<Uws['App']>;
  readonly #open = new Set<Exchange>();
  #stopListening: () => void = () => {};
  #onIdle: (() => void) | undefined;

  constructor(uws: Uws, options: AdapterOptions) {
    this.#uws = uws;
    this.#options = options;
    this.#app = uws.App();
    this.#app.any('/*', (response, request) => void this.#serve(response, request));
  }

  listen(host: string, port: number): Promise<BoundAddress> {
    const uws = this.#uws;
    return new Promise((resolve, reject) => {
      // Why: by default several processes may share a port, each getting a part of the connections.
      listenExclusively(this.#app, host, port, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host} port ${port}`));
          return;
        }
        this.#stopListening = () => uws.us_listen_socket_close(socket);
        resolve({ host, port: uws.us_socket_local_port(socket) });
      });
    });
  }

  async close(graceMs: number): Promise<void> {
    this.#stopListening();
    if (this.#open.size > 0) await this.#idle(graceMs);
    this.#app.close();
  }

  /** Resolves when no request is under way, at the latest after `graceMs`. */
  #idle(graceMs: number): Promise<void> {
    const { promise, resolve } = deferredFor(graceMs);
    this.#onIdle = resolve;
    return promise;
  }

  async #serve(response: UwsResponse, raw: UwsRequest): Promise<void> {
    const gone = new LazySignal();
    const headers = readHeaders(raw);
    const body = new BodyCollector(declaredSize(headers), this.#options.requestTimeoutMs);
    const exchange: Exchange = { response, isHead: raw.getMethod() === 'head', gone, body };
    response.onAborted(() => {
      gone.abort();
      body.fail(new ClientGoneError());
      exchange.pump?.onGone();
      this.#forget(exchange);
    });
    response.onData((piece, isLast) => {
      // Once the answer is sent the library takes no more calls, and nobody wants the rest.
      if (!this.#open.has(exchange)) return;
      body.push(new Uint8Array(piece));
      if (isLast) body.end();
      else if (body.isFull) this.#pause(exchange);
    });
    this.#open.add(exchange);
    const request = toRequest(raw, headers, exchange);
    exchange.isLast = request.fault !== undefined;
    const answer = await this.#options.handle(request);
    // Where a refused request ends is not known. While it has no answer the library drops a connection whose further bytes
    // it takes for a request; one that was answered at once would have these answered, too.
    if (exchange.isLast) await new Promise(setImmediate);
    const answerBody = answer.body;
    goOn(exchange);
    exchange.onOver = answer.onOver;
    if (isBodyStream(answerBody)) await this.#sendStream(exchange, answer, answerBody);
    else if (gone.isAborted) answer.onOver?.();
    else this.#send(exchange, answer, answerBody);
  }

  #pause(exchange: Exchange): void {
    if (exchange.isPaused === true) return;
    exchange.response.pause();
    exchange.isPaused = true;
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = this.#options;
    exchange.pauseEnd = setTimeout(() => {
      exchange.body.giveUp();
      goOn(exchange);
    }, requestTimeoutMs);
  }

  async #sendStream(exchange: Exchange, answer: HttpResponse, body: BodyStream): Promise<void> {
    const { response, gone } = exchange;
    const outlet = new UwsOutlet(response, answer, gone, () => this.#forget(exchange));
    exchange.pump = new Pump(body, outlet, this.#options.streamStallMs);
    if (gone.isAborted) exchange.pump.onGone();
    else outlet.listen(() => exchange.pump?.onRoom());
    await exchange.pump.run();
    outlet.stop();
  }

  #send(exchange: Exchange, answer: HttpResponse, body: PlainBody): void {
    const { response, isHead } = exchange;
    const isLast = exchange.body.isCut || exchange.isLast === true;
    response.cork(() => {
      writeHead(response, answer);
      const size = bodySize(body);
      if (isHead || body === undefined || size === 0) {
        // Why: endWithoutBody(size) waits for a body that never comes, unless the connection closes.
        if (isLast) response.endWithoutBody(size, true);
        else {
          if (body !== undefined) response.writeHeader('Content-Length', String(size));
          response.endWithoutBody();
        }
        this.#forget(exchange);
      } else if (isLast) {
        response.end(allBytes(body), true);
        this.#forget(exchange);
      } else this.#sendBody(exchange, body, answer.holder);
    });
  }

  /** Writes until the socket is full, and goes on when it has room; others have their turns in between. */
  #sendBody(exchange: Exchange, body: Uint8Array | LazyBytes, holder?: string): void {
    const { response } = exchange;
    const totalSize = body.byteLength;
    const advance = (): void => {
      const startMs = performance.now();
      for (let offset = response.getWriteOffset(); ; offset = response.getWriteOffset()) {
        const piece = body instanceof Uint8Array ? body.subarray(offset) : body.from(offset);
        const [isWritten, isDone] = response.tryEnd(piece, totalSize);
        if (isDone) this.#forget(exchange);
        if (isDone || !isWritten) return;
        if (performance.now() - startMs <= SLICE_MS) continue;
        void sendOn();
        return;
      }
    };
    const sendOn = async (): Promise<void> => {
      await nextTurn(holder);
      if (this.#open.has(exchange)) response.cork(advance);
    };
    if (body instanceof Uint8Array) advance();
    else void sendOn();
    if (!this.#open.has(exchange)) return;
    response.onWritable(() => {
      void sendOn();
      return true;
    });
    this.#awaitReader(exchange, sendOn);
  }

  /**
   * Gives the reader of an answer that is not written yet the time that readers have, whatever the library thinks.
   *
   * Why writing is tried again: that starts the time of the library anew, which otherwise ends before a socket with
   * room for megabytes says that a third of it is free.
   */
  #awaitReader(exchange: Exchange, sendOn: () => Promise<void>): void {
    const { response } = exchange;
    const { streamStallMs = STREAM_STALL_MS } = this.#options;
    let mark = { size: response.getWriteOffset(), atMs: performance.now() };
    const keeper = setInterval(() => {
      if (!this.#open.has(exchange)) {
        clearInterval(keeper);
        return;
      }
      const now = { size: response.getWriteOffset(), atMs: performance.now() };
      if (now.size - mark.size >= STALL_SIZE) mark = now;
      if (now.atMs - mark.atMs >= streamStallMs) response.close();
      else void sendOn();
    }, KEEP_INTERVAL_MS).unref();
  }

  #forget(exchange: Exchange): void {
    if (!this.#open.delete(exchange)) return;
    const { onOver } = exchange;
    exchange.isOver = true;
    clearTimeout(exchange.pauseEnd);
    exchange.body.abandon();
    // Why: a set that was rehashed keeps what was in it until the next full collection, and with this the answer:
    // measured, 4 MB each: a full collection for every third answer, 12 of 29 ms on this thread; none without it.
    exchange.onOver = undefined;
    onOver?.();
    if (this.#open.size === 0) this.#onIdle?.();
  }
}

/** Bytes kept back while the socket is full: one for each time that it takes some, or that an interval ends. */
const RESERVE_SIZE = 4096;
/** The library takes writes up to this size together, whatever the socket does. */
const GATHERED_SIZE = 16_384;

/**
 * The socket of a response that is made while it is sent.
 *
 * Why bytes are kept back: the library passes on what it holds only when more is written, and says only then
 * whether the socket took all. And only `resume` starts its timeout anew, but also ends the wait for room,
 * which another write begins again. So whenever there may be room, and in each interval, a byte is written.
 */
class UwsOutlet implements Outlet {
  /** Why not less: the more writes, the likelier is one that fills the socket with nothing kept back. */
  readonly sliceSizeMax = 262_144;
  readonly #response: UwsResponse;
  readonly #head: HttpResponse;
  readonly #gone: LazySignal;
  readonly #onEnd: () => void;
  #onRoom: () => void = () => {};
  #isHeadWritten = false;
  /** Bytes that follow what the socket is full of. */
  #reserve: Uint8Array = new Uint8Array();
  #keeper: NodeJS.Timeout | undefined;

  constructor(response: UwsResponse, head: HttpResponse, gone: LazySignal, onEnd: () => void) {
    this.#response = response;
    this.#head = head;
    this.#gone = gone;
    this.#onEnd = onEnd;
  }

  /** @param listener  called when a full socket has room again */
  listen(listener: () => void): void {
    this.#onRoom = listener;
    this.#response.onWritable(() => {
      this.#writeReserve(1);
      return true;
    });
  }

  write(bytes: Uint8Array): boolean {
    const size = bytes.byteLength;
    const split = size > GATHERED_SIZE ? size - RESERVE_SIZE : size;
    let hasRoom = this.#send(bytes.subarray(0, split));
    const rest = bytes.subarray(split);
    if (hasRoom && rest.byteLength > 0) hasRoom = this.#send(rest);
    else this.#reserve = rest;
    if (!hasRoom) this.#keeper = setInterval(() => this.#keepAlive(), KEEP_INTERVAL_MS);
    return hasRoom;
  }

  #send(bytes: Uint8Array): boolean {
    let hasRoom = true;
    this.#response.cork(() => {
      this.#writeHead();
      hasRoom = this.#response.write(bytes);
    });
    return hasRoom;
  }

  #writeHead(): void {
    if (!this.#isHeadWritten) writeHead(this.#response, this.#head);
    this.#isHeadWritten = true;
  }

  #keepAlive(): void {
    // Without a byte left to write the library's own time is all that the client has.
    if (this.#gone.isAborted || this.#reserve.byteLength === 0) return;
    this.#response.resume();
    this.#writeReserve(1);
  }

  /** Writes bytes of the reserve; where the socket takes them the rest follows, and there is room. */
  #writeReserve(size: number): void {
    const bytes = this.#reserve.subarray(0, size);
    this.#reserve = this.#reserve.subarray(size);
    if (bytes.byteLength > 0 && !this.#send(bytes)) return;
    if (this.#reserve.byteLength > 0) this.#writeReserve(this.#reserve.byteLength);
    else {
      clearInterval(this.#keeper);
      this.#onRoom();
    }
  }

  end(isWhole: boolean): void {
    this.stop();
    this.#response.cork(() => {
      this.#writeHead();
      this.#response.end(undefined, !isWhole);
    });
    this.#onEnd();
  }

  drop(): void {
    this.stop();
    this.#response.close();
  }

  /** Touches the response no more. */
  stop(): void {
    clearInterval(this.#keeper);
  }
}

function writeHead(response: UwsResponse, { status, headers }: HttpResponse): void {
  response.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') response.writeHeader(name, value);
    else for (const one of value) response.writeHeader(name, one);
  }
}

type ListenCallback = Parameters<ReturnType<Uws['App']>['listen']>[2];

function listenExclusively(
  app: ReturnType<Uws['App']>,
  host: string,
  port: number,
  callback: ListenCallback,
): void {
  // Safety: the library takes (host, port, options, callback), but its types lack this form.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const listen = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    callback: ListenCallback,
  ) => void;
  listen(host, port, LISTEN_EXCLUSIVE_PORT, callback);
}

/** `LIBUS_LISTEN_EXCLUSIVE_PORT` of the library. */
const LISTEN_EXCLUSIVE_PORT = 1;

/** Reads on where it was paused. */
function goOn(exchange: Exchange): void {
  clearTimeout(exchange.pauseEnd);
  if (exchange.isPaused === true && exchange.isOver !== true) exchange.response.resume();
  exchange.isPaused = false;
}

/** Waits for a body as long as we do. Why: the library drops a client that sends less than 160 KB within 10 s. */
async function keepReading(exchange: Exchange, reading: Promise<Buffer>): Promise<Buffer> {
  const keeper = setInterval(() => {
    if (exchange.isOver !== true) exchange.response.resume();
  }, KEEP_INTERVAL_MS);
  try {
    return await reading;
  } finally {
    clearInterval(keeper);
  }
}

function readHeaders(raw: UwsRequest): HeaderMap {
  const headers = new HeaderMap();
  raw.forEach((name, value) => headers.add(name, value));
  return headers;
}

function toRequest(raw: UwsRequest, headers: HeaderMap, exchange: Exchange): HttpRequest {
  const { gone, body, response } = exchange;
  const head = {
    method: raw.getCaseSensitiveMethod().toUpperCase(),
    path: raw.getUrl(),
    // Without a question mark there is no value, whatever the types say.
    rawQuery: raw.getQuery() || '',
    remoteAddress: Buffer.from(response.getRemoteAddressAsText()).toString(),
    fault: faultOf(headers, '1.1'),
  };
  return new RequestView(head, headers, gone, async (allowance) => {
    if (exchange.isOver === true) throw new ClientGoneError();
    const reading = body.read(allowance);
    goOn(exchange);
    return await keepReading(exchange, reading);
  });
}

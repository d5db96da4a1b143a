// HttpAdapter over uWebSockets.js. Its request is valid only during the handler call and its response until it ends or
// aborts: everything is copied first, the abort handler is set first, and writes are corked. Unlike node:http it
// refuses HTTP/1.0 and pipelining, and accepts chunk lines that end with only LF, so it serves only loopback
// (http/server.ts).

import { STATUS_CODES } from 'node:http';
import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { allBytes, type LazyBytes } from '../../base/lazy-bytes.ts';
import { deferredFor } from '../../base/deferred.ts';
import { SLICE_MS, nextTimeSlice } from '../../base/next-time-slice.ts';
import {
  type AdapterOptions,
  bodySize,
  type BodyStream,
  type BoundAddress,
  ClientGoneError,
  HEAD_SIZE_MAX,
  type HttpAdapter,
  type HttpRequest,
  type HttpResponse,
  isBodyStream,
  type PlainBody,
  REQUEST_TIMEOUT_MS,
  type RequestFault,
  STALL_SIZE,
  STREAM_STALL_MS,
} from './adapter.ts';
import { type Outlet, Pump } from './pump.ts';
import { faultOf, headTooLarge } from './request-head.ts';
import { LazySignal } from '../../base/cancellation.ts';
import { BodyCollector, HeaderMap, declaredSize, hasBody } from './exchange-parts.ts';

type Uws = typeof import('uWebSockets.js');

/** The library drops a connection without traffic for 10 s, unless its timer is reset. */
const KEEP_INTERVAL_MS = 4000;

export async function loadUws(): Promise<Uws> {
  // Safety: a CommonJS module comes as the default member, which its types do not say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const module = (await import('uWebSockets.js')) as unknown as { default: Uws & Silent };
  // oxlint-disable-next-line no-underscore-dangle
  module.default._cfg('silent');
  return module.default;
}

interface Silent {
  _cfg(option: 'silent'): void;
}

interface Exchange {
  readonly response: UwsResponse;
  readonly isHead: boolean;
  readonly gone: LazySignal;
  readonly body: BodyCollector;
  pump?: Pump;
  /** The connection cannot be reused after it. */
  isLast?: boolean;
  /** Some of its body has not arrived: some proxies send the next request, of anybody, behind a part of a body. */
  isPart: boolean;
  /** Reading is paused, as the handler has not asked for the body. */
  isPaused?: boolean;
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
      // By default several processes may share a port, each with a part of the connections.
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

  #idle(graceMs: number): Promise<void> {
    const { promise, resolve } = deferredFor(graceMs);
    this.#onIdle = resolve;
    return promise;
  }

  async #serve(response: UwsResponse, raw: UwsRequest): Promise<void> {
    const gone = new LazySignal();
    const head = readHead(raw);
    const { headers } = head;
    const body = new BodyCollector(declaredSize(headers), this.#options.requestTimeoutMs);
    const isHead = raw.getMethod() === 'head';
    const exchange: Exchange = { response, isHead, gone, body, isPart: hasBody(headers) };
    response.onAborted(() => {
      gone.abort();
      body.fail(new ClientGoneError());
      exchange.pump?.onGone();
      this.#forget(exchange);
    });
    response.onData((chunk, isLast) => {
      if (isLast) exchange.isPart = false;
      // After the answer is sent the library takes no more calls.
      if (!this.#open.has(exchange)) return;
      body.push(new Uint8Array(chunk));
      if (isLast) body.end();
      else if (body.isFull) this.#pause(exchange);
    });
    this.#open.add(exchange);
    const request = toRequest(raw, head, exchange);
    exchange.isLast = request.fault !== undefined;
    const answer = await this.#options.handle(request);
    // Bytes that came with the head are given behind this turn. The end of a refused request is unknown: before its answer
    // the library drops a connection that sends on; after the answer it would serve those bytes as a request.
    if (exchange.isLast || exchange.isPart) await new Promise(setImmediate);
    const answerBody = answer.body;
    goOn(exchange);
    exchange.onOver = answer.onOver;
    if (isBodyStream(answerBody)) {
      const isEnd = /\bclose\b/i.test(headers.get('connection') ?? '');
      const more = { Connection: isEnd ? 'close' : 'keep-alive' };
      const head = { ...answer, headers: { ...answer.headers, ...more } };
      await this.#sendStream(exchange, head, answerBody);
    } else if (gone.aborted) answer.onOver?.();
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
    if (gone.aborted) exchange.pump.onGone();
    else outlet.listen(() => exchange.pump?.onDrain());
    await exchange.pump.run();
    outlet.stop();
  }

  #send(exchange: Exchange, answer: HttpResponse, body: PlainBody): void {
    const { response, isHead } = exchange;
    const isLast = exchange.body.isCut || exchange.isPart || exchange.isLast === true;
    response.cork(() => {
      writeHead(response, answer);
      const size = bodySize(body);
      if (isHead || body === undefined || size === 0) {
        // endWithoutBody(size) waits for a body that never comes, unless the connection closes.
        if (isLast) response.endWithoutBody(size, true);
        else {
          if (body !== undefined) response.writeHeader('Content-Length', String(size));
          response.endWithoutBody();
        }
        this.#forget(exchange);
      } else if (isLast) {
        response.end(allBytes(body), true);
        this.#forget(exchange);
      } else this.#sendBody(exchange, body, answer.clientKey);
    });
  }

  /** Writes until the socket is full, and continues when it has room. */
  #sendBody(exchange: Exchange, body: Uint8Array | LazyBytes, clientKey?: string): void {
    const { response } = exchange;
    const totalSize = body.byteLength;
    const advance = (): void => {
      const startMs = performance.now();
      for (let offset = response.getWriteOffset(); ; offset = response.getWriteOffset()) {
        const chunk = body instanceof Uint8Array ? body.subarray(offset) : body.from(offset);
        const [isWritten, isDone] = response.tryEnd(chunk, totalSize);
        if (isDone) this.#forget(exchange);
        if (isDone || !isWritten) return;
        if (performance.now() - startMs <= SLICE_MS) continue;
        void sendOn();
        return;
      }
    };
    const sendOn = async (): Promise<void> => {
      await nextTimeSlice(clientKey);
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
   * Our own timeout for the reader of an answer. A write resets the library's timer, which else expires before a socket
   * with megabytes of room reports that a third is free.
   */
  #awaitReader(exchange: Exchange, sendOn: () => Promise<void>): void {
    const { response } = exchange;
    const { streamStallMs = STREAM_STALL_MS } = this.#options;
    let mark = { size: response.getWriteOffset(), atMs: performance.now() };
    const keepAliveTimer = setInterval(() => {
      if (!this.#open.has(exchange)) {
        clearInterval(keepAliveTimer);
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
    // A rehashed set keeps its old members, and the answer with them, until the next full collection. Measured: 4 MB
    // each; a full collection for every third answer, 12 of 29 ms on this thread.
    exchange.onOver = undefined;
    onOver?.();
    if (this.#open.size === 0) this.#onIdle?.();
  }
}

/** Bytes held back while the socket is full: one for each write or interval. */
const RESERVE_SIZE = 4096;
/** The library gathers writes up to this size, whatever the socket does. */
const GATHERED_SIZE = 16_384;

/**
 * The socket of a streamed response. The library sends its buffer only on a further write, and only then says whether
 * the socket took all; only `resume` resets its timeout, but it also ends the wait for room. So whenever there may be
 * room, and in each interval, one byte that was held back is written.
 */
class UwsOutlet implements Outlet {
  /** With smaller slices, a write that fills the socket with nothing held back is likelier. */
  readonly sliceSizeMax = 262_144;
  readonly #response: UwsResponse;
  readonly #head: HttpResponse;
  readonly #gone: LazySignal;
  readonly #onEnd: () => void;
  #onDrain: () => void = () => {};
  #isHeadWritten = false;
  #reserve: Uint8Array = new Uint8Array();
  #keepAliveTimer: NodeJS.Timeout | undefined;

  constructor(response: UwsResponse, head: HttpResponse, gone: LazySignal, onEnd: () => void) {
    this.#response = response;
    this.#head = head;
    this.#gone = gone;
    this.#onEnd = onEnd;
  }

  listen(listener: () => void): void {
    this.#onDrain = listener;
    this.#response.onWritable(() => {
      this.#writeReserve(1);
      return true;
    });
  }

  write(bytes: Uint8Array): boolean {
    const size = bytes.byteLength;
    const split = size > GATHERED_SIZE ? size - RESERVE_SIZE : size;
    let canWrite = this.#send(bytes.subarray(0, split));
    const rest = bytes.subarray(split);
    if (canWrite && rest.byteLength > 0) canWrite = this.#send(rest);
    else this.#reserve = rest;
    if (!canWrite) this.#keepAliveTimer = setInterval(() => this.#keepAlive(), KEEP_INTERVAL_MS);
    return canWrite;
  }

  #send(bytes: Uint8Array): boolean {
    let canWrite = true;
    this.#response.cork(() => {
      this.#writeHead();
      canWrite = this.#response.write(bytes);
    });
    return canWrite;
  }

  #writeHead(): void {
    if (!this.#isHeadWritten) writeHead(this.#response, this.#head);
    this.#isHeadWritten = true;
  }

  #keepAlive(): void {
    // Without a held back byte the library's own timeout applies.
    if (this.#gone.aborted || this.#reserve.byteLength === 0) return;
    this.#response.resume();
    this.#writeReserve(1);
  }

  /** Writes bytes of the reserve; if the socket takes them, the rest follows and there is room. */
  #writeReserve(size: number): void {
    const bytes = this.#reserve.subarray(0, size);
    this.#reserve = this.#reserve.subarray(size);
    if (bytes.byteLength > 0 && !this.#send(bytes)) return;
    if (this.#reserve.byteLength > 0) this.#writeReserve(this.#reserve.byteLength);
    else {
      clearInterval(this.#keepAliveTimer);
      this.#onDrain();
    }
  }

  end(): void {
    this.stop();
    this.#response.cork(() => {
      this.#writeHead();
      this.#response.end();
    });
    this.#onEnd();
  }

  drop(): void {
    this.stop();
    this.#response.close();
  }

  stop(): void {
    clearInterval(this.#keepAliveTimer);
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

function goOn(exchange: Exchange): void {
  clearTimeout(exchange.pauseEnd);
  if (exchange.isPaused === true && exchange.isOver !== true) exchange.response.resume();
  exchange.isPaused = false;
}

/** Waits for a body with our timeout. Why: the library drops a client that sends less than 160 KB within 10 s. */
async function keepReading(exchange: Exchange, reading: Promise<Buffer>): Promise<Buffer> {
  const keepAliveTimer = setInterval(() => {
    if (exchange.isOver === true) return;
    // Why a pause: without one the call below may end reading for good, seen 2026-12-01.
    exchange.response.pause();
    exchange.response.resume();
  }, KEEP_INTERVAL_MS);
  try {
    return await reading;
  } finally {
    clearInterval(keepAliveTimer);
  }
}

interface Head {
  readonly path: string;
  readonly rawQuery: string;
  readonly headers: HeaderMap;
  readonly fault: RequestFault | undefined;
}

function readHead(raw: UwsRequest): Head {
  const path = raw.getUrl();
  // Undefined without a question mark, whatever the types say.
  const rawQuery = raw.getQuery() || '';
  const headers = new HeaderMap();
  let size = path.length + rawQuery.length;
  raw.forEach((name, value) => {
    size += name.length + value.length + ': \r\n'.length;
    headers.append(name, value);
  });
  const fault = size > HEAD_SIZE_MAX ? headTooLarge() : faultOf(headers, '1.1');
  return { path, rawQuery, headers, fault };
}

function toRequest(raw: UwsRequest, head: Head, exchange: Exchange): HttpRequest {
  const { gone, body, response } = exchange;
  return {
    ...head,
    method: raw.getCaseSensitiveMethod().toUpperCase(),
    remoteAddress: Buffer.from(response.getRemoteAddressAsText()).toString(),
    signal: gone,
    async body(allowance) {
      if (exchange.isOver === true) throw new ClientGoneError();
      const reading = body.read(allowance);
      goOn(exchange);
      return await keepReading(exchange, reading);
    },
  };
}

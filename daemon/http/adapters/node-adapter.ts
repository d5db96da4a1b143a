// HttpAdapter over node:http, the default on every platform.

import { createServer } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { ListenOptions, Server as Listener, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LazyBytes } from '../../base/lazy-bytes.ts';
import { SLICE_MS, nextTimeSlice } from '../../base/next-time-slice.ts';
import {
  type AdapterOptions,
  bodySize,
  type BodyStream,
  type BoundAddress,
  ClientGoneError,
  HEAD_SIZE_MAX,
  HEAD_TIMEOUT_MS,
  type HttpAdapter,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  isBodyStream,
  type PlainBody,
  REQUEST_TIMEOUT_MS,
  RequestFault,
  STALL_SIZE,
  STALL_TIMEOUT_MS,
  STREAM_STALL_MS,
  UNCOUNTED_SIZE_MAX,
} from './adapter.ts';
import { LazySignal } from '../../base/cancellation.ts';
import { BodyCollector, HeaderMap, declaredSize, hasBody } from './exchange-parts.ts';
import { Connection, lingeringEnd, type NodeExchange } from './node-connection.ts';
import { BACKLOG, keepFromChildren, listenMore } from './more-listeners.ts';
import { Pump } from './pump.ts';
import { type Reader, StallTimer, receivedSize } from './stall-timer.ts';
import { faultOf, malformed, parseTarget, type Target } from './request-head.ts';

/** Idle connections end this long after the port is closed. */
const IDLE_MS = 100;
const UNREF = { ref: false };

/** The oldest ends if there are more. Measured: 75 KB each. */
export const HANDSHAKES_MAX = 2_048;

/** Bytes of an unread body that the library reads anyway. */
const READ_AHEAD_SIZE = 16_384;

const SERVER_OPTIONS: ServerOptions = {
  insecureHTTPParser: false,
  // Checked in faultOf, which gives our refusal.
  requireHostHeader: false,
  maxHeaderSize: HEAD_SIZE_MAX,
  headersTimeout: HEAD_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: STALL_TIMEOUT_MS,
};

const TLS_OPTIONS = {
  ...SERVER_OPTIONS,
  minVersion: 'TLSv1.2',
  handshakeTimeout: HEAD_TIMEOUT_MS,
  allowHalfOpen: true,
} as const;

export class NodeAdapter implements HttpAdapter {
  readonly kind = 'node';
  readonly #server: (Server | TlsServer) & { httpAllowHalfOpen?: boolean };
  /** On the same port (more-listeners.ts). */
  #more: readonly Listener[] = [];
  readonly #connections = new Map<Duplex, Connection>();
  /** Connections whose encryption has not begun, by address and port. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #handle: HttpHandler;
  readonly #requestTimeoutMs: number | undefined;
  readonly #streamStallMs: number | undefined;
  #isClosing = false;

  constructor(options: AdapterOptions) {
    this.#handle = options.handle;
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#streamStallMs = options.streamStallMs;
    const onRequest = (message: IncomingMessage, response: ServerResponse): void =>
      this.#onRequest(message, response);
    this.#server =
      options.isTls === true
        ? createTlsServer(TLS_OPTIONS, onRequest)
        : createServer(SERVER_OPTIONS, onRequest);
    // Headers beyond a count would be dropped silently; their total size is limited instead.
    this.#server.maxHeadersCount = 0;
    // Else the answers to a client that has sent its last byte are thrown away.
    this.#server.httpAllowHalfOpen = true;
    // The library's method also ends answers that are only partly sent, and spares connections with half a request.
    this.#server.closeIdleConnections = () => {};
    this.#server.on('checkContinue', onRequest);
    this.#server.on('checkExpectation', onRequest);
    const onConnection = (socket: Socket): void => {
      this.#handshakes.delete(peerOf(socket));
      this.#connections.set(socket, new Connection(socket, this.#handle));
      socket.once('close', () => this.#connections.delete(socket));
    };
    if (options.isTls === true) {
      this.#server.on('secureConnection', onConnection);
      this.#server.on('connection', (socket: Socket) => this.#awaitHandshake(socket));
    } else this.#server.on('connection', onConnection);
    this.#server.on('clientError', (error, socket) => {
      const connection = this.#connections.get(socket);
      // The library leaves it to us to end a handshake that is late.
      if (connection === undefined) socket.destroy();
      else connection.onFault(error);
    });
    this.#server.on('connect', (_, socket) => {
      this.#connections.get(socket)?.onFault(malformed('CONNECT'));
    });
  }

  #awaitHandshake(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once('close', () => this.#handshakes.delete(peer));
    if (this.#handshakes.size <= HANDSHAKES_MAX) return;
    const [[oldestPeer, oldest] = [peer, socket]] = this.#handshakes;
    this.#handshakes.delete(oldestPeer);
    oldest.destroy();
  }

  /** For connections that begin from now on. Errors: the pair is refused. */
  useCertificate(pair: SecureContextOptions): void {
    if (!('setSecureContext' in this.#server)) return;
    this.#server.setSecureContext({ ...pair, minVersion: TLS_OPTIONS.minVersion });
  }

  listen(host: string, port: number): Promise<BoundAddress> {
    return this.#listen({ host, port, exclusive: true });
  }

  /** Listens on a socket that was opened for this process. Errors: rejects if it is none of TCP. */
  async listenOn(fd: number): Promise<BoundAddress> {
    keepFromChildren(fd);
    return this.#listen({ fd });
  }

  #listen(where: ListenOptions & { readonly fd?: number }): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ ...where, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        if (address === null || typeof address === 'string')
          reject(new Error('the server has no TCP address'));
        else {
          this.#more = listenMore(this.#server);
          resolve({ host: address.address, port: address.port });
        }
      });
    });
  }

  /** Listens on a Unix socket; created when this returns. Errors: rejects if it cannot be created. */
  listenAt(socketPath: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socketPath, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const deadline = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    const closed = [this.#server, ...this.#more].map(
      (listener) => new Promise<void>((resolve) => void listener.close(() => resolve())),
    );
    // Bytes that have arrived are read in the next turn.
    await nextTimeSlice();
    await nextTimeSlice();
    // A busy client has sent its next request, or does so now: its answer ends the connection.
    await Promise.race([Promise.all(closed), sleep(Math.min(graceMs, IDLE_MS), undefined, UNREF)]);
    for (const socket of this.#handshakes.values()) socket.destroy();
    for (const connection of this.#connections.values()) connection.endWhenIdle();
    await Promise.all(closed);
    clearTimeout(deadline);
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const gone = new LazySignal();
    const headers = readHeaders(message);
    const body = new BodyCollector(declaredSize(headers), this.#requestTimeoutMs);
    const unasked = isLarge(headers) ? this.#awaitRequest(message, body) : undefined;
    const connection = this.#connections.get(message.socket);
    const exchange: Exchange = {
      message,
      response,
      headers,
      body,
      gone,
      serve: () => {
        if (isSmallBody(headers) && !message.complete)
          setImmediate(() => void this.#serve(exchange));
        else void this.#serve(exchange);
      },
    };
    response.on('close', () => {
      clearTimeout(unasked);
      if (response.writableFinished) body.abandon();
      else {
        gone.abort();
        body.fail(new ClientGoneError());
      }
      connection?.onClosed(exchange);
    });
    connection?.add(exchange);
  }

  /** Starts to read an unread body after a while, so that a leaving client is noticed. */
  #awaitRequest(message: IncomingMessage, body: BodyCollector): NodeJS.Timeout {
    return setTimeout(() => {
      body.giveUp();
      message.resume();
    }, this.#requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { message, response, gone } = exchange;
    const request = toRequest(exchange);
    const answer = await this.#handle(request);
    // Bytes that came with the head are parsed behind this turn.
    if (request.fault === undefined && isPart(exchange)) await new Promise(setImmediate);
    const answerBody = answer.body;
    const isLast = this.#isClosing || this.#mustEnd(exchange, request);
    if (isLast) response.setHeader('Connection', 'close');
    if (isBodyStream(answerBody)) {
      await this.#sendStream(response, answer, answerBody);
      return;
    }
    if (answer.onOver !== undefined) {
      if (response.closed) answer.onOver();
      else response.once('close', answer.onOver);
    }
    if (gone.aborted) return;
    if (isLast && !message.complete) closeSlowly(message.socket);
    try {
      const isHead = message.method === 'HEAD';
      await send(response, answer, isHead ? undefined : answerBody, this.#streamStallMs);
    } catch {
      // The peer left or stalled while we were writing.
      response.destroy();
    }
  }

  #mustEnd(exchange: Exchange, { fault }: HttpRequest): boolean {
    const { message, body } = exchange;
    const connection = this.#connections.get(message.socket);
    const isCut = connection?.isEnding === true && !message.complete;
    return body.isCut || fault !== undefined || isCut || isPart(exchange);
  }

  async #sendStream(
    response: ServerResponse,
    { status, headers }: HttpResponse,
    body: BodyStream,
  ): Promise<void> {
    response.writeHead(status, headers);
    const outlet = {
      sliceSizeMax: STALL_SIZE,
      write: (bytes: Uint8Array) => response.write(bytes),
      end: () => {
        const { socket } = response;
        response.end(this.#isClosing ? () => socket?.destroySoon() : undefined);
        endInTime(response, this.#streamStallMs);
      },
      ...readerOf(response),
    };
    const pump = new Pump(body, outlet, this.#streamStallMs);
    response.on('drain', () => pump.onDrain());
    response.on('close', () => pump.onGone());
    if (response.destroyed) pump.onGone();
    await pump.run();
  }
}

/** Some of the body has not arrived. Some proxies send the next request, of anybody, behind a part of a body. */
function isPart({ message, headers }: Exchange): boolean {
  return !message.complete && hasBody(headers);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function endInTime(response: ServerResponse, stallMs = STREAM_STALL_MS): void {
  // Most final writes fit into the socket's buffer.
  if (response.writableLength === 0) return;
  // Nothing is sent before the answer to the request before on this connection has ended.
  if (response.socket === null) {
    response.once('socket', () => endInTime(response, stallMs));
    return;
  }
  const stall = new StallTimer(readerOf(response), stallMs);
  response.once('close', () => stall.stop());
}

function readerOf(response: ServerResponse): Reader {
  return {
    receivedSize: () => receivedSize(response.socket),
    drop: () => void response.destroy(),
  };
}

interface Exchange extends NodeExchange {
  readonly headers: HeaderMap;
}

function readHeaders(message: IncomingMessage): HeaderMap {
  const headers = new HeaderMap();
  const { rawHeaders } = message;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  }
  // That version has no interim answers.
  if (message.httpVersion === '1.0') headers.delete('expect');
  return headers;
}

/** The library would close at once, and a reset caused by further bytes would discard what the client has not read. */
function closeSlowly(socket: Socket): void {
  socket.destroySoon = () => lingeringEnd(socket);
}

function toRequest(exchange: Exchange): HttpRequest {
  const { message, headers, body, gone } = exchange;
  const { target, fault } = checkHead(message, headers);
  return {
    method: message.method ?? 'GET',
    path: target.path,
    rawQuery: target.rawQuery,
    remoteAddress: message.socket.remoteAddress ?? '',
    fault,
    headers,
    signal: gone,
    body(allowance) {
      const hasArrived = takeArrived(exchange);
      const result = body.read(allowance, isAwaited(headers));
      if (!hasArrived && !body.isCut) startReading(exchange);
      return result;
    },
  };
}

/** The parsed target, or the fault of the head. The host of an absolute target replaces the Host header. */
function checkHead(
  { url = '/', httpVersion }: IncomingMessage,
  headers: HeaderMap,
): { target: Target; fault: RequestFault | undefined } {
  const fault = faultOf(headers, httpVersion);
  const target = parseTarget(url);
  if (target instanceof RequestFault) return { target: { path: '', rawQuery: '' }, fault: target };
  if (target.authority !== undefined) headers.set('host', target.authority);
  return { target, fault };
}

/**
 * Whether a body follows that nearly always comes with its head. The library parses it only after this turn's promises, so
 * such a request is served in the next phase of the loop. Measured: daemon/DECISIONS.md, 2026-11-29.
 */
function isSmallBody(headers: HeaderMap): boolean {
  const size = declaredSize(headers) ?? 0;
  return size > 0 && size <= UNCOUNTED_SIZE_MAX && !isAwaited(headers);
}

/** Takes a small body that has arrived whole, as nearly all have: listeners and a timer would take longer than reading it. */
function takeArrived({ message, headers, body }: Exchange): boolean {
  const isSmall = message.readableLength <= UNCOUNTED_SIZE_MAX;
  if (!message.complete || !isSmall || isAwaited(headers)) return false;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: no encoding is set
  body.finish((message.read() as Buffer | null) ?? Buffer.alloc(0));
  return true;
}

function startReading({ message, response, headers, body }: Exchange): void {
  if (isAwaited(headers)) response.writeContinue();
  message.on('data', (chunk: Buffer) => body.push(chunk));
  message.on('end', () => body.end());
  message.on('error', () => body.fail(new ClientGoneError()));
}

function isLarge(headers: HeaderMap): boolean {
  return (
    headers.get('transfer-encoding') !== undefined || (declaredSize(headers) ?? 0) > READ_AHEAD_SIZE
  );
}

function isAwaited(headers: HeaderMap): boolean {
  return headers.get('expect')?.toLowerCase() === '100-continue';
}

async function send(
  response: ServerResponse,
  answer: HttpResponse,
  body: PlainBody,
  stallMs = STREAM_STALL_MS,
): Promise<void> {
  const { status, headers, body: measured } = answer;
  const hasSize = measured !== undefined && !isBodyStream(measured);
  // In this order: behind another member a spread takes 4 us.
  const head = hasSize ? { ...headers, 'Content-Length': bodySize(measured) } : headers;
  response.writeHead(status, head);
  if (body === undefined) response.end();
  else if (body instanceof Uint8Array && body.byteLength <= STALL_SIZE) {
    response.end(body);
    endInTime(response, stallMs);
  } else await sendSlices(response, body, stallMs, answer.clientKey);
}

/** Errors: the client has left, or is too slow. */
async function sendSlices(
  response: ServerResponse,
  body: Uint8Array | LazyBytes,
  stallMs: number,
  clientKey?: string,
): Promise<void> {
  const reader = readerOf(response);
  let sliceStartMs = -Infinity;
  for (let offset = 0; offset < body.byteLength;) {
    // Also after a wait: many sockets drain at the same time.
    if (performance.now() - sliceStartMs > SLICE_MS) {
      await nextTimeSlice(clientKey);
      sliceStartMs = performance.now();
    }
    if (response.closed) throw new ClientGoneError();
    const chunk = body instanceof Uint8Array ? body.subarray(offset) : body.from(offset);
    const slice = chunk.subarray(0, STALL_SIZE);
    // One slice at a time: its bytes may be valid only until the next one is read.
    await written(response, slice, reader, stallMs);
    offset += slice.byteLength;
  }
  response.end();
}

/** Resolves when the system has taken the bytes. Errors: the client has left, or is too slow. */
function written(
  response: ServerResponse,
  bytes: Uint8Array,
  reader: Reader,
  stallMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stall = new StallTimer(reader, stallMs);
    const settle = (): void => {
      stall.stop();
      response.off('close', settle);
      if (response.closed) reject(new ClientGoneError());
      else resolve();
    };
    response.on('close', settle);
    response.write(bytes, settle);
  });
}

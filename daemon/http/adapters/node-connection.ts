// One connection of node:http. Its requests are served in order; a malformed one gets a refusal that the client has
// time to read. A client that has sent its last byte counts as gone a moment later, as most leaving clients send no
// more.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { RequestFault, isBodyStream } from './adapter.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from './adapter.ts';
import { paced } from '../../base/pace.ts';
import { LazySignal } from '../../base/cancellation.ts';
import { type BodyCollector, tooSlow } from './exchange-parts.ts';
import { headTooLarge, malformed } from './request-head.ts';

/** Time for answers to reach a client that has sent its last byte. */
const HALF_CLOSED_MS = 10;

/** A request that is being served or waits for the ones before it. */
export interface NodeExchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: BodyCollector;
  readonly gone: LazySignal;
  serve(): void;
}

export class Connection {
  readonly #socket: Socket;
  readonly #handle: HttpHandler;
  /** In order; the first is being served. */
  readonly #open: NodeExchange[] = [];
  #last: NodeExchange | undefined;
  /** What arrived after the last request. */
  #fault: RequestFault | undefined;
  #isToEnd = false;

  constructor(socket: Socket, handle: HttpHandler) {
    this.#socket = socket;
    this.#handle = handle;
    socket.on('end', () => this.#onEnd());
  }

  get isEnding(): boolean {
    return this.#fault !== undefined;
  }

  endWhenIdle(): void {
    this.#isToEnd = true;
    if (this.#open.length === 0) this.#endIdle();
  }

  #endIdle(): void {
    if (this.isEnding || this.#socket.writableEnded) return;
    // A client that is still sending must be able to read the answer.
    if (this.#last?.message.complete === false) lingeringEnd(this.#socket);
    else this.#socket.destroy();
  }

  add(exchange: NodeExchange): void {
    if (this.isEnding) return;
    this.#last = exchange;
    this.#open.push(exchange);
    if (this.#open.length > 1) this.#socket.pause();
    else exchange.serve();
  }

  /**
   * Starts the next pipelined request once this answer is done. Not earlier: node gives a waiting response no socket, so we
   * would not notice that its client left.
   */
  onClosed(exchange: NodeExchange): void {
    if (this.#open[0] !== exchange || this.#socket.destroyed) return;
    this.#open.shift();
    if (this.#open.length === 1) this.#socket.resume();
    const [next] = this.#open;
    if (next !== undefined) next.serve();
    else if (this.#fault !== undefined) void this.#refuse(this.#fault);
    else if (this.#isToEnd) this.#endIdle();
  }

  onFault(error: Error): void {
    if (this.isEnding || this.#socket.destroyed) return;
    const fault = toFault(error);
    // The connection failed, or the client left during a request.
    if (fault === undefined) {
      this.#socket.destroy();
      return;
    }
    this.#fault = fault;
    const last = this.#open.at(-1);
    if (last !== undefined && !last.message.complete) last.body.fail(fault);
    if (this.#open.length === 0) void this.#refuse(fault);
  }

  /** Refuses the bytes after the last request. No refusal if they belong to a request that is answered. */
  async #refuse(fault: RequestFault): Promise<void> {
    if (this.#last !== undefined) await closed(this.#last.response);
    if (this.#last?.message.complete === false) lingeringEnd(this.#socket);
    else if (!this.#socket.destroyed) {
      // Connections that opened together and sent nothing time out in the same turn.
      await paced('');
      const response = await this.#handle(unreadable(fault, this.#socket));
      lingeringEnd(this.#socket, toText(response));
    }
  }

  #onEnd(): void {
    if (this.#open.length === 0) return;
    const timer = setTimeout(() => {
      if (this.#open.length > 0) this.#socket.destroy();
    }, HALF_CLOSED_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}

function closed(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => {
    response.once('close', resolve);
  });
}

/** Ends the connection slowly, so that a client that is still sending can read the answer. */
export function lingeringEnd(socket: Socket, text = ''): void {
  // Time for a refused client to read the refusal; what it still sends is discarded.
  const timer = setTimeout(() => socket.destroy(), 2000);
  socket.once('close', () => clearTimeout(timer));
  socket.end(text, 'latin1');
  socket.resume();
}

/** The library's error in our words; undefined: the peer is gone. */
function toFault(error: Error): RequestFault | undefined {
  if (error instanceof RequestFault) return error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow();
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge();
  const isOfParser = typeof code === 'string' && code.startsWith('HPE_');
  if (!isOfParser || code === 'HPE_INVALID_EOF_STATE') return undefined;
  return malformed('reason' in error ? String(error.reason) : code);
}

/** A request that cannot be parsed and must be refused. */
function unreadable(fault: RequestFault, socket: Socket): HttpRequest {
  return {
    method: 'GET',
    path: '',
    rawQuery: '',
    remoteAddress: socket.remoteAddress ?? '',
    signal: new LazySignal(),
    fault,
    headers: new Map(),
    body: () => Promise.reject(fault),
  };
}

/** The refusal as raw HTTP text, in latin-1. */
function toText({ status, headers, body }: HttpResponse): string {
  if (body === undefined || isBodyStream(body) || !(body instanceof Uint8Array)) return '';
  const fields = { ...headers, 'Content-Length': body.byteLength, Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const text = Buffer.from(body).toString('latin1');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}

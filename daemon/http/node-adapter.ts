// HttpAdapter over node:http: the one that runs everywhere.

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { piecesOf } from '../api/lazy-bytes.ts';
import type { LazyBytes } from '../api/lazy-bytes.ts';
import { STALL_TIMEOUT_MS, bodySize, isBodyStream } from './adapter.ts';
import type {
  AdapterOptions,
  BodyStream,
  BoundAddress,
  HttpAdapter,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  PlainBody,
} from './adapter.ts';
import { Pump } from './pump.ts';
import { BodyCollector, HeaderMap, LazySignal, declaredSize } from './exchange-parts.ts';

export class NodeAdapter implements HttpAdapter {
  readonly kind = 'node';
  readonly #server: Server;
  readonly #handle: HttpHandler;
  readonly #bodySizeMax: number;
  readonly #streamStallMs: number | undefined;
  #isClosing = false;

  constructor(options: AdapterOptions) {
    this.#handle = options.handle;
    this.#bodySizeMax = options.bodySizeMax;
    this.#streamStallMs = options.streamStallMs;
    this.#server = createServer({ keepAliveTimeout: STALL_TIMEOUT_MS }, (message, response) => {
      void this.#serve(message, response);
    });
  }

  listen(host: string, port: number): Promise<BoundAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        if (address === null || typeof address === 'string') reject(new Error('no TCP address'));
        else resolve({ host: address.address, port: address.port });
      });
    });
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const deadline = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
    clearTimeout(deadline);
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new LazySignal();
    const headers = readHeaders(message);
    const body = new BodyCollector(this.#bodySizeMax, declaredSize(headers));
    response.on('close', () => {
      if (response.writableFinished) return;
      gone.abort();
      body.abort();
    });
    const answer = await this.#handle(toRequest(message, headers, body, gone));
    const answerBody = answer.body;
    if (isBodyStream(answerBody)) {
      await this.#sendStream(response, answer, answerBody);
      return;
    }
    if (gone.isAborted) return;
    if (this.#isClosing || body.isOverrun) response.setHeader('Connection', 'close');
    try {
      await send(response, answer, answerBody, message.method === 'HEAD');
    } catch {
      // The peer went away or stalled while it was written to.
      response.destroy();
    }
  }

  async #sendStream(
    response: ServerResponse,
    { status, headers }: HttpResponse,
    body: BodyStream,
  ): Promise<void> {
    response.writeHead(status, headers);
    const outlet = {
      write: (bytes: Uint8Array) => response.write(bytes),
      end: (isWhole: boolean) => {
        const isLast = !isWhole || this.#isClosing;
        const { socket } = response;
        response.end(isLast ? () => socket?.destroySoon() : undefined);
      },
      drop: () => void response.destroy(),
    };
    const pump = new Pump(body, outlet, this.#streamStallMs);
    response.on('drain', () => pump.onRoom());
    response.on('close', () => pump.onGone());
    if (response.destroyed) pump.onGone();
    await pump.run();
  }
}

function readHeaders(message: IncomingMessage): HeaderMap {
  const headers = new HeaderMap();
  const { rawHeaders } = message;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    headers.add(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  }
  return headers;
}

function toRequest(
  message: IncomingMessage,
  headers: HeaderMap,
  body: BodyCollector,
  gone: LazySignal,
): HttpRequest {
  const target = message.url ?? '/';
  const queryStart = target.indexOf('?');
  let isReading = false;
  return {
    method: message.method ?? 'GET',
    path: queryStart < 0 ? target : target.slice(0, queryStart),
    rawQuery: queryStart < 0 ? '' : target.slice(queryStart + 1),
    remoteAddress: message.socket.remoteAddress ?? '',
    get signal() {
      return gone.signal;
    },
    header: (name) => headers.get(name),
    body() {
      if (!isReading) {
        isReading = true;
        message.on('data', (piece: Buffer) => body.push(piece));
        message.on('end', () => body.end());
        message.on('error', () => body.abort());
      }
      return body.result();
    },
  };
}

async function send(
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: PlainBody,
  isHead: boolean,
): Promise<void> {
  response.setTimeout(STALL_TIMEOUT_MS, () => response.destroy());
  if (body !== undefined) response.setHeader('Content-Length', bodySize(body));
  response.writeHead(status, headers);
  if (body === undefined || isHead) response.end();
  else if (body instanceof Uint8Array) response.end(body);
  else await pipeline(Readable.from(copiesOf(body), { objectMode: false }), response);
}

/** The pieces of a body, each in memory of its own: the stream keeps more than one. */
function* copiesOf(body: LazyBytes): Generator<Uint8Array> {
  for (const { piece } of piecesOf(body)) yield piece.slice();
}

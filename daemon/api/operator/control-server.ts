// The control socket: commands on the same machine send JSON by POST and get JSON or a stream of bytes. Whoever can
// open the socket is the operator. It is served on no other address.

import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import {
  ACCOUNT_HEADER,
  makeControlPath,
  removeControlPath,
} from '../../base/config/control-path.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { OperatorApi } from './operations.ts';

/** How long to wait for running operations. */
const GRACE_MS = 5_000;
/** Limit for an input in bytes; the longest is a list of 10,000 names. */
const INPUT_SIZE_MAX = 16 * 1024 * 1024;

export interface ControlServerOptions {
  readonly dataDir: string;
  /** Its errors go to the command. */
  readonly operatorApi: OperatorApi;
  readonly log: Log;
}

export interface ControlServer {
  /** Stops accepting, lets short requests finish, drops streams. */
  close(): Promise<void>;
}

/** Listens in the data directory, which the caller owns. If that fails, logs it and continues without. */
export async function startControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { dataDir, log } = options;
  const abort = new AbortController();
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = answer(options, request, response, abort.signal);
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  try {
    await listen(server, makeControlPath(dataDir));
  } catch (error) {
    log.warn('commands such as "trawl user" cannot reach this daemon', { error: String(error) });
    removeControlPath(dataDir);
    return { close: () => Promise.resolve() };
  }
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      abort.abort(new Error('the daemon is stopping'));
      await Promise.race([Promise.allSettled(running), setTimeout(GRACE_MS, null, { ref: false })]);
      server.closeAllConnections();
      await closed;
      removeControlPath(dataDir);
    },
  };
}

async function listen(server: Server, socketPath: string): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', resolve);
  });
  // Safety: the socket is created with this mask, so nobody else can open it even for a moment.
  const before = process.umask(0o177);
  try {
    server.listen(socketPath);
  } finally {
    process.umask(before);
  }
  await listening;
  chmodSync(socketPath, 0o600);
}

async function answer(
  { operatorApi, log }: ControlServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  try {
    const name = (request.url ?? '').slice(1);
    const input = await readInput(request);
    if (name !== 'backup') {
      sendJson(response, 200, (await operatorApi.run(name, input, accountOf(request))) ?? null);
      return;
    }
    const parts = Readable.from(operatorApi.backup(input, signal), { objectMode: false });
    // Why: an error before the first byte becomes an answer; after it the connection can only be closed.
    await new Promise((resolve, reject) => {
      parts.once('readable', resolve);
      parts.once('error', reject);
    });
    response.writeHead(200, { 'content-type': 'application/gzip' });
    await pipeline(parts, response, { signal });
  } catch (error) {
    if (response.headersSent) {
      log.warn('an operation was interrupted', { error: String(error) });
      response.destroy();
      return;
    }
    sendJson(response, 400, errorBody(error));
    if (!hasCode(error)) log.error('an operation failed', { error });
  }
}

function accountOf(request: IncomingMessage): string | undefined {
  const value = request.headers[ACCOUNT_HEADER];
  return typeof value === 'string' ? decodeURIComponent(value) : undefined;
}

/** Errors: Error for an input above INPUT_SIZE_MAX, which closes the connection; SyntaxError. */
async function readInput(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > INPUT_SIZE_MAX) throw new Error(`input exceeds ${INPUT_SIZE_MAX} bytes`);
    parts.push(bytes);
  }
  const input: unknown = JSON.parse(Buffer.concat(parts).toString());
  return input;
}

function hasCode(error: unknown): error is Error & { readonly errorCode: string } {
  return error instanceof Error && 'errorCode' in error && typeof error.errorCode === 'string';
}

function errorBody(error: unknown): { errorCode: string; message: string } {
  const errorCode = hasCode(error) ? error.errorCode : 'UNEXPECTED_ERROR';
  return { errorCode, message: messageOf(error) };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

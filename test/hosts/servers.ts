// Servers on loopback for the tests of code hosts: one with programmable answers and recorded requests, with and
// without TLS, and a proxy.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createLog, type Log } from '../../daemon/base/log.ts';

export interface Requested {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An answer: a value goes out as JSON, a text as it is. */
export interface StandInReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
  /** Ends the connection after so many bytes of the body. */
  readonly cutAt?: number;
}

export interface RunningServer {
  readonly url: string;
  readonly requested: readonly Requested[];
  close(): Promise<void>;
}

/** Certificate and key of a server on 127.0.0.1, signed by an authority of the test. */
export interface Certificates {
  readonly caFile: string;
  readonly cert: string;
  readonly key: string;
}

type Answering = (
  requested: Requested,
) => StandInReply | 'silence' | 'hang up' | Promise<StandInReply | 'hang up'>;

export async function startServer(
  t: Pick<TestContext, 'after'>,
  answer: Answering,
  tls?: Certificates,
): Promise<RunningServer> {
  const requested: Requested[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://host');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', headers } = request;
    const one = { method, path: url.pathname, query: url.searchParams, headers, body };
    requested.push(one);
    const reported = await answer(one);
    if (reported === 'silence') return;
    if (reported === 'hang up') {
      request.socket.destroy();
      return;
    }
    const bytes = bytesOf(reported.body ?? '');
    const type =
      typeof reported.body === 'string' ? 'text/html' : 'application/json; charset=utf-8';
    response.writeHead(reported.status ?? 200, {
      'content-type': type,
      'content-length': bytes.length,
      ...reported.headers,
    });
    if (reported.cutAt === undefined) response.end(bytes);
    else response.write(bytes.subarray(0, reported.cutAt), () => request.socket.destroy());
  };
  const listener: RequestListener = (request, response) => void serve(request, response);
  const server =
    tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  const address = await listen(server);
  const close = async (): Promise<void> => stop(server);
  t.after(close);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}`,
    requested,
    close,
  };
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function listen(server: net.Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address() as AddressInfo;
}

async function stop(server: Server | https.Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

export interface RunningProxy {
  readonly url: string;
  /** `CONNECT host:port`, or method and address. */
  readonly requested: readonly string[];
  /** The credentials that came, by request. */
  readonly credentials: readonly (string | undefined)[];
}

/** A proxy that makes tunnels, and asks for whatever is not to be tunnelled itself. */
export async function startProxy(t: Pick<TestContext, 'after'>): Promise<RunningProxy> {
  const requested: string[] = [];
  const credentials: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    credentials.push(request.headers['proxy-authorization']);
    const { method, headers } = request;
    // As proxies do: it is for them.
    delete headers['proxy-authorization'];
    const onward = http.request(request.url ?? '', { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket: net.Socket) => {
    requested.push(`CONNECT ${request.url}`);
    credentials.push(request.headers['proxy-authorization']);
    const [host, port] = (request.url ?? '').split(':');
    const onward = net.connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const { port } = await listen(server);
  t.after(() => stop(server));
  return { url: `127.0.0.1:${port}`, requested, credentials };
}

/** Made by openssl, for a day. */
export function makeCertificates(t: Pick<TestContext, 'after'>): Certificates {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-ca-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const openssl = (args: string): unknown =>
    execFileSync('openssl', args.split(' '), { cwd: folder, stdio: 'pipe' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
  const signed = '-CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 1 -extfile names';
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.pem -subj /CN=test-authority -days 1`);
  openssl(`req ${newKey} -keyout key.pem -out request.pem -subj /CN=127.0.0.1`);
  writeFileSync(path.join(folder, 'names'), 'subjectAltName=IP:127.0.0.1');
  openssl(`x509 -req -in request.pem ${signed}`);
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  return { caFile: path.join(folder, 'ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}

/** A log, and all that was written to it. */
export function recordingLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line) });
  return { log, lines };
}

// Real git servers on loopback for the tests of mirrors: `git http-backend` behind a small HTTP server with Basic
// authentication, which can be slow, cut answers, redirect and end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import type { Certificates } from '../servers.ts';
import { git, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';

export interface GitServerOptions {
  /** Where the repositories are. */
  readonly root: string;
  /** `user:password`; without it everybody may read. */
  readonly login?: string;
  readonly tls?: Certificates;
}

export interface GitRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly version: string | undefined;
}

export class GitServer {
  readonly #options: GitServerOptions;
  readonly #server: Server;
  readonly #backends = new Set<ChildProcess>();
  readonly requests: GitRequest[] = [];
  /** Of `user:password` now. */
  login: string | undefined;
  /** Where a path is instead; a whole address leads to another host. */
  redirect: ((path: string) => string | undefined) | undefined;
  /** Unit: ms. Before each answer. */
  delayMs = 0;
  /** Answers of objects end after so many bytes; undefined: they do not. */
  cutAt: number | undefined;
  /** An answer with objects pauses once after so many bytes, calls this, and continues when it resolves. */
  pauseAt: { readonly size: number; readonly until: () => Promise<unknown> } | undefined;
  /** Whether the protocol is that of before version 2. */
  isOld = false;
  /** Answers in place of git's. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  port = 0;

  private constructor(options: GitServerOptions) {
    this.#options = options;
    this.login = options.login;
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#serve(request, response);
    };
    this.#server =
      options.tls === undefined ? http.createServer(serve) : https.createServer(options.tls, serve);
  }

  static async start(t: Pick<TestContext, 'after'>, options: GitServerOptions): Promise<GitServer> {
    const server = new GitServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.port = (server.#server.address() as AddressInfo).port;
    t.after(() => server.close());
    return server;
  }

  get url(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const backend of this.#backends) backend.kill('SIGKILL');
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    const { authorization } = request.headers;
    const version = request.headers['git-protocol'];
    this.requests.push({
      method: request.method ?? '',
      path: url.pathname,
      authorization,
      version: typeof version === 'string' ? version : undefined,
    });
    if (this.delayMs > 0) await sleep(this.delayMs);
    if (this.answer?.(request, response) === true) return;
    const target = this.redirect?.(url.pathname);
    if (target !== undefined) {
      response.writeHead(301, { location: target + url.search }).end();
      return;
    }
    if (this.login !== undefined && authorization !== basic(this.login)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no');
      return;
    }
    this.#runBackend(request, response, url);
  }

  #runBackend(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const { headers, method = '' } = request;
    const backend = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.#options.root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        REQUEST_METHOD: method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        ...(headers['content-length'] === undefined
          ? {}
          : { CONTENT_LENGTH: headers['content-length'] }),
        ...(this.isOld ? {} : { GIT_PROTOCOL: String(headers['git-protocol'] ?? '') }),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#backends.add(backend);
    backend.once('close', () => this.#backends.delete(backend));
    backend.stdin.on('error', () => {});
    request.pipe(backend.stdin);
    response.on('close', () => backend.kill('SIGKILL'));
    void this.#pass(backend, response, url.pathname);
  }

  async #pass(backend: ChildProcess, response: ServerResponse, path: string): Promise<void> {
    let head: Buffer | undefined = Buffer.alloc(0);
    let size = 0;
    let pause = this.pauseAt;
    for await (const chunk of backend.stdout!) {
      let bytes = chunk as Buffer;
      if (head !== undefined) {
        head = Buffer.concat([head, bytes]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) continue;
        writeHead(response, head.toString('latin1', 0, end));
        bytes = head.subarray(end + 4);
        head = undefined;
      }
      size += bytes.length;
      const isPack = path.endsWith('/git-upload-pack') && size > 4096;
      if (isPack && this.cutAt !== undefined && size > this.cutAt) {
        response.write(bytes.subarray(0, bytes.length - (size - this.cutAt)), () =>
          response.socket?.destroy(),
        );
        return;
      }
      if (isPack && pause !== undefined && size > pause.size) {
        // Part of the bytes is always held back: git must not get everything at once.
        const early = Math.max(0, bytes.length - (size - pause.size));
        response.write(bytes.subarray(0, early));
        bytes = bytes.subarray(early);
        const { until } = pause;
        pause = undefined;
        await until();
      }
      if (response.destroyed) return;
      if (!response.write(bytes)) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
  }
}

/** Resolves when more may be written, or nobody reads it any more. */
async function drained(response: ServerResponse): Promise<void> {
  const done = new AbortController();
  const { signal } = done;
  const events = ['drain', 'close'].map((event) =>
    once(response, event, { signal }).catch(() => {}),
  );
  await Promise.race(events);
  done.abort();
}

function writeHead(response: ServerResponse, text: string): void {
  const headers = text.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const status = headers.find(([name]) => name === 'status')?.[1].slice(0, 3) ?? '200';
  response.writeHead(
    Number(status),
    Object.fromEntries(headers.filter(([name]) => name !== 'status')),
  );
}

export function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until a server listens on the port, without a limit: the time limit of the test applies. */
export async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}

export interface Origin {
  readonly root: string;
  /** Bare, below `root`; served. */
  readonly repo: string;
  /** A work tree that pushes to it. */
  readonly tree: string;
  readonly server: GitServer;
  readonly url: string;
}

/** A served repository of these files with a branch, a tag, and refs that mirrors leave out. */
export async function startOrigin(
  t: Pick<TestContext, 'after'>,
  files: Parameters<typeof makeRepo>[0],
  { format = 'sha1', ...options }: OriginOptions = {},
): Promise<Origin> {
  const root = temporaryFolder();
  const repo = path.join(root, 'one.git');
  const tree = makeRepo(files, format);
  git(tree, 'tag', '-a', '-m', 'first', 'v1');
  git(root, 'init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, repo);
  git(tree, 'push', '-q', repo, 'main', 'v1', 'main:refs/pull/1/head', 'main:refs/notes/x');
  const server = await GitServer.start(t, { root, ...options });
  return { root, repo, tree, server, url: `${server.url}/one.git` };
}

type OriginOptions = Partial<GitServerOptions> & { readonly format?: 'sha1' | 'sha256' };

/** Bytes that do not pack, so that there is something to send. */
export function noise(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed + 1;
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

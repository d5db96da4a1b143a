// A proxy before a daemon: all requests of a browser pass it, those of workers too, and every answer. Unlike the
// interception of the browser driver it keeps the cache of the browser, without which each page is loaded anew.

import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

const servers = new Set<Server>();

after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

export interface ProxyOptions {
  /** Address of the daemon. */
  readonly url: string;
  /** Hands an answer on, or another in its place; its head is written. @param path  what was asked for */
  readonly pass: (path: string, reply: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** 1: something is asked for; -1: its answer is over, or was left. */
  readonly onRequested?: (by: 1 | -1) => void;
  /** An answer was left before its end. */
  readonly onAbandoned?: () => void;
}

/** Opens a proxy, and tells its address. It is closed at the end of the file. */
export async function openProxy({
  url,
  pass,
  onRequested,
  onAbandoned,
}: ProxyOptions): Promise<string> {
  const { host, origin } = new URL(url);
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    onRequested?.(1);
    const answer = async (reply: IncomingMessage): Promise<void> => {
      // Without the length: what is handed on may be another text.
      const { 'content-length': _, ...headers } = reply.headers;
      response.writeHead(reply.statusCode ?? 502, headers);
      await pass(path, reply, response);
    };
    const passed = request(
      `${url}${path}`,
      {
        method: incoming.method,
        headers: { ...incoming.headers, host, origin, 'accept-encoding': 'identity' },
      },
      (reply) => void answer(reply).catch(() => response.destroy()),
    );
    passed.on('error', () => response.destroy());
    response.on('close', () => {
      onRequested?.(-1);
      if (response.writableEnded) return;
      onAbandoned?.();
      passed.destroy();
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.add(server);
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** An answer of the daemon. */
export interface Recorded {
  readonly url: string;
  readonly body: string;
}

export interface RecordingProxy {
  readonly url: string;
  readonly answers: Recorded[];
  /** Resolves once nothing has been asked or answered for a moment from now. */
  readonly settled: () => Promise<void>;
}

/** ms after which a page that asks for nothing has what it wants. */
const SETTLED_MS = 150;

/** A proxy that keeps what the daemon answers to calls of its API. */
export async function openRecordingProxy(url: string): Promise<RecordingProxy> {
  const answers: Recorded[] = [];
  const open = { count: 0, changedAt: performance.now() };
  const note = (by: 1 | -1): void => {
    open.count += by;
    open.changedAt = performance.now();
  };
  const settled = async (): Promise<void> => {
    open.changedAt = performance.now();
    while (open.count > 0 || performance.now() < open.changedAt + SETTLED_MS)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const pass = async (path: string, reply: IncomingMessage, response: ServerResponse) => {
    let body = '';
    if (path.startsWith('/api/')) reply.setEncoding('utf8');
    for await (const chunk of reply) {
      if (typeof chunk === 'string') body += chunk;
      response.write(chunk);
    }
    // Before the page can show it.
    if (path.startsWith('/api/')) answers.push({ url: path, body });
    response.end();
  };
  return { url: await openProxy({ url, pass, onRequested: note }), answers, settled };
}

// A node:http server for tests of clients.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlainServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A server on a free port, which hands each request to `answer` when its body has come. */
export async function startPlainServer(
  answer: (request: IncomingMessage, body: string, reply: ServerResponse) => void,
): Promise<PlainServer> {
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => answer(request, body, reply));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

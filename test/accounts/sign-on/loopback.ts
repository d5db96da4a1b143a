// Servers of identity providers for tests, on loopback. They end with the file.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

const servers = new Set<Server>();

after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

export async function serveOnLoopback(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.add(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

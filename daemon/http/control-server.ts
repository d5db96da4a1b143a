// Serves the API on the control socket, for commands on the same machine. Whoever can open the socket is the operator.

import { chmodSync } from 'node:fs';
import { operatorCaller } from '../accounts/caller.ts';
import { ACCOUNT_HEADER, makeControlPath, removeControlPath } from '../base/config/control-path.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import { NodeAdapter } from './adapters/node-adapter.ts';
import type { Pipeline } from './pipeline.ts';

const GRACE_MS = 5_000;

export interface ControlServer {
  close(): Promise<void>;
}

/** Listens in the data directory; if its file system has no sockets, in a private folder. Rejects if neither works. */
export async function startControlServer(
  dataDir: string,
  pipeline: Pick<Pipeline, 'handle'>,
): Promise<ControlServer> {
  const adapter = new NodeAdapter({
    handle: (request) => pipeline.handle(request, operatorCaller(accountOf(request))),
  });
  try {
    await listen(adapter, makeControlPath(dataDir)).catch(() =>
      listen(adapter, makeControlPath(dataDir, true)),
    );
  } catch (error) {
    removeControlPath(dataDir);
    throw error;
  }
  return {
    async close() {
      await adapter.close(GRACE_MS);
      removeControlPath(dataDir);
    },
  };
}

async function listen(adapter: NodeAdapter, socketPath: string): Promise<void> {
  // Safety: the socket is created with this mask, so nobody else can open it even for a moment.
  const before = process.umask(0o177);
  const listening = adapter.listenAt(socketPath);
  process.umask(before);
  await listening;
  chmodSync(socketPath, 0o600);
}

/** The account that the command reports; undefined: none, or not readable. */
function accountOf(request: HttpRequest): string | undefined {
  try {
    return decodeURIComponent(request.headers.get(ACCOUNT_HEADER) ?? '') || undefined;
  } catch {
    return undefined;
  }
}

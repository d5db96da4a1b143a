// Client of the control socket (api/operator/control-server.ts): makes the daemon that owns a data directory run
// operations.

import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { ACCOUNT_HEADER } from '../base/config/control-path.ts';
import type { OperatorApi } from '../api/operator/operations.ts';
import { systemCodeOf } from '../base/caught.ts';
import { UsageError } from './errors.ts';

/** No daemon listens. */
export class NoDaemonError extends Error {
  override readonly name = 'NoDaemonError';
}

/** Errors of a connection that nobody accepts. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR', 'ECONNRESET', 'EPIPE'];

/**
 * The operations of the daemon at this socket. The signal of a backup is ignored.
 *
 * Errors: those of the operation: NoDaemonError; UsageError with the message of a refusal.
 */
export function operatorApiAt(socketPath: string): OperatorApi {
  return {
    run: async (name, input, account) => json(await call(socketPath, name, input, account)),
    async *backup(input) {
      for await (const part of await call(socketPath, 'backup', input)) yield Buffer.from(part);
    },
  };
}

/** Sends the input; resolves with the head of the answer. */
async function call(
  socketPath: string,
  name: string,
  input: unknown,
  account?: string,
): Promise<IncomingMessage> {
  const response = await send(socketPath, name, JSON.stringify(input), account);
  if (response.statusCode === 200) return response;
  const body: unknown = await json(response);
  const isError = typeof body === 'object' && body !== null && 'message' in body;
  throw new UsageError(
    isError ? String(body.message) : 'the daemon refused without giving a reason',
  );
}

function send(
  socketPath: string,
  name: string,
  body: string,
  account: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Why wait for "continue": a stopping daemon resets connections that it has not accepted. Before "continue" nothing
    // was done.
    let isLetIn = false;
    const sent = request(
      {
        socketPath,
        path: `/${name}`,
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          expect: '100-continue',
          'content-length': Buffer.byteLength(body),
          ...(account === undefined ? {} : { [ACCOUNT_HEADER]: encodeURIComponent(account) }),
        },
      },
      resolve,
    );
    sent.on('continue', () => {
      isLetIn = true;
      sent.end(body);
    });
    sent.on('error', (error) => {
      const codes = isLetIn ? [] : NOBODY;
      reject(codes.includes(systemCodeOf(error) ?? '') ? new NoDaemonError(socketPath) : error);
    });
  });
}

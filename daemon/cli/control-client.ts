// The other end of http/control-server.ts: has the daemon that owns a data directory do things.

import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { ACCOUNT_HEADER } from '../base/config/control-path.ts';
import { systemCodeOf } from '../base/caught.ts';
import { UsageError } from './errors.ts';
import { systemAccount } from './system-account.ts';

/** Nobody listens. */
export class NoDaemonError extends Error {
  override readonly name = 'NoDaemonError';
}

/**
 * Sends the input; resolves with what is answered, the head of it.
 *
 * Errors: NoDaemonError; UsageError with the message of a refusal.
 */
export async function callControl(
  socketPath: string,
  name: string,
  input: object,
): Promise<IncomingMessage> {
  const response = await send(socketPath, name, JSON.stringify(input));
  if (response.statusCode === 200) return response;
  const body: unknown = await json(response);
  const isError = typeof body === 'object' && body !== null && 'message' in body;
  throw new UsageError(isError ? String(body.message) : 'the daemon refused without a reason');
}

/** The answer of an operation. Errors: as `callControl`. */
export async function callOperation(
  socketPath: string,
  name: string,
  input: object,
): Promise<unknown> {
  const body: unknown = await json(await callControl(socketPath, name, input));
  return body;
}

function send(socketPath: string, name: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        path: `/${name}`,
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          [ACCOUNT_HEADER]: encodeURIComponent(systemAccount()),
        },
      },
      resolve,
    );
    sent.on('error', (error) => reject(isNobody(error) ? new NoDaemonError(socketPath) : error));
    sent.end(body);
  });
}

function isNobody(error: Error): boolean {
  return ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR'].includes(systemCodeOf(error) ?? '');
}

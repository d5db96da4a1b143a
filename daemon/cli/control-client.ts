// Client of the control socket (http/control-server.ts): sends requests to whoever owns a data directory.

import { type IncomingMessage, request } from 'node:http';
import { userInfo } from 'node:os';
import { ACCOUNT_HEADER } from '../base/config/control-path.ts';
import { systemCodeOf } from '../base/caught.ts';
import { UsageError } from './errors.ts';

export class NoDaemonError extends Error {
  override readonly name = 'NoDaemonError';
}

export interface ControlCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly account: string;
  /** Further ones, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Error codes if no process listens on the socket. */
const NOT_THERE = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR'];
/** Error codes if the process closed the connection before it answered. */
const GONE = ['ECONNRESET', 'EPIPE'];

/**
 * The head of the answer. Errors: NoDaemonError, if nothing was done; UsageError, if that is unknown; those of the
 * connection.
 */
export function callControl(
  socketPath: string,
  { method, path, body, account, headers: further, signal }: ControlCall,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A stopping daemon resets connections that it has not accepted. Until it answers "100 Continue", it has done nothing.
    let isContinued = false;
    const bodyHeaders = body !== undefined && {
      'content-type': 'application/json',
      expect: '100-continue',
      'content-length': Buffer.byteLength(body),
    };
    const headers = { ...further, [ACCOUNT_HEADER]: encodeURIComponent(account), ...bodyHeaders };
    const sent = request({ socketPath, path, method, agent: false, headers, signal });
    sent.on('continue', () => {
      isContinued = true;
      sent.end(body);
    });
    sent.on('response', (response) => {
      // Refused before its body was requested.
      if (body !== undefined && !isContinued) response.once('end', () => sent.destroy());
      resolve(response);
    });
    sent.on('error', (error) => {
      const code = systemCodeOf(error) ?? '';
      const isUnchanged = method === 'GET' || (body !== undefined && !isContinued);
      if (NOT_THERE.includes(code) || (isUnchanged && GONE.includes(code)))
        reject(new NoDaemonError(`no daemon answers at ${socketPath}`, { cause: error }));
      else reject(isUnchanged || !GONE.includes(code) ? error : unknownOutcome(error));
    });
    if (body === undefined) sent.end();
    else sent.flushHeaders();
  });
}

function unknownOutcome(error: Error): UsageError {
  return new UsageError(
    'the daemon went away before it answered: check whether the change was made, and repeat the command if not',
    { cause: error },
  );
}

/** The system account of this process; without a name, as in some containers, `uid` and its number. */
export function systemAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${String(process.getuid?.() ?? 'unknown')}`;
  }
}

// Further listeners on the port of a server. Node.js accepts one connection for each listener and turn of its event loop, and
// a turn with hundreds of requests takes long. Measured: with 800 busy connections a new one was answered after 6.0 to 6.5 s
// at the median, 11.6 s at most; with these after 0.31 and 0.56 s.

import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { loadLibc } from '../../base/libc.ts';

/** Connections that wait; the system has a limit of its own. Each listener sets it for the port. */
export const BACKLOG = 4096;
/** Measured: above. With the first one they accept sixteen connections a turn of the loop. */
const COUNT = 15;
/** Source: fcntl.h of Linux. */
const F_DUPFD_CLOEXEC = 1030;
const F_SETFD = 2;
const FD_CLOEXEC = 1;

type Fcntl = (handle: number, command: number, type: 'int', argument: number) => number;

/** They end with `close`. None where the system has no such call. @param server  listens on TCP */
export function listenMore(server: HttpServer): readonly Server[] {
  const handle = handleOf(server);
  if (process.platform !== 'linux' || handle === undefined) return [];
  const copyHandle = loadFcntl();
  const listeners: Server[] = [];
  for (let i = 0; i < COUNT; i++) {
    const fd = copyHandle(handle, F_DUPFD_CLOEXEC, 'int', 0);
    if (fd < 0) break;
    const options = { allowHalfOpen: true, noDelay: true };
    const listener = new Server(options, (socket) => server.emit('connection', socket));
    // The others still listen.
    listener.on('error', () => {});
    // As a member of the object it has no effect beside `fd`.
    listeners.push(listener.listen({ fd }, BACKLOG));
  }
  return listeners;
}

/** Child processes do not inherit the handle. Errors: the system refuses. */
export function keepFromChildren(handle: number): void {
  if (loadFcntl()(handle, F_SETFD, 'int', FD_CLOEXEC) < 0)
    throw new Error(`${handle} is no open file of this process`);
}

function loadFcntl(): Fcntl {
  return loadLibc().functions.func('int fcntl(int handle, int command, ...)') as Fcntl;
}

/** The library has no public name for it; undefined: unknown. */
function handleOf(server: HttpServer): number | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: the result is checked.
  const { _handle: handle } = server as unknown as { readonly _handle?: { readonly fd?: unknown } };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}

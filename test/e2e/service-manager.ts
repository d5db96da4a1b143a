// What systemd does for a unit with a socket, as far as a daemon sees it: a listening socket that outlives the daemon, and a
// socket that takes its notices.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { loadLibc } from '../../daemon/base/libc.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { MAIN, Running, type StartOptions } from './daemon.ts';

export interface HeldSocket {
  readonly fd: number;
  readonly port: number;
}

/** A socket that listens on this machine, and that nothing in this process accepts from. */
export async function holdSocket(): Promise<HeldSocket> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { _handle: handle } = server as unknown as { readonly _handle: { readonly fd: number } };
  const duplicate = loadLibc().functions.func('int dup(int)') as (fd: number) => number;
  const fd = duplicate(handle.fd);
  assert.ok(fd > 2);
  await new Promise((resolve) => server.close(resolve));
  return { fd, port };
}

/** Starts `trawl serve` on the socket, as systemd does. */
export function startOn(
  { fd }: HeldSocket,
  args: readonly string[],
  { env, ...options }: StartOptions = {},
): Running {
  const script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"';
  const command = [process.execPath, MAIN, 'serve', ...args];
  return new Running('/bin/sh', ['-c', script, 'sh', ...command], {
    ...options,
    env: { ...env },
    files: [fd],
  });
}

export interface NoticeSocket {
  /** Value of NOTIFY_SOCKET. */
  readonly address: string;
  /** All that have arrived. */
  received(): readonly string[];
}

/** @param name  of an abstract socket; default: one in a temporary folder */
export function openNoticeSocket(name?: string): NoticeSocket {
  const { functions } = loadLibc();
  const address = name === undefined ? path.join(temporaryFolder(), 'notify') : `@${name}`;
  const text = Buffer.from(name === undefined ? `${address}\0` : `\0${name}`);
  const bound = Buffer.concat([Buffer.from(new Uint16Array([1]).buffer), text]);
  const fd = (functions.func('int socket(int, int, int)') as Integers)(1, 2 | 0o2000000, 0);
  const bind = functions.func('int bind(int, void *, uint32_t)') as Bind;
  assert.equal(bind(fd, bound, bound.length), 0);
  const receive = functions.func('intptr_t recv(int, void *, size_t, int)') as Receive;
  const notices: string[] = [];
  const buffer = Buffer.alloc(4096);
  return {
    address,
    received() {
      // MSG_DONTWAIT
      for (let size: number; (size = receive(fd, buffer, buffer.length, 0x40)) >= 0;)
        notices.push(buffer.toString('utf8', 0, size));
      return notices;
    },
  };
}

type Integers = (...numbers: number[]) => number;
type Bind = (fd: number, address: Uint8Array, size: number) => number;
type Receive = (fd: number, buffer: Uint8Array, size: number, flags: number) => number;

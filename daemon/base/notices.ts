// Sends notices to a service manager: datagrams to a Unix socket, which Node.js cannot send. Why not the program systemd-notify:
// systemd takes notices of other processes than the daemon's only where it is told to, and each would be a process.

import { loadLibc } from './libc.ts';

/** Source: the headers of Linux. */
const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
/** MSG_DONTWAIT and MSG_NOSIGNAL: a service manager that does not read must not stop the daemon. */
const SEND_FLAGS = 0x4040;
const PATH_SIZE_MAX = 107;

type OpenSocket = (family: number, type: number, protocol: number) => number;
type SendTo = (
  socket: number,
  text: Uint8Array,
  size: number,
  flags: number,
  address: Uint8Array,
  addressSize: number,
) => number;

/**
 * @param address  as in NOTIFY_SOCKET
 * @returns sends a notice, such as `READY=1`. Errors: the system refused it
 * Errors: the system has no such sockets, or the address is none.
 */
export function openNotices(address: string): (notice: string) => void {
  const { functions, errno } = loadLibc();
  const name = Buffer.from(address.replace(/^@/, '\0'));
  if (!/^[/@]/.test(address) || name.length > PATH_SIZE_MAX)
    throw new Error(
      `NOTIFY_SOCKET: ${JSON.stringify(address)}; allowed: a path or an abstract name of ${PATH_SIZE_MAX} bytes at most`,
    );
  const family = Buffer.from(new Uint16Array([AF_UNIX]).buffer);
  const bound = Buffer.concat([family, name, Buffer.alloc(name[0] === 0 ? 0 : 1)]);
  const openSocket = functions.func('int socket(int, int, int)') as OpenSocket;
  const sendTo = functions.func(
    'intptr_t sendto(int socket, void *text, size_t size, int flags, void *address, uint32_t addressSize)',
  ) as SendTo;
  const socket = openSocket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  if (socket < 0) throw new Error(`cannot create a Unix datagram socket (errno ${errno()})`);
  return (notice) => {
    const text = Buffer.from(notice);
    if (sendTo(socket, text, text.length, SEND_FLAGS, bound, bound.length) < 0)
      throw new Error(`cannot send a notice to NOTIFY_SOCKET ${address} (errno ${errno()})`);
  };
}

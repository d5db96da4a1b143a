// Drops a client that takes too little of an answer. The system takes more of it only once a third of a socket's buffer of up
// to 4 MB is free, so a client that reads slowly looks as if it did not read: its system is asked how much it has received.

import type { Socket } from 'node:net';
import { loadLibc } from '../../base/libc.ts';
import { STALL_SIZE } from './adapter.ts';

/** Most clients have taken everything by then; only others are asked about. */
const LOOK_MS = 1000;

export interface Reader {
  /** Bytes of the connection that have reached the client; undefined: unknown. */
  receivedSize?(): number | undefined;
  drop(): void;
}

export class StallTimer {
  readonly #reader: Reader;
  readonly #stallMs: number;
  #receivedSize: number | undefined;
  #timer: NodeJS.Timeout;

  constructor(reader: Reader, stallMs: number) {
    this.#reader = reader;
    this.#stallMs = stallMs;
    this.#timer = setTimeout(() => this.#look(), Math.min(LOOK_MS, stallMs));
  }

  #look(): void {
    this.#receivedSize = this.#reader.receivedSize?.();
    this.#timer = setTimeout(() => this.#check(), this.#stallMs);
  }

  #check(): void {
    const before = this.#receivedSize ?? Infinity;
    this.#look();
    if ((this.#receivedSize ?? 0) - before >= STALL_SIZE) return;
    this.stop();
    this.#reader.drop();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Bytes that were sent, or wait to be, and are not acknowledged. Source: sockios.h of Linux. */
const SIOCOUTQ = 0x5411;

type Ioctl = (handle: number, request: number, type: 'int *', result: Int32Array) => number;

let ioctl: Ioctl | undefined;

/** What the library keeps of a connection; it has no public names for it. */
interface Handle {
  readonly fd?: number;
  /** Bytes given to it, with those that it holds back. */
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** The connection below an encrypted one. */
  readonly _parent?: Handle;
}

/** Bytes that the client's system has acknowledged; undefined: unknown. */
export function receivedSize(socket: Socket | null): number | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: the members are checked.
  const { _handle: outer } = (socket ?? {}) as { readonly _handle?: Handle | null };
  const { _parent: inner = outer } = outer ?? {};
  const { fd = -1, bytesWritten, writeQueueSize } = inner ?? {};
  if (process.platform !== 'linux' || fd < 0) return undefined;
  if (bytesWritten === undefined || writeQueueSize === undefined) return undefined;
  const unsent = new Int32Array(1);
  try {
    ioctl ??= loadLibc().functions.func('int ioctl(int handle, ulong request, ...)') as Ioctl;
    if (ioctl(fd, SIOCOUTQ, 'int *', unsent) < 0) return undefined;
  } catch {
    return undefined;
  }
  return bytesWritten - writeQueueSize - (unsent[0] ?? 0);
}

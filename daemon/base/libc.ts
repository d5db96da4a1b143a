// The C library of the system, loaded once for each thread. Who calls a function of it declares it, and decides what
// happens where it is not there.

import { createRequire } from 'node:module';

type Koffi = typeof import('koffi');

export interface Libc {
  readonly functions: import('koffi').LibraryHandle;
  /** Of the last call that failed. */
  readonly errno: () => number;
  /** Numbers of errors by their names. */
  readonly codes: Koffi['os']['errno'];
}

let libc: Libc | undefined;

/** Errors: foreign functions cannot be called on this system. */
export function loadLibc(): Libc {
  if (libc !== undefined) return libc;
  const koffi: Koffi = createRequire(import.meta.url)('koffi');
  libc = {
    functions: koffi.load(null),
    errno: () => koffi.errno(),
    codes: koffi.os.errno,
  };
  return libc;
}

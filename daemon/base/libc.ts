// The system's C library, loaded once per thread. Callers declare the functions they need and handle a missing one.

import { createRequire } from 'node:module';

type Koffi = typeof import('koffi');

export interface Libc {
  readonly functions: import('koffi').LibraryHandle;
  /** Of the last failed call. */
  readonly errno: () => number;
  /** Error numbers by name. */
  readonly codes: Koffi['os']['errno'];
}

let libc: Libc | undefined;

/** Errors: the system does not support foreign functions. */
export function loadLibc(): Libc {
  if (libc !== undefined) return libc;
  const koffi: Koffi = createRequire(import.meta.url)('koffi');
  libc = { functions: koffi.load(null), errno: () => koffi.errno(), codes: koffi.os.errno };
  return libc;
}

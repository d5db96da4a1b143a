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
  // Why not koffi itself: it does no more than find this, and warn of functions that are not used here.
  const native = `@koromix/koffi-${process.platform}-${process.arch}`;
  const koffi: Koffi = createRequire(import.meta.url)(native);
  libc = { functions: koffi.load(null), errno: () => koffi.errno(), codes: koffi.os.errno };
  return libc;
}

// What commands use: streams, exit codes.

import type { Readable, Writable } from 'node:stream';
import type { CommonOptions } from './open-local.ts';

export const EXIT_OK = 0;
/** No match; or the command ran and found problems (verify, status, config check, license verify). */
export const EXIT_NONE = 1;
export const EXIT_ERROR = 2;

export type TextStream = Writable & { readonly isTTY?: boolean };

export interface CliContext {
  readonly stdin: Readable;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Writes results to standard output, through a pager where that is a terminal too small for them. */
  page(text: string): Promise<void>;
  /** Resolves to the new data directory; undefined: the answer was no. Errors: as of `trawl index`. */
  offerIndex(options: CommonOptions): Promise<string | undefined>;
  setExitCode(code: number): void;
  /** Ends the process even if a call of the system never returns. */
  endNow(code: number): void;
}

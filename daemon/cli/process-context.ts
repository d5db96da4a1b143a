// Connects the command line to this process. If the reader of the results closes the pipe early (`| head`) it exits quietly.

import { systemCodeOf } from '../base/caught.ts';
import { loadLibc } from '../base/libc.ts';
import { type CliContext, EXIT_ERROR, EXIT_OK } from './context.ts';
import { showPaged } from './pager.ts';

/** Results that cannot be written are an error, as "no match" would be wrong; lost messages are not: a daemon outlives the reader of its log. */
function endWithStreams(): void {
  process.stdout.on('error', (error) => {
    if (systemCodeOf(error) === 'EPIPE') process.exit(EXIT_OK);
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
    process.exit(EXIT_ERROR);
  });
  process.stderr.on('error', () => {});
}

/** The argument parser reads the environment itself, where an empty variable must count as unset. */
function dropEmptyVariables(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TRAWL_') && process.env[name] === '') delete process.env[name];
  }
}

/** Why not process.exit: it waits for the threads that read files, and one of them may wait for a disk that is gone. */
function endNow(code: number): void {
  try {
    loadLibc().functions.func('void _exit(int code)')(code);
  } catch {
    process.exit(code);
  }
}

/** Call once. */
export function createProcessContext(offerIndex: CliContext['offerIndex']): CliContext {
  endWithStreams();
  dropEmptyVariables();
  return {
    // Creating it takes 1.4 ms.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    page: showPaged,
    offerIndex,
    setExitCode(code) {
      process.exitCode = code;
    },
    endNow,
  };
}

// Connects the command line to this process: streams, environment and exit code. If the reader of a
// pipe closes early (`trawl search x | head`) the process exits quietly.

import { type CliContext, EXIT_ERROR, EXIT_OK } from './context.ts';
import type { CliServices } from './services.ts';

function isClosedPipe(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE';
}

/**
 * If results cannot be written the process exits with an error, as "no match" would be wrong. Messages that cannot be
 * written (a full disk) are lost: a daemon continues.
 */
function endWithStreams(): void {
  process.stdout.on('error', (error) => {
    if (isClosedPipe(error)) process.exit(EXIT_OK);
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
    process.exit(EXIT_ERROR);
  });
  process.stderr.on('error', (error) => {
    if (isClosedPipe(error)) process.exit(EXIT_OK);
  });
}

/** Why: an empty variable counts as unset, but the argument parser reads the environment itself. */
function dropEmptyVariables(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TRAWL_') && process.env[name] === '') delete process.env[name];
  }
}

/** The context of this process. Call once. */
export function createProcessContext(services: CliServices): CliContext {
  endWithStreams();
  dropEmptyVariables();
  return {
    services,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    setExitCode(code) {
      process.exitCode = code;
    },
  };
}

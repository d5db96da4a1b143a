// Binds the command line to this process: its streams, environment and exit code. A reader that closes
// the pipe early (`trawl search x | head`) ends the process quietly.

import { type CliContext, EXIT_ERROR, EXIT_OK } from './context.ts';
import type { CliServices } from './services.ts';

function isClosedPipe(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE';
}

/**
 * What cannot be written of results ends the process with an error, as "no match" would be a wrong answer. What cannot
 * be written of messages (a full disk) is lost: a daemon serves on.
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

/** Why: an empty variable counts as unset, and the argument parser reads the environment itself. */
function dropEmptyVariables(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TRAWL_') && process.env[name] === '') delete process.env[name];
  }
}

/** The context of this process. Call it once. */
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

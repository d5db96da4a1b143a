// On a terminal a command prints results itself. Of the log it prints only what no result says, in words, so that one fact
// is told once.

import type { LogLevel } from '../base/log-levels.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import { escapeControls } from './terminal-text.ts';

interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly repo?: string;
  readonly error?: string | { readonly message: string };
}

type Told = Pick<JobResult, 'error' | 'warnings'>;

function describeLine({ level, message, repo, error }: LogLine): string {
  const kind = level === 'warn' ? 'warning' : level;
  const reason = typeof error === 'object' ? error.message : error;
  const parts = [...(repo === undefined ? [] : [repo]), kind, message];
  return escapeControls([...parts, ...(reason === undefined ? [] : [reason])].join(': '));
}

export class LogNotes {
  readonly #lines: LogLine[] = [];

  /** Takes a line of the log, in JSON. */
  readonly take = (line: string): void => {
    this.#lines.push(JSON.parse(line));
  };

  /** Lines, each with its line feed, of what none of these results says. */
  beyond(results: readonly Told[]): string {
    const told = new Set(results.flatMap(({ error, warnings }) => [error, ...warnings]));
    const isTold = ({ message, error }: LogLine): boolean =>
      told.has(message) || (typeof error === 'string' && told.has(error));
    return this.#lines
      .filter((line) => !isTold(line))
      .map((line) => `${describeLine(line)}\n`)
      .join('');
  }
}

// For commands that print results on a terminal: shows only those log lines that no result repeats, so that each fact
// appears once.

import type { LogLevel } from '../base/log-levels.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import { escapeControls } from './terminal-text.ts';

interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly repo?: string;
  readonly error?: string | { readonly message: string };
}

type LoggedResult = Pick<JobResult, 'error' | 'warnings'>;

function describeLine({ level, message, repo, error }: LogLine): string {
  const kind = level === 'warn' ? 'warning' : level;
  const reason = typeof error === 'object' ? error.message : error;
  const parts = [...(repo === undefined ? [] : [repo]), kind, message];
  return escapeControls([...parts, ...(reason === undefined ? [] : [reason])].join(': '));
}

export class LogNotes {
  readonly #lines: LogLine[] = [];

  /** Takes a log line in JSON. */
  readonly take = (line: string): void => {
    this.#lines.push(JSON.parse(line));
  };

  /** Lines, each with its line feed, that none of these results repeats. */
  beyond(results: readonly LoggedResult[]): string {
    const reported = new Set(results.flatMap(({ error, warnings }) => [error, ...warnings]));
    const isReported = ({ message, error }: LogLine): boolean =>
      reported.has(message) || (typeof error === 'string' && reported.has(error));
    return this.#lines
      .filter((line) => !isReported(line))
      .map((line) => `${describeLine(line)}\n`)
      .join('');
  }
}

// Logs jobs that found nothing changed: a line each if they are few, one line for many.

import type { Log, LogFields } from '../../base/log.ts';

export interface UnchangedReposOptions {
  readonly log: Log;
  /** Whether more jobs are running or waiting. */
  readonly isBusy: () => boolean;
}

/** Guess: people read this many lines. */
const LINES_MAX = 10;
/** Guess: lines are collected for this long, in ms, and while jobs run. */
const PAUSE_MS = 50;
/** Most pauses that a line waits. */
const PAUSES_MAX = 200;

export class UnchangedRepos {
  readonly #options: UnchangedReposOptions;
  /** Of the first waiting ones. */
  #lines: LogFields[] = [];
  #count = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UnchangedReposOptions) {
    this.#options = options;
  }

  /** A job found nothing changed. @param fields  for a line of its own */
  note(fields: LogFields): void {
    if (this.#count++ < LINES_MAX) this.#lines.push(fields);
    this.#timer ??= setInterval(() => this.#reportSoon(), PAUSE_MS).unref();
  }

  #reportSoon(): void {
    if (this.#options.isBusy() && ++this.#pauses < PAUSES_MAX) return;
    this.report();
  }

  /** Logs the waiting ones. */
  report(): void {
    clearInterval(this.#timer);
    const { log } = this.#options;
    if (this.#count > LINES_MAX) log.info('repos checked: nothing changed', { repos: this.#count });
    else for (const fields of this.#lines) log.info('repo indexed', fields);
    [this.#lines, this.#count, this.#pauses, this.#timer] = [[], 0, 0, undefined];
  }
}

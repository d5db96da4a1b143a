// Jobs that found nothing changed, for the log: a line each where they are few, one line for all of a start or a round where
// they are many.

import type { Log, LogFields } from '../../base/log.ts';

export interface UnchangedReposOptions {
  readonly log: Log;
  /** Whether more jobs are under way or wait. */
  readonly isBusy: () => boolean;
}

/** Guess: as many lines are read. */
const LINES_MAX = 10;
/** Guess: lines wait for each other that long, ms, and while jobs go on. */
const PAUSE_MS = 50;
/** Most pauses that a line waits for. */
const PAUSES_MAX = 200;

export class UnchangedRepos {
  readonly #options: UnchangedReposOptions;
  /** Of the first ones that wait. */
  #lines: LogFields[] = [];
  #count = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UnchangedReposOptions) {
    this.#options = options;
  }

  /** A job found nothing changed. @param fields  of a line of its own */
  note(fields: LogFields): void {
    if (this.#count++ < LINES_MAX) this.#lines.push(fields);
    this.#timer ??= setInterval(() => this.#tellSoon(), PAUSE_MS).unref();
  }

  #tellSoon(): void {
    if (this.#options.isBusy() && ++this.#pauses < PAUSES_MAX) return;
    this.tell();
  }

  /** Tells of those that wait. */
  tell(): void {
    clearInterval(this.#timer);
    const { log } = this.#options;
    if (this.#count > LINES_MAX)
      log.info('repos looked at: nothing changed', { repos: this.#count });
    else for (const fields of this.#lines) log.info('repo indexed', fields);
    [this.#lines, this.#count, this.#pauses, this.#timer] = [[], 0, 0, undefined];
  }
}

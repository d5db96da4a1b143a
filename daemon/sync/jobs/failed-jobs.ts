// The repos, or connections, whose last job failed, and why, for owners and the operator. Jobs that are kept in the store make it known again
// after a start.

/** Of each, in answers; the log has all of it. */
const REASON_SIZE_MAX = 500;
/** Guess: repos that are named one by one. */
const NAMED_MAX = 10;

/** What jobs are of, and what they do: `repositories`, `indexed`. */
export interface JobWords {
  readonly targets: string;
  readonly done: string;
}

export class FailedJobs {
  readonly #words: JobWords;
  /** By name of the repo; by path where a source never became one. */
  readonly #reasons = new Map<string, string>();

  constructor(words: JobWords = { targets: 'repositories', done: 'indexed' }) {
    this.#words = words;
  }

  note(name: string, reason: string): void {
    const isLong = reason.length > REASON_SIZE_MAX;
    this.#reasons.set(name, isLong ? `${reason.slice(0, REASON_SIZE_MAX)}…` : reason);
  }

  /** Its last job did not fail. */
  clear(name: string): void {
    this.#reasons.delete(name);
  }

  /** Undefined: the last job did not fail, or there was none. */
  reasonOf(name: string): string | undefined {
    return this.#reasons.get(name);
  }

  /** A sentence for each of the first ones that `isWanted` holds for, and one for the others; in the order of their names. */
  sentences(isWanted: (name: string) => boolean): string[] {
    const all = [...this.#reasons]
      .filter(([name]) => isWanted(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const rest = all.length - NAMED_MAX;
    return [
      ...all
        .slice(0, NAMED_MAX)
        .map(([name, reason]) => `${name} could not be ${this.#words.done}: ${reason}`),
      ...(rest > 0 ? [`${rest} more ${this.#words.targets} could not be ${this.#words.done}`] : []),
    ];
  }
}

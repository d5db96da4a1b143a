// Repos or connections whose last job failed, and why, for owners and the operator. Restored after a start from stored
// jobs.

/** Per failure, in answers; the log has all of it. */
const REASON_SIZE_MAX = 500;
/** Guess: repos listed by name. */
const LISTED_MAX = 10;

/** Name of a queue, words for one target, many targets and the work, and the log message of a failed attempt. */
export interface JobWords {
  readonly queue: string;
  readonly target: string;
  readonly targets: string;
  readonly done: string;
  readonly failing: string;
}

/** The id of a repo or connection, as names may change; a path if a source never became a repo. */
type Target = number | string;

export class FailedJobs {
  readonly #words: Pick<JobWords, 'targets' | 'done'>;
  readonly #failures = new Map<Target, { readonly name: string; readonly reason: string }>();

  constructor(words: Pick<JobWords, 'targets' | 'done'>) {
    this.#words = words;
  }

  note(target: Target, name: string, reason: string): void {
    const isLong = reason.length > REASON_SIZE_MAX;
    const kept = isLong ? `${reason.slice(0, REASON_SIZE_MAX)}…` : reason;
    this.#failures.set(target, { name, reason: kept });
  }

  clear(target: Target): void {
    this.#failures.delete(target);
  }

  reasonOf(target: Target): string | undefined {
    return this.#failures.get(target)?.reason;
  }

  /** A sentence for each of the first failures that satisfy `isMatch`, and one for the rest, ordered by name. */
  sentences(isMatch: (name: string) => boolean): string[] {
    const all = [...this.#failures.values()]
      .filter(({ name }) => isMatch(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const rest = all.length - LISTED_MAX;
    return [
      ...all
        .slice(0, LISTED_MAX)
        .map(({ name, reason }) => `${name} could not be ${this.#words.done}: ${reason}`),
      ...(rest > 0 ? [`${rest} more ${this.#words.targets} could not be ${this.#words.done}`] : []),
    ];
  }
}

// What revisions on demand may take (`settings.onDemandRevisions`): repositories, docs, time and disk, what is said to who
// asks for more, and what is known to be too much.

/** `settings.onDemandRevisions`. */
export interface OnDemandLimits {
  /** Repositories that a search may look for them in. */
  readonly repos: number;
  /** Docs that are built at once. */
  readonly docs: number;
  /** Of a search that waits for them, and of a build. */
  readonly timeoutMs: number;
  /** Bytes of all that is kept. */
  readonly diskBytes: number;
}

/** What is asked for is more than `settings.onDemandRevisions` allows. The message is for the caller. */
export class RevisionLimitError extends Error {
  override readonly name = 'RevisionLimitError';
  readonly errorCode = 'REVISION_TOO_LARGE';
}

/** Guess: what one query names by hand. */
const NAMES_MAX = 20;

/** Errors: RevisionLimitError. */
export function checkCounts(
  repoCount: number,
  names: readonly string[],
  limits: OnDemandLimits,
): void {
  const shown = JSON.stringify(names[0]?.slice(0, 100));
  if (repoCount > limits.repos)
    throw new RevisionLimitError(
      `No revision with ${shown} in its name is indexed; it is looked for in ${limits.repos} repositories at most ` +
        `(onDemandRevisions.repos), the query is about ${repoCount}: say which by "repo:".`,
    );
  if (names.length > NAMES_MAX)
    throw new RevisionLimitError(
      `The query names ${names.length} revisions that are not indexed, limit ${NAMES_MAX}.`,
    );
}

export function docsMessage(count: number, { docs }: OnDemandLimits): string {
  return `${count} files of the revision are in no indexed one, limit ${docs} (onDemandRevisions.docs); index its branch or tag.`;
}

export function timeMessage({ timeoutMs }: OnDemandLimits): string {
  return `The revision is not indexed, and was not ready within ${timeoutMs} ms (onDemandRevisions.timeoutMs); index its branch or tag.`;
}

export function diskMessage(size: number, { diskBytes }: OnDemandLimits): string {
  return `The revision takes ${size} bytes, limit ${diskBytes} (onDemandRevisions.diskBytes); index its branch or tag.`;
}

/** @param size  of what was ready of it */
export function sumMessage(size: number, repoCount: number, { diskBytes }: OnDemandLimits): string {
  return (
    `The revision takes ${size} bytes or more in ${repoCount} repositories, limit ${diskBytes} ` +
    `(onDemandRevisions.diskBytes): say which by "repo:", or index its branch or tag.`
  );
}

const REFUSALS_MAX = 1000;

interface Refusal {
  readonly limits: OnDemandLimits;
  /** Of performance.now. */
  readonly untilMs: number;
  readonly message: string;
}

/** What was built in vain. */
export class Refusals {
  readonly #refusals = new Map<string, Refusal>();

  /** Errors: RevisionLimitError, if this was refused within the same limits. */
  check(key: string, limits: OnDemandLimits): void {
    const refusal = this.#refusals.get(key);
    if (refusal === undefined) return;
    const holds = refusal.limits === limits && performance.now() < refusal.untilMs;
    if (holds) throw new RevisionLimitError(refusal.message);
    this.#refusals.delete(key);
  }

  /** @param keptMs  from now on. Errors: RevisionLimitError, always. */
  refuse(key: string, message: string, limits: OnDemandLimits, keptMs = Infinity): never {
    this.#refusals.set(key, { limits, untilMs: performance.now() + keptMs, message });
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= REFUSALS_MAX) break;
      this.#refusals.delete(oldest);
    }
    throw new RevisionLimitError(message);
  }
}

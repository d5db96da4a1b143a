// Limits of revisions on demand (`settings.onDemandRevisions`): repositories, docs, time and disk; the messages for
// requests beyond them, and a cache of requests that failed.

/** `settings.onDemandRevisions`. */
export interface OnDemandLimits {
  /** Repositories that a search may build in. */
  readonly repos: number;
  /** Docs in one build. */
  readonly docs: number;
  /** For a waiting search, and for a build. */
  readonly timeoutMs: number;
  /** Bytes of all kept files. */
  readonly diskBytes: number;
}

/** A request exceeds `settings.onDemandRevisions`. The message is for the caller. */
export class RevisionLimitError extends Error {
  override readonly name = 'RevisionLimitError';
  readonly errorCode = 'REVISION_TOO_LARGE';
}

/** Bound: builds that one query may cause, in each repo. */
const NAMES_MAX = 20;

/** Errors: RevisionLimitError. */
export function checkCounts(
  repoCount: number,
  names: readonly string[],
  limits: OnDemandLimits,
): void {
  const quoted = JSON.stringify(names[0]?.slice(0, 100));
  if (repoCount > limits.repos)
    throw new RevisionLimitError(
      `No revision with ${quoted} in its name is indexed. Trawl can look for it in at most ${limits.repos} repositories ` +
        `(onDemandRevisions.repos), but the query covers ${repoCount}: limit it with "repo:".`,
    );
  if (names.length > NAMES_MAX)
    throw new RevisionLimitError(
      `The query names ${names.length} revisions that are not indexed; the limit is ${NAMES_MAX}.`,
    );
}

export function docsMessage(count: number, { docs }: OnDemandLimits): string {
  return `${count} files of the revision are in no indexed one; the limit is ${docs} (onDemandRevisions.docs). Index its branch or tag.`;
}

export function timeMessage({ timeoutMs }: OnDemandLimits): string {
  return `The revision is not indexed, and was not ready within ${timeoutMs} ms (onDemandRevisions.timeoutMs). Index its branch or tag.`;
}

export function diskMessage(size: number, { diskBytes }: OnDemandLimits): string {
  return `The revision takes ${size} bytes; the limit is ${diskBytes} (onDemandRevisions.diskBytes). Index its branch or tag.`;
}

/** @param size  of the finished part */
export function sumMessage(size: number, repoCount: number, { diskBytes }: OnDemandLimits): string {
  return (
    `The revision takes at least ${size} bytes in ${repoCount} repositories; the limit is ${diskBytes} ` +
    `(onDemandRevisions.diskBytes). Limit the query with "repo:", or index its branch or tag.`
  );
}

interface Refusal {
  readonly limits: OnDemandLimits;
  /** Of performance.now. */
  readonly untilMs: number;
  readonly message: string;
}

export class Refusals {
  readonly #refusals = new Map<string, Refusal>();

  /** Errors: RevisionLimitError, if this was refused under the same limits. */
  check(key: string, limits: OnDemandLimits): void {
    const refusal = this.#refusals.get(key);
    if (refusal === undefined) return;
    const isCurrent = refusal.limits === limits && performance.now() < refusal.untilMs;
    if (isCurrent) throw new RevisionLimitError(refusal.message);
    this.#refusals.delete(key);
  }

  /** @param keptMs  how long the refusal is kept. Errors: RevisionLimitError, always. */
  refuse(key: string, message: string, limits: OnDemandLimits, keptMs = Infinity): never {
    this.#refusals.set(key, { limits, untilMs: performance.now() + keptMs, message });
    const [oldest = key] = this.#refusals.keys();
    if (this.#refusals.size > 1000) this.#refusals.delete(oldest);
    throw new RevisionLimitError(message);
  }
}

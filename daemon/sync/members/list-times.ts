// Schedules when the readers of a repo are fetched again: spread over the last quarter of the interval, so that
// thousands of lists do not stay in step; earlier on request; after failures with growing pauses.

/** After the first failure; each further one doubles it. Bound: load of a host that fails. */
const PAUSE_MS_MIN = 60_000;

export interface ListTimes {
  /** Milliseconds since the epoch, as the next member; undefined: no list. */
  readonly takenAt: number | undefined;
  /** When all lists of the connection were requested; 0: never. */
  readonly askedAt: number;
}

/**
 * Whether a list must be fetched again.
 *
 * @param nowMs  milliseconds since the epoch. A list from the future comes from a wrong clock
 */
export function isDue(
  repoId: number,
  { takenAt, askedAt }: ListTimes,
  intervalMs: number,
  nowMs: number,
): boolean {
  if (takenAt === undefined || takenAt > nowMs || takenAt <= askedAt) return true;
  return nowMs - takenAt >= intervalMs * (0.75 + 0.25 * spreadOf(repoId));
}

/** 0 to 1, different for each repo. */
function spreadOf(repoId: number): number {
  return (Math.imul(repoId, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/**
 * Milliseconds until the next attempt.
 *
 * @param retryAt  from the host, ISO 8601
 */
export function pauseAfter(
  failureCount: number,
  retryAt: string | undefined,
  intervalMs: number,
  nowMs: number,
): number {
  const grown = PAUSE_MS_MIN * 2 ** Math.min(failureCount - 1, 20);
  const said = retryAt === undefined ? 0 : Date.parse(retryAt) - nowMs;
  return Math.min(Math.max(grown, Number.isNaN(said) ? 0 : said), intervalMs);
}

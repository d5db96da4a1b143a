// When the readers of a repo are asked for again: spread over the last quarter of the interval, so that thousands of lists that
// were taken at once are not for ever; and sooner where one was asked for since. After a failure with growing pauses.

/** Guess: after the first failure; each further one doubles it. */
const PAUSE_MS_MIN = 60_000;

export interface ListTimes {
  /** Milliseconds since the epoch, as the next; undefined: there is no list. */
  readonly takenAt: number | undefined;
  /** When all lists of the connection were asked for; 0: nobody did. */
  readonly askedAt: number;
}

/**
 * Is a list to be taken again?
 *
 * @param nowMs  milliseconds since the epoch. A list of a time to come is of a clock that was wrong
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

/** 0 to 1, another one for each repo. */
function spreadOf(repoId: number): number {
  return (Math.imul(repoId, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/**
 * Milliseconds until the next attempt.
 *
 * @param retryAt  as the host said, ISO 8601
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

// Computes the pause that a code host requests in an answer, and lists current pauses for people.
//
// GitHub: 403 or 429 with `X-RateLimit-Remaining: 0` and the time of `X-RateLimit-Reset` (primary), with `Retry-After`, or
// with only a message (secondary). GitLab: 429 with `Retry-After` and `RateLimit-Reset`. Azure DevOps: `Retry-After`, also
// on successful answers. Bitbucket: 429 only.

/** An answer of a host. */
export interface Limited {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** Start of the body. */
  readonly text: string;
}

/** For a limit without a reported end. Source: GitHub asks for at least a minute. */
const UNKNOWN_PAUSE_MS = 60_000;
const YEAR_MS = 31_536_000_000;

/** Whether a request was refused only for its rate, so that it may be repeated. */
export function isRateLimited({ status, headers, text }: Limited): boolean {
  if (status === 429) return true;
  if (status === 503) return headers.get('retry-after') !== null;
  if (status !== 403) return false;
  return headers.get('retry-after') !== null || isUsedUp(headers) || /\brate limit/i.test(text);
}

/**
 * For how many milliseconds the host must not be asked; 0: no pause.
 * @param nowMs  Unix time; used if the answer has no date
 */
export function requestedPauseMs(answer: Limited, nowMs: number): number {
  const { headers } = answer;
  const isLimited = isRateLimited(answer);
  if (!isLimited && !isUsedUp(headers) && headers.get('retry-after') === null) return 0;
  const date = Date.parse(headers.get('date') ?? '');
  const hostNowMs = Number.isNaN(date) ? nowMs : date;
  const pauseMs = retryAfterMs(headers, hostNowMs) ?? resetMs(headers, hostNowMs);
  return Math.min(pauseMs ?? (isLimited ? UNKNOWN_PAUSE_MS : 0), YEAR_MS);
}

function isUsedUp(headers: Limited['headers']): boolean {
  return (headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining')) === '0';
}

/** Seconds, or a date. */
function retryAfterMs(headers: Limited['headers'], nowMs: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Larger values are times, smaller ones pauses. Unit: s; no pause is of 30 years. */
const EPOCH_MIN = 1e9;

function resetMs(headers: Limited['headers'], nowMs: number): number | undefined {
  const text = headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset');
  if (text === null || !/^\d+(?:\.\d+)?$/.test(text)) return undefined;
  const seconds = Number(text);
  if (seconds < EPOCH_MIN) return seconds * 1000;
  // Both times are whole seconds.
  return Math.max(0, seconds * 1000 - nowMs) + 1000;
}

/** Requests to the host wait, without an error. */
export interface HostPause {
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Bound: lines of the log; a shorter pause is over before anybody reads of it. */
const LOGGED_MS_MIN = 5_000;

/** By host: requests that it still takes, as its last answer said. */
export const hostBudgets = new Map<string, number>();

export function noteHostBudget(host: string, headers: Limited['headers']): void {
  const text = headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining');
  if (text !== null && /^\d+$/.test(text)) hostBudgets.set(host, Number(text));
}

/** By host. Of performance.now, which clock changes do not affect. */
const ends = new Map<string, number>();

/** Call when a host asks to wait. */
export function noteHostPause(host: string, untilMs: number): void {
  if (untilMs - performance.now() >= LOGGED_MS_MIN)
    ends.set(host, Math.max(untilMs, ends.get(host) ?? 0));
}

/** Current pauses. */
export function hostPauses(): readonly HostPause[] {
  const nowMs = performance.now();
  for (const [host, endMs] of ends) if (endMs <= nowMs) ends.delete(host);
  return [...ends].map(([host, endMs]) => ({ host, until: Date.now() + endMs - nowMs }));
}

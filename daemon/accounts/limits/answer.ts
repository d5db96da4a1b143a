// A user's limit in answers: the effective limit, the headers, and the refusal. The request handling decides which answers
// carry the headers.

import type { Decision } from './decision.ts';

/**
 * The effective limit of a user.
 *
 * @param requestsPerDay  of the user; null: the default
 * @param defaultLimit    of the instance; null: none
 * @returns               null: no limit
 */
export function limitOf(
  requestsPerDay: number | 'unlimited' | null,
  defaultLimit: number | null,
): number | null {
  if (requestsPerDay === 'unlimited') return null;
  return requestsPerDay ?? defaultLimit;
}

/** Names of the rate limit headers. */
export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** The rate limit headers; none without a limit. */
export function rateLimitHeaders(decision: Decision): Readonly<Record<string, string>> {
  const { limit, remaining, resetAtMs } = decision;
  if (limit === null || remaining === null) return {};
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAtMs / 1000),
  };
}

/** Seconds until the limit resets, at least 1. */
export function retryAfterSeconds({ resetAtMs }: Decision, nowMs: number): number {
  return Math.max(1, Math.ceil((resetAtMs - nowMs) / 1000));
}

/** Message of a refusal. The decision has a limit. */
export function refusalMessage({ limit }: Decision, contact: string): string {
  return (
    `The limit of ${limit ?? 0} requests per day is reached. It resets at 00:00 UTC. ` +
    `To request a higher limit, ask ${contact}.`
  );
}

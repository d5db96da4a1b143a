// Pauses requested by code hosts, for people: requests to such a host wait, without an error.

export interface HostPause {
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Bound: lines of the log; a shorter pause is over before anybody reads of it. */
const LOGGED_MS_MIN = 5_000;

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

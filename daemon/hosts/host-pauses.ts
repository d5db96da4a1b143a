// Which code hosts have asked to be left alone, and until when, for people: whatever asks them waits, without an error.

export interface HostPause {
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Guess: pauses that are shorter are over before somebody reads of them. */
const TOLD_MS_MIN = 5_000;

/** By host. Of performance.now, which no change of the clock moves. */
const ends = new Map<string, number>();

/** Told by whoever was asked to wait. */
export function noteHostPause(host: string, untilMs: number): void {
  if (untilMs - performance.now() >= TOLD_MS_MIN)
    ends.set(host, Math.max(untilMs, ends.get(host) ?? 0));
}

/** Those that are not over. */
export function hostPauses(): readonly HostPause[] {
  const nowMs = performance.now();
  for (const [host, endMs] of ends) if (endMs <= nowMs) ends.delete(host);
  return [...ends].map(([host, endMs]) => ({ host, until: Date.now() + endMs - nowMs }));
}

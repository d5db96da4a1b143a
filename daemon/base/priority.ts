// Who goes first where there is more to do than cores: the thread that owns the sockets, then searches, then builds that
// a search waits for, then what runs in the background. Without it a short request waited behind the slices of searches that
// take seconds: measured with 32 of them beside a guest on two cores (daemon/DECISIONS.md, 2026-11-22).

import { getPriority, setPriority } from 'node:os';

/** What is added to the nice value: the share of a core halves about every three. */
export const PRIORITY_STEPS = { search: 5, demand: 7, background: 10 } as const;

const NICE_MAX = 19;

/**
 * Gives this thread, and the programs that it starts from then on, a lower priority. Nothing changes outside
 * Linux, where the call means the whole process.
 */
export function lowerPriority(work: keyof typeof PRIORITY_STEPS): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + PRIORITY_STEPS[work], NICE_MAX));
  } catch {
    // A sandbox that refuses: all threads are equal.
  }
}

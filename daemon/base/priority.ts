// Thread priorities: the main thread first, then searches, then builds that a search waits for, then
// background work. Without them a short request waited behind the slices of long searches: measured with 32 of them beside
// a guest on two cores (daemon/DECISIONS.md, 2026-11-22).

import { getPriority, setPriority } from 'node:os';

/** Added to the nice value: the share of a core halves about every three. */
export const PRIORITY_STEPS = { search: 5, demand: 7, background: 10 } as const;

/**
 * Lowers the priority of this thread, and of programs it starts later. Does nothing outside Linux, where the call affects
 * the whole process.
 */
export function lowerPriority(work: keyof typeof PRIORITY_STEPS): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + PRIORITY_STEPS[work], 19));
  } catch {
    // A sandbox refused: all threads have the same priority.
  }
}

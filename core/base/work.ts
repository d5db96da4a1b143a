// Limits work that is not bounded by the size of its input: an expression of many states takes far
// more steps than there are bytes. Work is counted, and now and then the host is asked whether to
// continue. If not, isStopped holds for the rest of the call: scans end at once with meaningless
// results, and the call reports its work as not done. The core has no clock; the host has.

/** Asks the host whether the current call should end early. */
@external('env', 'isStopRequested')
declare function isStopRequested(): bool;

/**
 * Steps between two questions. Measured: 2026-11-21: a step of the simulation takes 11 ns, so the
 * host is asked about every 1.5 ms.
 */
const STEPS_PER_QUESTION: i32 = 1 << 17;

/** The current call should end; its results are meaningless. */
export let isStopped: bool = false;
let remainingSteps: i32 = STEPS_PER_QUESTION;

/** Begins a call, which continues until the host stops it. */
export function beginWork(): void {
  isStopped = false;
  remainingSteps = STEPS_PER_QUESTION;
}

/** Counts steps of work. Bound: count < 2^24. */
@inline
export function countWork(count: u32): void {
  remainingSteps -= <i32>count;
  if (remainingSteps < 0) ask();
}

function ask(): void {
  remainingSteps = STEPS_PER_QUESTION;
  if (!isStopped) isStopped = isStopRequested();
}

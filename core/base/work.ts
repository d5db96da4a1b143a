// Limits work that its input's size does not bound, such as an expression of many states. Work is
// counted, and the host, which has a clock, is asked now and then whether to continue. If not,
// isStopped holds for the rest of the call: its results are meaningless, and it reports its work as
// not done.

/** Asks the host whether the current call should end early. */
@external('env', 'isStopRequested')
declare function isStopRequested(): bool;

/** Measured: 2026-11-21: a step of the simulation takes 11 ns: the host is asked every 1.5 ms. */
const STEPS_PER_QUESTION: i32 = 1 << 17;

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

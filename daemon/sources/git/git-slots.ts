// Limits the git processes that each serve one request (log, blame, diff, listings); one repository has three quarters of
// them at most. Long-lived processes have their own limit (object-pool.ts); indexing is limited by its jobs.

import { availableParallelism } from 'node:os';
import { Slots } from '../../base/slots.ts';

/** Bound: git waits for the disk about as long as it computes, so two for each core keep the cores busy. */
const RUNNING_MAX = Math.max(4, availableParallelism() * 2);
/** Bound: at 100 ms each, the last of these waits some seconds with two cores. */
const WAITING_MAX = 256;

/** Too many requests already wait for git. Nothing was started. */
export class GitBusyError extends Error {
  override readonly name = 'GitBusyError';
  readonly errorCode = 'SERVER_OVERLOADED';

  constructor() {
    super('Too many requests read repositories.');
  }
}

const slots = new Slots({
  runningMax: RUNNING_MAX,
  waitingMax: WAITING_MAX,
  runningOfOneMax: Math.ceil((RUNNING_MAX * 3) / 4),
  waitingOfOneMax: (WAITING_MAX * 3) / 4,
  busyError: () => new GitBusyError(),
});

/**
 * `run` in one of the slots shared by all requests. Errors: GitBusyError; the reason of the signal, whatever `run` throws
 * then; what `run` throws.
 */
export async function withSlot<Value>(
  repoPath: string,
  signal: AbortSignal,
  run: () => Promise<Value>,
): Promise<Value> {
  try {
    return await slots.run(repoPath, signal, run);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

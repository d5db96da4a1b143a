// How many jobs run at a time, and for how long: from the configuration and the machine's resources.

import { availableParallelism, totalmem } from 'node:os';

export interface JobLimits {
  /** Jobs at a time. */
  readonly runningMax: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
}

/** Guess: a job waits for git and the disk about as long as it computes. */
const JOBS_PER_CORE = 2;
/** Guess: memory for the file lists of a large repo, besides the threads that all builds share. */
const MEMORY_OF_JOB = 1 << 30;

/** @param attemptsMax  1: the caller sees each failure and decides about a retry */
export function jobLimitsOf(
  settings: {
    readonly maxRepoIndexingJobConcurrency: number;
    readonly repoIndexTimeoutMs: number;
  },
  attemptsMax: number,
): JobLimits {
  const { maxRepoIndexingJobConcurrency: configured, repoIndexTimeoutMs: timeoutMs } = settings;
  const cores = JOBS_PER_CORE * availableParallelism();
  const capacity = Math.max(1, Math.floor(memoryOfMachine() / MEMORY_OF_JOB));
  return { runningMax: Math.min(configured, cores, capacity), timeoutMs, attemptsMax };
}

/** Unit: bytes, within the container's limit. Cached: it takes 0.1 ms, and each job needs it. */
let memory: number | undefined;
function memoryOfMachine(): number {
  if (memory !== undefined) return memory;
  const allowed = process.constrainedMemory();
  memory = allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
  return memory;
}

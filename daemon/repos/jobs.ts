// Names of job queues, phases and states, and the shape of a job, as stored, counted and answered.

export const JOB_QUEUES = [
  'connection-sync',
  'repo-index',
  'repo-cleanup',
  'audit-log-prune',
] as const;

export const JOB_STATES = ['PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const;
export type JobState = (typeof JOB_STATES)[number];

/**
 * The first four belong to a fetch. `asking`: waiting for the host's list of branches and tags. The others are git's.
 * `preparing`: the host counts and packs. `resolving`: received data is unpacked and checked. The last three belong to a
 * build.
 */
export const JOB_PHASES = [
  'asking',
  'preparing',
  'receiving',
  'resolving',
  'listing',
  'reading',
  'merging',
] as const;
export type JobPhase = (typeof JOB_PHASES)[number];

export const JOB_UNITS = ['bytes', 'objects'] as const;
export type JobUnit = (typeof JOB_UNITS)[number];

/** `waiting`: not indexed yet, and no job is running. */
export const REPO_STATES = ['ready', 'indexing', 'waiting', 'failed'] as const;
export type RepoState = (typeof REPO_STATES)[number];

/** Times are ms since the epoch. */
export interface JobFacts {
  readonly id: string;
  readonly queue: string;
  /** RepoId, or connection id. */
  readonly targetId: number;
  /** Lower runs first. */
  readonly priority: number;
  readonly state: JobState;
  /** From 1; 0: not started. */
  readonly attempt: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly error: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
}

export interface JobListQuery {
  readonly queue?: string | undefined;
  readonly state?: JobState | undefined;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Counts of repos, or connections: without a successful job yet, with a failed last job, and with warnings of the last job.
 */
export interface JobCounts {
  readonly firstTime: number;
  readonly failed: number;
  readonly warned: number;
}

export interface JobStep {
  readonly phase: JobPhase;
  readonly done: number;
  /** 0: unknown. */
  readonly total: number;
  readonly unit: JobUnit;
}

export interface JobView extends JobFacts {
  /** Absent: not running, or no progress yet. */
  readonly progress?: JobStep & {
    /** Of its phase; null: unknown. */
    readonly remainingMs: number | null;
  };
}

// How jobs, and repos by their jobs, are told of: the words that are kept, counted and answered with, and the shape of a job.

export const JOB_QUEUES = [
  'connection-sync',
  'repo-index',
  'repo-cleanup',
  'audit-log-prune',
] as const;

export const JOB_STATES = ['PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const;
export type JobState = (typeof JOB_STATES)[number];

/**
 * Of a fetch the first four. `asking`: the host has not said yet which branches and tags there are. The others are those of git.
 * `preparing`: the host counts and packs. `resolving`: what has come is unpacked and checked. Of a build the last three.
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

/** `waiting`: it is not indexed yet, and no job of it is under way. */
export const REPO_STATES = ['ready', 'indexing', 'waiting', 'failed'] as const;
export type RepoState = (typeof REPO_STATES)[number];

/** Times are ms since the epoch. */
export interface JobFacts {
  readonly id: string;
  readonly queue: string;
  /** RepoId, or id of a connection. */
  readonly targetId: number;
  /** Lower ones go first. */
  readonly priority: number;
  readonly state: JobState;
  /** From 1; 0: it has not begun. */
  readonly attempt: number;
  readonly createdAt: number;
  /** The beginning of the last attempt. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** Which jobs of a list. */
export interface JobListQuery {
  readonly queue?: string | undefined;
  readonly state?: JobState | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Of repos, or connections: those that never had a job which ended well, whose last job failed, and whose last job warned. */
export interface JobCounts {
  readonly firstTime: number;
  readonly failed: number;
  readonly warned: number;
}

/** How far a job is in its phase. */
export interface JobStep {
  readonly phase: JobPhase;
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly unit: JobUnit;
}

export interface JobView extends JobFacts {
  /** Absent: it is not under way, or has said nothing yet. */
  readonly progress?: JobStep & {
    /** Of its phase; null: not known. */
    readonly remainingMs: number | null;
  };
}

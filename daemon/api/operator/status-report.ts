// Types of the status report for the operator. Times are ISO 8601.

import type { JobUnit } from '../../repos/jobs.ts';

export interface StatusReport {
  readonly url: string;
  readonly version: string;
  readonly startedAt: string;
  /** Served repositories; of those the indexed ones, and those whose last job failed. */
  readonly repos: { readonly served: number; readonly indexed: number; readonly failed: number };
  /** Until all are indexed, at the speed since the start, ms; null: unknown, or all are. */
  readonly remainingMs: number | null;
  /** Newest first. */
  readonly jobs: { readonly running: readonly RunningJob[]; readonly waiting: number };
  /** A sentence about repositories that are searched without symbols; null: none. */
  readonly symbols: string | null;
  readonly connections: readonly ConnectionStatus[];
  /** Sentences. */
  readonly problems: readonly string[];
  /** Sentences about what may be unintended in repositories and connections; the first ones. */
  readonly warnings: readonly string[];
}

export interface RunningJob {
  readonly queue: string;
  /** Name of the repository or connection. */
  readonly target: string;
  /** Null: no progress yet. */
  readonly phase: string | null;
  /** Of the phase, in `unit`. */
  readonly done: number;
  /** 0: unknown. */
  readonly total: number;
  readonly unit: JobUnit;
  /** Bytes received from its host so far; null: none. */
  readonly receivedSize: number | null;
  /** Of the phase, at its speed so far; null: unknown. */
  readonly remainingMs: number | null;
  readonly startedAt: string | null;
}

export interface ConnectionStatus {
  readonly name: string;
  readonly type: string;
  readonly repos: number;
  readonly indexed: number;
  /** End of the last listing; null: never listed. */
  readonly syncedAt: string | null;
  /** `unanswered`: the listing waits for a silent host. */
  readonly state: 'listing' | 'unanswered' | 'waiting' | 'fine' | 'failed' | 'incomplete';
  /** Why it is not listed, or only in part. */
  readonly failure: string | null;
}

export interface StatusSource {
  report(): Promise<StatusReport>;
  /** By repoId. */
  freshness(repoIds: readonly number[]): ReadonlyMap<number, Freshness>;
}

export interface Freshness {
  /** Names of the connections of the repository. */
  readonly connections: readonly string[];
  /** When its host was last checked for changes. */
  readonly askedAt: string | null;
  readonly job: 'waiting' | 'running' | null;
}

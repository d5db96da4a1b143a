// How the running daemon is, as its operator is told. Times are ISO 8601.

import type { JobUnit } from '../../repos/jobs.ts';

export interface StatusReport {
  readonly url: string;
  readonly version: string;
  readonly startedAt: string;
  /** Repositories that are served; of those the ones that are indexed, and those whose last job failed. */
  readonly repos: { readonly served: number; readonly indexed: number; readonly failed: number };
  /** Until all are indexed, at the speed since the start, ms; null: not known, or they are. */
  readonly remainingMs: number | null;
  /** Newest first. */
  readonly jobs: { readonly running: readonly RunningJob[]; readonly waiting: number };
  /** How many repositories are searched without symbols, and why, in a sentence; null: none. */
  readonly symbols: string | null;
  readonly connections: readonly ConnectionStatus[];
  /** Sentences. */
  readonly problems: readonly string[];
  /** What repositories and connections may not be meant to be, sentences; the first ones. */
  readonly warnings: readonly string[];
}

export interface RunningJob {
  readonly queue: string;
  /** Name of the repository or connection. */
  readonly target: string;
  /** Null: it has said nothing yet. */
  readonly phase: string | null;
  /** Of the phase, in `unit`. */
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly unit: JobUnit;
  /** Bytes that its host has sent so far; null: none. */
  readonly receivedSize: number | null;
  /** Of the phase, at its speed so far; null: not known. */
  readonly remainingMs: number | null;
  readonly startedAt: string | null;
}

export interface ConnectionStatus {
  readonly name: string;
  readonly type: string;
  readonly repos: number;
  readonly indexed: number;
  /** When a listing ended last; null: none has. */
  readonly syncedAt: string | null;
  /** `unanswered`: it is listed, and its host has not answered for a while. */
  readonly state: 'listing' | 'unanswered' | 'waiting' | 'fine' | 'failed' | 'incomplete';
  /** Why it is not listed, or with gaps. */
  readonly failure: string | null;
}

export interface StatusSource {
  report(): Promise<StatusReport>;
  /** By repoId. */
  freshness(repoIds: readonly number[]): ReadonlyMap<number, Freshness>;
}

export interface Freshness {
  /** Names of the connections that have the repository. */
  readonly connections: readonly string[];
  /** When its host was asked last whether there is something new. */
  readonly askedAt: string | null;
  readonly job: 'waiting' | 'running' | null;
}

// The state of the running daemon, for the operator.

import { z } from 'zod';
import { JOB_UNITS } from '../../repos/jobs.ts';
import { integer, nullableTime, text, time } from './schemas.ts';

/** Milliseconds. */
const remainingMs = integer('Time remaining at the speed so far; null: unknown.').nullable();

const runningJob = z.object({
  queue: text('Kind of job.'),
  target: text('Name of the repository or connection.'),
  phase: text('Current step; null: no progress yet.').nullable(),
  done: integer('Amount done, in `unit`.'),
  total: integer('Total amount; 0: unknown.'),
  unit: z.enum(JOB_UNITS),
  receivedSize: integer('Bytes received from its host so far; null: none.').nullable(),
  remainingMs,
  startedAt: nullableTime('When it started.'),
});

const connectionStatus = z.object({
  name: text('Name.'),
  type: text('Kind of host.'),
  repos: integer('Repositories.'),
  indexed: integer('Indexed ones.'),
  syncedAt: nullableTime('End of the last listing; null: never listed.'),
  state: z
    .enum(['listing', 'unanswered', 'waiting', 'fine', 'failed', 'incomplete'])
    .describe('`unanswered`: the listing waits for a silent host.'),
  failure: text('Why it is not listed, or only in part.').nullable(),
});

export const statusReport = z.object({
  url: text('Public address; null: it answers on the control socket only.').nullable(),
  version: text('Version of the product.'),
  startedAt: time('When the daemon started.'),
  repos: z.object({
    served: integer('Served repositories.'),
    indexed: integer('Indexed ones.'),
    failed: integer('Those whose last job failed.'),
  }),
  remainingMs,
  jobs: z.object({
    running: z.array(runningJob).readonly().describe('Newest first.'),
    waiting: integer('Waiting jobs.'),
  }),
  symbols: text('A sentence about repositories that are searched without symbols.').nullable(),
  connections: z.array(connectionStatus).readonly(),
  problems: z.array(text('A sentence.')).readonly(),
  warnings: z.array(text('What may be unintended; the first ones.')).readonly(),
});

export type StatusReport = z.output<typeof statusReport>;
export type RunningJob = z.output<typeof runningJob>;
export type ConnectionStatus = z.output<typeof connectionStatus>;

export interface StatusSource {
  report(): Promise<StatusReport>;
  /** By repoId. */
  freshness(repoIds: readonly number[]): ReadonlyMap<number, Freshness>;
}

export interface Freshness {
  readonly connections: readonly string[];
  /** When its host was last checked for changes. */
  readonly askedAt: string | null;
  readonly job: 'waiting' | 'running' | null;
}

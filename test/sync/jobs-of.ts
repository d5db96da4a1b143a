// Jobs of a daemon over a real store, with a programmable indexer.

import type { TestContext } from 'node:test';
import type { JobRows, JobExchange } from '../../daemon/store/jobs.ts';
import { openStore } from '../../daemon/store/store.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import type { IndexContext, IndexOutcome } from '../../daemon/sync/jobs/index-repo.ts';
import { JobFacade } from '../../daemon/sync/jobs/job-facade.ts';
import type { JobLimits } from '../../daemon/sync/jobs/job-limits.ts';
import { Jobs, type JobsOptions } from '../../daemon/sync/jobs/jobs.ts';
import { repoRecord } from '../repos/record.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

const OUTCOME: IndexOutcome = {
  isUnchanged: false,
  revisionCount: 1,
  docCount: 3,
  deadCount: 0,
  shardCount: 1,
  contentSize: 30,
  shardSize: 40,
  skipped: { binary: 1 },
  ignored: {},
  excluded: {},
};

const UNCHANGED = { ...OUTCOME, isUnchanged: true };

/** Of a repo that is not served yet. */
export const NEW_ID = 4;

export function recordOf(repoId: number): RepoRecord {
  const source = { kind: 'commits', path: `/r${repoId}` } as const;
  return { ...repoRecord(repoId, `r${repoId}`), source };
}

export interface Attempt {
  readonly repoId: number;
  readonly isForced: boolean;
  readonly context: IndexContext;
  end(outcome?: Partial<IndexOutcome> | Error): Promise<void>;
}

/** Its jobs are closed by `await using`. */
export interface Daemon extends AsyncDisposable {
  readonly jobs: Jobs;
  readonly jobFacade: JobFacade;
  /** Resolves when all that can start has started. */
  readonly calm: () => Promise<void>;
  /** Those that have begun, in order. */
  readonly attempts: Attempt[];
  readonly warnings: string[];
  readonly reported: string[];
}

/** Jobs as a daemon on this store has them. */
export async function daemonOn(
  rows: JobRows,
  {
    instance = 'a',
    fetchHostOf = () => undefined,
    unchanged = () => false,
    ...more
  }: Partial<JobLimits> &
    Partial<Pick<JobsOptions, 'fetchHostOf'>> & {
      readonly instance?: string;
      /** Whether a check finds nothing changed. */
      readonly unchanged?: (record: RepoRecord) => boolean;
    } = {},
): Promise<Daemon> {
  const attempts: Attempt[] = [];
  const warnings: string[] = [];
  const reported: string[] = [];
  const write = (line: string): void =>
    void (line.includes(' INFO ') ? reported : warnings).push(line);
  const log = createLog({ level: 'info', format: 'text', write });
  const index = (
    { repoId }: RepoRecord,
    isForced: boolean,
    context: IndexContext,
  ): Promise<IndexOutcome> =>
    new Promise((resolve, reject) => {
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
      const end = async (outcome: Partial<IndexOutcome> | Error = {}): Promise<void> => {
        if (outcome instanceof Error) reject(outcome);
        else resolve({ ...OUTCOME, ...outcome });
        await calm();
      };
      attempts.push({ repoId, isForced, context, end });
    });
  const calm = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await timeSlices();
      await jobs.flush();
    }
  };
  const jobs = new Jobs({
    indexer: {
      index,
      markRebuildDue: () => Promise.resolve(),
      unchanged: (record) => Promise.resolve(unchanged(record) ? UNCHANGED : undefined),
      warningsOf: () => Promise.resolve([]),
    },
    served: {
      hideIfDetached: () => Promise.resolve(),
      damagedRepo: () => undefined,
      record: (repoId) => (repoId === NEW_ID ? undefined : recordOf(repoId)),
    },
    jobRows: rows,
    instance,
    log,
    fetchHostOf,
    jobLimits: () => ({ runningMax: 2, timeoutMs: 60_000, attemptsMax: 2, ...more }),
  });
  await jobs.recall((repoId) => `r${repoId}`);
  const jobFacade = new JobFacade(jobs, { jobRows: rows, instance });
  return {
    jobs,
    jobFacade,
    calm,
    attempts,
    warnings,
    reported,
    [Symbol.asyncDispose]: () => jobs.close(),
  };
}

export async function timeSlices(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
}

/** Timers and a clock that the test moves by hand, and no chance. */
export function mockTimers(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 });
  t.mock.method(Math, 'random', () => 0);
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return async (ms) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await timeSlices();
  };
}

/** A turn that stores nothing, and claims none. */
export const NOTHING: JobExchange = {
  writes: [],
  gone: [],
  cancelled: new Map(),
  requests: [],
  owner: 'p',
  claim: undefined,
  now: 1_000_000,
};

/** The table of a new store; while `error` is there no turn is stored. */
export async function newRows(): Promise<
  JobRows & { error: Error | undefined; exchangeCount: number }
> {
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const { jobs } = await openStore({ dataDir: temporaryFolder(), log });
  const rows = {
    ...jobs,
    error: undefined as Error | undefined,
    exchangeCount: 0,
    exchange(...call: Parameters<JobRows['exchange']>) {
      rows.exchangeCount++;
      return rows.error === undefined ? jobs.exchange(...call) : Promise.reject(rows.error);
    },
  };
  return rows;
}

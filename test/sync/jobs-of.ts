// Jobs as a daemon has them, over a store of the test, with an indexer that does as it is told.

import type { TestContext } from 'node:test';
import type { JobRows } from '../../daemon/store/jobs.ts';
import type { Store } from '../../daemon/store/store.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import type { IndexContext, IndexOutcome } from '../../daemon/sync/jobs/index-repo.ts';
import { JobHistory } from '../../daemon/sync/jobs/job-history.ts';
import { JobFacade } from '../../daemon/sync/jobs/job-facade.ts';
import type { JobLimits } from '../../daemon/sync/jobs/job-limits.ts';
import { Jobs, type JobsOptions } from '../../daemon/sync/jobs/jobs.ts';

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

/** Of a repo that is not served yet. */
export const NEW_ID = 4;

export function recordOf(repoId: number): RepoRecord {
  return {
    repoId,
    name: `r${repoId}`,
    codeHostType: 'genericGitHost',
    isFork: false,
    isArchived: false,
    visibility: 'unknown',
    source: { kind: 'commits', path: `/r${repoId}` },
    defaultRevision: 'HEAD',
    indexedAt: '2026-01-01T00:00:00.000Z',
  };
}

/** An attempt that is under way. */
export interface Attempt {
  readonly repoId: number;
  readonly isForced: boolean;
  readonly context: IndexContext;
  end(outcome?: Partial<IndexOutcome> | Error): Promise<void>;
}

export interface Daemon {
  readonly jobs: Jobs;
  readonly jobFacade: JobFacade;
  readonly jobHistory: JobHistory;
  /** Those that have begun, in order. */
  readonly attempts: Attempt[];
  readonly warnings: string[];
  /** Other lines of the log. */
  readonly told: string[];
}

/** Jobs as a daemon on this store has them. */
export async function daemonOn(
  rows: JobRows,
  {
    instance = 'a',
    fetchHostOf = () => undefined,
    ...more
  }: Partial<JobLimits> &
    Partial<Pick<JobsOptions, 'fetchHostOf'>> & { readonly instance?: string } = {},
): Promise<Daemon> {
  const attempts: Attempt[] = [];
  const warnings: string[] = [];
  const told: string[] = [];
  const write = (line: string): void => void (line.includes(' INFO ') ? told : warnings).push(line);
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
        await turns();
      };
      attempts.push({ repoId, isForced, context, end });
    });
  const jobHistory = new JobHistory({ rows, instance, log });
  const jobs = new Jobs({
    indexer: {
      index,
      markRebuildDue: () => Promise.resolve(),
      warningsOf: () => Promise.resolve([]),
    },
    served: {
      hideIfStray: () => Promise.resolve(),
      damagedRepo: () => undefined,
      record: (repoId) => (repoId === NEW_ID ? undefined : recordOf(repoId)),
    },
    jobHistory,
    log,
    fetchHostOf,
    jobLimits: () => ({ runningMax: 2, timeoutMs: 60_000, attemptsMax: 2, ...more }),
  });
  await jobs.recall((repoId) => `r${repoId}`);
  return { jobs, jobFacade: new JobFacade(jobs, jobHistory), jobHistory, attempts, warnings, told };
}

export async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

/** Timers and a clock that the test moves by hand, and no chance. */
export function mockTimers(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(Math, 'random', () => 0);
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return async (ms) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await turns();
  };
}

/** Rows that are kept nowhere; while `error` is there they cannot be written. */
export function emptyRows(): JobRows & { error: Error | undefined; writeCount: number } {
  return {
    error: undefined,
    writeCount: 0,
    write(this: { error: Error | undefined; writeCount: number }) {
      this.writeCount++;
      return this.error === undefined ? Promise.resolve() : Promise.reject(this.error);
    },
    byId: () => Promise.resolve(undefined),
    linesOf: () => Promise.resolve(undefined),
    latest: () => Promise.resolve([]),
    open: () => Promise.resolve([]),
    list: () => Promise.resolve({ total: 0, rows: [] }),
    prune: () => Promise.resolve(0),
  } satisfies Store['jobs'] & { error: Error | undefined; writeCount: number };
}

// Collects the status report for the operator.

import type { StoredConnection } from '../store/connections.ts';
import { StoreError } from '../store/error.ts';
import { readProductVersion } from '../base/config/version.ts';
import { awaitedOf } from '../hosts/awaited-answers.ts';
import type { ListingIssue } from '../hosts/host.ts';
import type {
  ConnectionStatus,
  Freshness,
  RunningJob,
  StatusReport,
  StatusSource,
} from '../api/shapes/status-report.ts';
import { isoTime } from '../api/shapes/schemas.ts';
import { type Instance } from './instance.ts';
import type { Connections } from '../sync/connections/connections.ts';
import { SYNC_QUEUE } from '../sync/connections/sync-jobs.ts';
import type { ListedJob } from '../sync/jobs/job-facade.ts';

const RUNNING_MAX = 50;

/** `problems`: sentences about what does not work; `startedMs`: since the epoch. */
export function statusSource(
  instance: Instance,
  url: () => string | null,
  startedMs: number,
  problems: () => readonly string[],
): StatusSource {
  return {
    report: async () => reportOf(instance, url(), startedMs, problems),
    freshness: (repoIds) => freshnessOf(instance, repoIds),
  };
}

async function reportOf(
  instance: Instance,
  url: string | null,
  startedMs: number,
  problems: () => readonly string[],
): Promise<StatusReport> {
  const { served } = instance;
  const { jobFacade, symbols } = instance.indexer;
  const { records } = served;
  const indexed = records.filter(({ indexedAt }) => indexedAt !== undefined);
  const { failed } = jobFacade.counts(records);
  const { open } = jobFacade;
  const running = open.filter(({ state }) => state === 'IN_PROGRESS').slice(0, RUNNING_MAX);
  const waiting = await orIfAway(
    jobFacade.list({ state: 'PENDING', offset: 0, limit: 0 }).then(({ total }) => total),
    open.filter(({ state }) => state === 'PENDING').length,
  );
  const connections = await connectionsOf(instance, open);
  return {
    url,
    version: readProductVersion(),
    startedAt: new Date(startedMs).toISOString(),
    repos: { served: records.length, indexed: indexed.length, failed },
    remainingMs: remainingMs(
      running,
      indexed.filter(({ indexedAt }) => Date.parse(indexedAt!) >= startedMs).length,
      records.length - indexed.length - failed,
      Date.now() - startedMs,
    ),
    jobs: { running: running.map((job) => jobOf(instance, job)), waiting },
    symbols: symbols.pending ?? symbols.lastError ?? null,
    connections,
    problems: problems(),
    warnings: [...gapsOf(connections), ...warningsOf(instance)].slice(0, 20),
  };
}

/** `other`: while the store cannot be reached. */
async function orIfAway<Value>(read: Promise<Value>, other: Value): Promise<Value> {
  return read.catch((error: unknown) => {
    if (error instanceof StoreError && error.errorCode === 'NOT_READY') return other;
    throw error;
  });
}

/** Connections that were only partly listed. */
function gapsOf(connections: readonly ConnectionStatus[]): string[] {
  return connections
    .filter(({ state }) => state === 'incomplete')
    .map(({ name, failure }) => {
      const reason = failure ?? 'its next listing says why';
      return `connection ${name} could not be fully synced: ${reason}`;
    });
}

function warningsOf(instance: Instance): string[] {
  const { warned } = instance.indexer.jobs;
  return instance.served.records.flatMap(({ repoId, name }) =>
    (warned.get(repoId) ?? []).map((sentence) => `${name}: ${sentence}`),
  );
}

/** At the speed so far; at least the estimate of the slowest job. */
function remainingMs(
  running: readonly ListedJob[],
  done: number,
  remaining: number,
  spentMs: number,
): number | null {
  if (remaining <= 0 || done === 0) return null;
  const ofJobs = running.map(({ progress }) => progress?.remainingMs ?? 0);
  // A shorter remaining time is over before it is read.
  return Math.max(1_000, Math.round((spentMs / done) * remaining), ...ofJobs);
}

function jobOf(
  instance: Instance,
  { queue, targetId, startedAt, progress }: ListedJob,
): RunningJob {
  return {
    queue,
    target: targetOf(instance, queue, targetId),
    phase: progress?.phase ?? null,
    done: progress?.done ?? 0,
    total: progress?.total ?? 0,
    unit: progress?.unit ?? 'bytes',
    receivedSize: progress?.receivedSize ?? null,
    remainingMs: progress?.remainingMs ?? null,
    startedAt: isoTime(startedAt),
  };
}

function targetOf({ index, indexer }: Instance, queue: string, targetId: number): string {
  if (queue !== SYNC_QUEUE) return index.registry.byId(targetId)?.name ?? `#${targetId}`;
  const found = indexer.connections?.all.find((one) => one.connectionId === targetId);
  return found?.name ?? `#${targetId}`;
}

async function connectionsOf(
  instance: Instance,
  open: readonly ListedJob[],
): Promise<ConnectionStatus[]> {
  const { connections, jobFacade } = instance.indexer;
  if (connections === undefined) return [];
  const { all } = connections;
  const ids = all.map(({ connectionId }) => connectionId);
  const listings = open.filter(({ queue }) => queue === SYNC_QUEUE);
  const known = new Map(listings.map((job) => [job.targetId, job]));
  const jobs = await orIfAway(jobFacade.latest(ids, SYNC_QUEUE), known);
  const counts = countsOf(instance);
  return all.map((one) => {
    const job = jobs.get(one.connectionId);
    return {
      name: one.name,
      type: one.type,
      ...(counts.get(one.connectionId) ?? { repos: 0, indexed: 0 }),
      syncedAt: isoTime(one.syncedAt),
      state: stateOf(one, job, connections.sync),
      failure: connections.lastErrorOf(one) ?? job?.error ?? gapOf(job) ?? null,
    };
  });
}

function gapOf(job: ListedJob | undefined): string | undefined {
  // Safety: only sync/connections/sync-jobs.ts writes it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const issues = job?.result?.['issues'] as readonly ListingIssue[] | undefined;
  return issues?.[0]?.message;
}

/** @param job  its last one; undefined also if only the store has it, and is away */
function stateOf(
  { connectionId, name, syncedAt, wholeAt }: StoredConnection,
  job: ListedJob | undefined,
  { failed, warned }: Connections['sync'],
): ConnectionStatus['state'] {
  if (job?.state === 'IN_PROGRESS') return awaitedOf(name) ? 'unanswered' : 'listing';
  if (job?.state === 'PENDING') return job.error === null ? 'waiting' : 'failed';
  if (job?.state === 'FAILED' || failed.reasonOf(connectionId) !== undefined) return 'failed';
  if (syncedAt === null) return 'waiting';
  const isWhole =
    syncedAt === wholeAt &&
    !warned.has(connectionId) &&
    job?.result?.['status'] !== 'PARTIAL_SUCCESS';
  return isWhole ? 'fine' : 'incomplete';
}

function countsOf(instance: Instance): Map<number, { repos: number; indexed: number }> {
  const { connections } = instance.indexer;
  const counts = new Map<number, { repos: number; indexed: number }>();
  for (const { repoId, indexedAt } of instance.served.records)
    for (const id of connections?.idsOf(repoId) ?? []) {
      const count = counts.get(id) ?? { repos: 0, indexed: 0 };
      count.repos++;
      if (indexedAt !== undefined) count.indexed++;
      counts.set(id, count);
    }
  return counts;
}

function freshnessOf(instance: Instance, repoIds: readonly number[]): Map<number, Freshness> {
  const { connections, jobs } = instance.indexer;
  const names = new Map(connections?.all.map((one) => [one.connectionId, one.name]));
  const states = new Map<number, 'running' | 'waiting'>();
  for (const { row } of jobs.open)
    if (row.state === 'IN_PROGRESS') states.set(row.targetId, 'running');
    else if (!states.has(row.targetId)) states.set(row.targetId, 'waiting');
  return new Map(
    repoIds.map((repoId) => [
      repoId,
      {
        connections: (connections?.idsOf(repoId) ?? []).flatMap((id) => names.get(id) ?? []),
        askedAt: isoTime(connections?.mirrors.lastFetch(repoId).fetchedAt ?? null),
        job: states.get(repoId) ?? null,
      },
    ]),
  );
}

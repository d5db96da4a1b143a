// What the endpoints get from the parts of a running daemon.

import type { Configuration } from '../base/config/configuration.ts';
import type { Log } from '../base/log.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import type {
  ConnectionService,
  ConnectionView,
  JobService,
  Services,
  ShardFailure,
} from '../api/shapes/endpoint-services.ts';
import type { OperatorService, RepoRule } from '../api/shapes/operator-service.ts';
import type { StatusSource } from '../api/shapes/status-report.ts';
import { explain } from '../engine/search/explain.ts';
import { navigate } from '../engine/search/navigation.ts';
import { search } from '../engine/search/search.ts';
import { listSkipped } from '../engine/search/skipped.ts';
import { startStream } from '../engine/search/stream.ts';
import { suggest } from '../engine/search/suggest.ts';
import type { RepoDirectory } from '../repos/directory.ts';
import { listRefs } from '../sources/git/refs.ts';
import type { History } from '../sources/history/history.ts';
import { readSource } from '../sources/reading/source-reader.ts';
import { listFiles, listFolders } from '../sources/reading/tree-reader.ts';
import type { Actor } from '../store/audit.ts';
import type { StoredConnection } from '../store/connections.ts';
import type { StoredRepos } from '../store/repos.ts';
import { unlistedOf } from '../sync/connections/remove-repos.ts';
import { SYNC_QUEUE } from '../sync/connections/sync-jobs.ts';
import type { MemberSync } from '../sync/members/member-sync.ts';
import type { ControlPlane } from './control-plane.ts';
import type { HealthSeries } from './health-series.ts';
import type { Instance } from './instance.ts';
import { isElsewhere } from './open-index.ts';
import type { Reread } from './reread.ts';

export interface DaemonParts {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly instance: Instance;
  readonly directory: RepoDirectory;
  readonly control: ControlPlane;
  readonly members: MemberSync;
  readonly history: History;
  readonly reread: Reread;
  readonly health: HealthSeries;
  readonly status: StatusSource;
  /** Aborted when the daemon stops. */
  readonly stopping: AbortSignal;
}

export function servicesOf(all: DaemonParts): Services {
  const { log, instance, directory, control, members, history, reread, health } = all;
  const { served, parts } = instance;
  return {
    search: {
      search: (call, context) => search(parts, call, context),
      stream: (call, context) => startStream(parts, call, context),
      explain: (call, context, seesShards) => explain(parts, call, context, seesShards),
      navigate: (kind, call, context) => navigate(parts, kind, call, context),
      suggest: (call, context) => suggest(parts, call, context),
    },
    repos: directory,
    source: { read: readSource },
    history,
    trees: { files: listFiles, folders: listFolders },
    refs: { list: listRefs },
    skipped: { list: (repo, window) => listSkipped(parts, repo.repoId, window) },
    jobs: jobServiceOf(instance),
    connections: connectionServiceOf(instance, members),
    webhooks: {
      isOn: () => instance.indexer.connections?.pushes.isAwaiting === true,
      take: async (delivery) =>
        (await instance.indexer.connections?.pushes.take(delivery)) ?? {
          outcome: 'unproven',
          repositories: 0,
        },
    },
    readiness: {
      status: () => ({
        isReady: true,
        isStoreLost: control.isLost(),
        shardCount: parts.snapshots.current.shards.length,
        repoCount: directory.all.length,
        quarantinedShardCount: served.quarantinedCount,
        degraded: [
          ...control.degraded(),
          ...instance.indexer.degradations,
          ...members.degradations,
          ...reread.degradations,
          ...(log.lastError === undefined ? [] : [`the log cannot be written: ${log.lastError}`]),
        ],
      }),
      quarantine: () => quarantineOf(instance),
    },
    health,
    operator: operatorServiceOf(all),
  };
}

function operatorServiceOf({
  configuration,
  instance,
  control,
  status,
  stopping,
}: DaemonParts): OperatorService {
  return {
    rules: {
      list: () => rulesOf(instance),
      change: (...call) => instance.indexer.rules.change(...call),
      remove: (...call) => removeUnserved(instance, ...call),
    },
    status,
    async *backup(input, signal) {
      const { makeBackup } = await import('../backup/make.ts');
      const source = { configuration, catalog: instance.catalog, store: control.store };
      yield* makeBackup(source, input, AbortSignal.any([signal, stopping]));
    },
  };
}

function rulesOf(instance: Instance): readonly RepoRule[] {
  const { failed } = instance.indexer.jobs;
  const served = new Set(instance.served.records.map(({ repoId }) => repoId));
  return (instance.index.registry.all ?? []).map((repo) => {
    const { repoId } = repo;
    return {
      ...repo,
      isServed: served.has(repoId),
      isListed: instance.indexer.connections?.has(repoId) === true,
      isElsewhere: isElsewhere(instance.index, repoId),
      ...omitUndefined({ indexedAt: instance.catalog.repo(repoId)?.record.indexedAt }),
      failure: failed.reasonOf(repoId),
    };
  });
}

async function removeUnserved(
  instance: Instance,
  repoIds: ReadonlySet<number>,
  actor: Actor,
): Promise<void> {
  const toGo = (stored: StoredRepos): ReadonlySet<number> => {
    const served = new Set(instance.served.records.map(({ repoId }) => repoId));
    const unlisted = unlistedOf(stored, repoIds);
    return new Set([...unlisted].filter((repoId) => !served.has(repoId)));
  };
  await instance.indexer.connections?.remover.remove([...repoIds], toGo, actor);
}

function jobServiceOf(instance: Instance): JobService {
  const { catalog } = instance;
  const { jobFacade, connections } = instance.indexer;
  return {
    index: async (repoId) => {
      const repo = catalog.repo(repoId);
      if (repo === undefined) return undefined;
      connections?.mirrors.markStale(repoId);
      return jobFacade.index(repo.record);
    },
    latest: (repoIds) => jobFacade.latest(repoIds),
    list: (query) => jobFacade.list(query),
    lines: (queue, id) => jobFacade.lines(queue, id),
    counts: (records) => jobFacade.counts(records),
    commitOf: (repoId) => catalog.repo(repoId)?.commits?.[0] ?? undefined,
    states: () => jobFacade.states(),
    sizesOf: (repoId) => {
      const repo = catalog.repo(repoId);
      if (repo?.record.indexedAt === undefined) return undefined;
      const { docCount: docs, contentSize, shardSize } = catalog.sizesOf(repo);
      return { docs, contentBytes: contentSize, shardBytes: shardSize, skipped: repo.skipped };
    },
    askedAt: (repoId) => connections?.mirrors.lastFetch(repoId).fetchedAt,
  };
}

function quarantineOf({ parts }: Instance): ShardFailure[] {
  const { quarantined, repos } = parts.snapshots.current;
  const names = new Map(repos.map(({ repoId, name }) => [repoId, name]));
  return quarantined.slice(0, 100).map((shard) => ({
    shardId: shard.shardId,
    bytes: shard.size,
    reason: shard.reason,
    repositories: shard.parts.flatMap(({ repoId }) => names.get(repoId) ?? []),
  }));
}

function connectionServiceOf(instance: Instance, members: MemberSync): ConnectionService {
  const { connections, jobFacade } = instance.indexer;
  return {
    list: () =>
      (connections?.all ?? []).map((one) =>
        viewOfConnection(one, connections?.lastErrorOf(one), members.countsOf(one.name)),
      ),
    idsOf: (repoId) => connections?.idsOf(repoId) ?? [],
    latest: (ids) => jobFacade.latest(ids, SYNC_QUEUE),
    sync: async (id) => {
      const name = connections?.all.find(({ connectionId }) => connectionId === id)?.name;
      if (name !== undefined) members.request(name);
      return connections?.requestSync(id);
    },
    counts: () => connections?.counts ?? { firstTime: 0, failed: 0, warned: 0 },
  };
}

function viewOfConnection(
  { connectionId: id, name, type, syncedAt }: StoredConnection,
  trouble: string | undefined,
  readers: ConnectionView['readers'],
): ConnectionView {
  return { id, name, connectionType: type, syncedAt, ...omitUndefined({ trouble, readers }) };
}

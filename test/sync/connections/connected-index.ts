// An index of connections to local hosts, as in a daemon, with pauses that a test can wait for.

import type { RepoAccess } from '../../../daemon/repos/repo-access.ts';
import type { Index } from '../../../daemon/app/open-index.ts';
import { omitUndefined } from '../../../daemon/base/omit-undefined.ts';
import type { ConnectionSettings } from '../../../daemon/base/config/connections.ts';
import type { SecretText } from '../../../daemon/base/config/secret-text.ts';
import type { Connections } from '../../../daemon/sync/connections/connections.ts';
import type { ConnectionLimits } from '../../../daemon/sync/jobs/job-limits.ts';
import type { ListedJob } from '../../../daemon/sync/jobs/job-facade.ts';
import type { FetchMirror } from '../../../daemon/sync/connections/mirrors.ts';
import type { MergeLimits } from '../../../daemon/index/merge/merge-plan.ts';
import { type IndexOf, openIndexOf } from '../index-of.ts';
import type { Indexer } from '../../../daemon/sync/indexer.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { fetchLocal, type LocalHost, settingsOf } from './local-host.ts';

export interface ConnectedIndex extends IndexOf {
  readonly connections: Connections;
  readonly store: Index['store'];
  /** As `configure` of the daemon. */
  configure(settings: Readonly<Record<string, ConnectionSettings>>): Promise<void>;
  /** Lists a connection now; the job, ended. Errors: as `requestSync`; it was listed all the same. */
  sync(name: string): Promise<ListedJob>;
  settle(): Promise<void>;
  /** `name visibility` of the repos that searches see, by name; `enforcement` where there is one. */
  displayed(): string[];
}

export interface ConnectedOptions extends Partial<ConnectionLimits> {
  readonly fetchMirror?: FetchMirror;
  /** Default: attempts of jobs. */
  readonly attemptsMax?: number;
  /** Default: no. */
  readonly findsSymbols?: boolean;
  /** Default: no webhook is taken. */
  readonly webhookSecret?: SecretText;
  /** Default: those of the daemon. */
  readonly mergeLimits?: MergeLimits;
}

export const GRACE_MS = 5;

type Opener = Pick<LocalHost, 'open'>;

/** Resolves when nothing is to do any more: three looks in a row, as what one queue does may give another one work. */
async function untilCalm(indexer: Indexer, connections: Connections): Promise<void> {
  for (let calm = 0; calm < 3; calm++) {
    await connections.sync.whenIdle();
    await connections.cleanup.whenIdle();
    await indexer.jobs.whenIdle();
    await connections.submodules.whenIdle();
    await new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
  }
}

export async function openConnected(
  dataDir: string,
  host: Opener | ((name: string, settings: ConnectionSettings) => Opener),
  settings: Readonly<Record<string, ConnectionSettings>>,
  {
    fetchMirror = fetchLocal,
    attemptsMax = 1,
    findsSymbols = false,
    webhookSecret,
    mergeLimits,
    ...more
  }: ConnectedOptions = {},
): Promise<ConnectedIndex> {
  const jobs = { runningMax: 4, timeoutMs: 60_000, attemptsMax };
  const limits: ConnectionLimits = {
    reindexIntervalMs: 3_600_000,
    resyncConnectionIntervalMs: 3_600_000,
    repoGarbageCollectionGracePeriodMs: GRACE_MS,
    syncJobs: jobs,
    cleanupJobs: jobs,
    fetchTimeoutMs: 60_000,
    ...more,
  };
  const index = await openIndexOf(dataDir, {
    findsSymbols,
    ...omitUndefined({ mergeLimits }),
    hosts: {
      openHost: (name, options) =>
        Promise.resolve((typeof host === 'function' ? host(name, options) : host).open(name)),
      fetchMirror,
      webhookSecret: () => webhookSecret,
    },
    connectionLimits: () => limits,
  });
  const indexer = index.instance.indexer;
  const connections = indexer.connections!;
  const { store } = index.instance.index;
  await connections.configure(settings);
  await indexer.sources.confirm();
  index.instance.served.publish();
  await connections.start();
  const settle = () => untilCalm(indexer, connections);
  return {
    ...index,
    connections,
    store,
    configure: (now) => connections.configure(now),
    async sync(name) {
      const { connectionId } = connections.all.find((one) => one.name === name)!;
      const requested = connections.requestSync(connectionId);
      await requested.catch(() => {});
      await connections.sync.whenIdle();
      await settle();
      const id = await requested;
      const { items } = await indexer.jobFacade.list({ offset: 0, limit: 1_000 });
      return items.find((job) => job.id === id)!;
    },
    settle,
    displayed: () =>
      index.instance.parts.snapshots.current.repos
        .map(
          ({ name, visibility, enforcement }) => `${name} ${visibility} ${enforcement ?? 'open'}`,
        )
        .sort(),
  };
}

/** An index of connection `c` to a host, once nothing is under way any more. */
export async function settled(
  host: Opener,
  {
    dataDir = temporaryFolder(),
    settings = settingsOf(),
    ...more
  }: ConnectedOptions & { readonly dataDir?: string; readonly settings?: ConnectionSettings } = {},
): Promise<ConnectedIndex> {
  const index = await openConnected(dataDir, host, { c: settings }, more);
  await index.settle();
  return index;
}

/** `repository:path` of the files that hold a word, sorted. */
export async function found(
  index: ConnectedIndex,
  word: string,
  repoAccess?: RepoAccess,
): Promise<string[]> {
  const { files } = await index.search(word, {}, repoAccess);
  return files.map(({ repository, path }) => `${repository}:${path}`).sort();
}

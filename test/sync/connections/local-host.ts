// A code host on this machine: it serves real git repositories, and lists what a test defines, page by page, with the
// failures that the test wants.

import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ConnectionSettings } from '../../../daemon/base/config/connections.ts';
import { connectionSchema } from '../../../daemon/base/config/connections.ts';
import {
  type Host,
  HostError,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
} from '../../../daemon/hosts/host.ts';
import { listTargets, type Target } from '../../../daemon/hosts/targets.ts';
import { fetchMirror } from '../../../daemon/hosts/mirrors/fetch-mirror.ts';
import type { FetchMirror } from '../../../daemon/sync/connections/mirrors.ts';

/** What a host has, as a test changes it. `at`: names of connections that list it; absent: all. `targets`: of `LocalHost`. */
export type HostedRepo = Partial<HostRepo> &
  Pick<HostRepo, 'hostId' | 'path' | 'cloneUrl'> & {
    readonly at?: readonly string[];
    readonly targets?: readonly string[];
  };

export interface LocalHost {
  repos: HostedRepo[];
  issues: ListingIssue[];
  pageSize: number;
  /** What a connection names, and what becomes of it; undefined: all repositories are listed as one. */
  targets: Readonly<Record<string, 'fine' | 'empty' | HostError>> | undefined;
  /** Thrown when the page of this number is asked for, from 0. */
  failAt: number | undefined;
  beforePage: (() => Promise<unknown>) | undefined;
  /** Paths that were asked for one by one. */
  readonly requestedPaths: string[];
  /** What is answered to that in place of what is in `repos`. */
  answerPath: ((path: string) => Promise<HostRepo>) | undefined;
  /** Pages that were given, by their first index. */
  readonly requested: number[];
  readonly open: (name: string) => Host;
}

export function hostedRepo(
  hostId: string,
  folder: string,
  more: Partial<HostedRepo> = {},
): HostedRepo {
  return { hostId, path: `o/${hostId}`, cloneUrl: `file://${folder}`, ...more };
}

export function localHost(nameHost = 'host'): LocalHost {
  const host: LocalHost = {
    repos: [],
    issues: [],
    pageSize: 2,
    targets: undefined,
    failAt: undefined,
    beforePage: undefined,
    requested: [],
    requestedPaths: [],
    answerPath: undefined,
    open: (name) => ({
      codeHostType: 'gitea',
      nameHost,
      list: (signal) =>
        host.targets === undefined
          ? pagesOf(host, name, signal)
          : listTargets({ targets: targetsOf(host), issues: host.issues }, signal),
      gitCredential: () => Promise.resolve(undefined),
      async repository(path) {
        host.requestedPaths.push(path);
        const found = host.repos.find((repo) => repo.path === path);
        if (host.answerPath !== undefined) return host.answerPath(path);
        if (found === undefined) throw new HostError('NOT_FOUND', `${path}: there is nothing`);
        return fullRepo(found);
      },
      probe: () => Promise.resolve('somebody'),
      close: () => Promise.resolve(),
    }),
  };
  return host;
}

/** A host whose repositories 1, 2 and so on are in these folders. */
export function hostOf(...folders: readonly string[]): LocalHost {
  const host = localHost();
  host.repos = folders.map((folder, index) => hostedRepo(`${index + 1}`, folder));
  return host;
}

async function* pagesOf(
  host: LocalHost,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<ListingPage> {
  for (let start = 0; ; start += host.pageSize) {
    await nextTimeSlice();
    if (host.beforePage !== undefined) await Promise.race([host.beforePage(), aborted(signal)]);
    signal.throwIfAborted();
    if (host.failAt !== undefined && start >= host.failAt * host.pageSize)
      throw new HostError('HOST_UNAVAILABLE', `${name}: the host is down; try again later`);
    host.requested.push(start);
    const all = host.repos.filter(({ at }) => at === undefined || at.includes(name));
    const next = start + host.pageSize;
    const isLast = next >= all.length;
    yield { repos: all.slice(start, next).map(fullRepo), issues: isLast ? host.issues : [] };
    if (isLast) return;
  }
}

function targetsOf({ repos, targets = {} }: LocalHost): Target[] {
  return Object.entries(targets).map(([name, fate]) => ({
    name,
    isRepo: name.startsWith('repos: '),
    async *pages() {
      if (fate instanceof HostError) throw fate;
      const all = fate === 'empty' ? [] : repos.filter((repo) => repo.targets?.includes(name));
      yield all.map((repo) => ({ hostId: repo.hostId, repo: fullRepo(repo) }));
    },
  }));
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function fullRepo(hosted: HostedRepo): HostRepo {
  const { at: _, targets: __, ...repo } = hosted;
  return { isFork: false, isArchived: false, visibility: 'public', topics: [], ...repo };
}

/** Hosts of several connections, whose list is kept in a file that another process writes. */
export async function reposOfFile(file: string): Promise<HostedRepo[]> {
  return JSON.parse(await readFile(file, 'utf8')) as HostedRepo[];
}

export function settingsOf(more: object = {}): ConnectionSettings {
  return connectionSchema.parse({ type: 'gitea', url: 'https://host', orgs: ['o'], ...more });
}

/** Repositories of this machine are fetched, too. */
export const fetchLocal: FetchMirror = (options) =>
  fetchMirror({ ...options, protocols: ['file'] });

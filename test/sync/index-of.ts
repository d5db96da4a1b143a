// An index of real git repositories in this process: built by the real indexer into a temporary data directory,
// searched by the real service, with its warnings recorded.

import assert from 'node:assert/strict';
import { SEES_ALL, type RepoAccess } from '../../daemon/repos/repo-access.ts';
import { allBytes } from '../../daemon/base/lazy-bytes.ts';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Instance, type InstanceOptions, openInstance } from '../../daemon/app/instance.ts';
import { openToSearch } from '../../daemon/app/search-host.ts';
import type { EngineParts } from '../../daemon/engine/search/prepare.ts';
import { search } from '../../daemon/engine/search/search.ts';
import type { HostAccess } from '../../daemon/sync/connections/connections.ts';
import type { ConnectionLimits } from '../../daemon/sync/jobs/job-limits.ts';
import type { JobResult } from '../../daemon/sync/jobs/jobs.ts';
import type { OnDemandLimits } from '../../daemon/index/on-demand/on-demand-limits.ts';
import type { MergeLimits } from '../../daemon/index/merge/merge-plan.ts';
import type { SourceKind } from '../../daemon/repos/records.ts';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { type Configuration, readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { omitUndefined } from '../../daemon/base/omit-undefined.ts';
import { checkInvariants } from '../engine/host/invariants.ts';

export interface RevisionResult {
  readonly path: string;
  readonly repository: string;
  readonly repositoryId: number;
  readonly branches: readonly string[];
  readonly branchesOmitted?: number;
  readonly blobSha?: string;
  readonly webUrl: string;
  readonly externalWebUrl?: string;
  readonly content?: string;
  readonly language: string;
}

export interface RevisionAnswer {
  readonly stats: Readonly<Record<string, number>>;
  readonly files: readonly RevisionResult[];
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
  readonly hints?: readonly { readonly message: string }[];
}

interface RawFile extends Omit<RevisionResult, 'path'> {
  readonly fileName: { readonly text: string; readonly matchRanges: readonly unknown[] };
  readonly chunks: readonly { readonly matchRanges: readonly unknown[] }[];
}

/** Closed by `await using`, or before. */
export interface IndexOf extends AsyncDisposable {
  readonly dataDir: string;
  readonly instance: Instance;
  readonly warnings: readonly string[];
  readonly warningLines: readonly string[];
  index(
    paths: readonly string[],
    selection?: RepoChange,
    mode?: SourceKind,
  ): Promise<readonly JobResult[]>;
  search(query: string, more?: object, repoAccess?: RepoAccess): Promise<RevisionAnswer>;
  readonly close: () => Promise<void>;
}

export const FILTERS = { maxFileSize: 5000, maxTrigramCount: 1 << 20, alwaysIndexFilePatterns: [] };

/** What is found, whole; what is `requested` beats the defaults. Fails where the answer breaks what holds for all answers. */
async function searchIn(
  parts: EngineParts,
  requested: { readonly query: string },
  repoAccess: RepoAccess,
): Promise<RevisionAnswer> {
  const request = {
    matches: 100_000,
    contextLines: 0,
    whole: false,
    isRegexEnabled: false,
    isCaseSensitivityEnabled: false,
    ...requested,
  };
  const { signal } = new AbortController();
  const { json } = await search(parts, request, {
    signal,
    baseUrl: 'http://localhost',
    repoAccess,
  });
  const raw = JSON.parse(Buffer.from(allBytes(json)).toString()) as Omit<
    RevisionAnswer,
    'files'
  > & { files: readonly RawFile[] };
  checkInvariants(raw, { matches: request.matches });
  const files = raw.files.map((file) => ({ ...file, path: file.fileName.text }));
  return { ...raw, files };
}

/** Has what a search needs and nothing else: a test that uses more of it fails. */
async function openReader({ configuration, log }: InstanceOptions): Promise<Instance> {
  const { dataDir } = configuration;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await openToSearch({ dataDir, searchTimeoutMs: 0, workers: 1, log })) as Instance;
}

/** @param inlineNs  0n: searches go to the threads of the pool at once */
export async function openIndexOf(
  dataDir: string,
  options: {
    isOwner?: boolean;
    databaseUrl?: string;
    inlineNs?: bigint;
    /** Default: they are not, which takes a quarter of the time of a small index. */
    findsSymbols?: boolean;
    mergeLimits?: MergeLimits;
    onDemand?: OnDemandLimits;
    filters?: typeof FILTERS;
    hosts?: HostAccess;
    connectionLimits?: () => ConnectionLimits;
  } = {},
): Promise<IndexOf> {
  const warnings: string[] = [];
  const warningLines: string[] = [];
  const write = (line: string): void => {
    const { message } = JSON.parse(line) as { message: string };
    warnings.push(message);
    warningLines.push(line);
  };
  const log = createLog({ level: 'warn', format: 'json', write });
  const open = options.isOwner === false ? openReader : openInstance;
  const { databaseUrl, filters = FILTERS, onDemand, findsSymbols = false, ...more } = options;
  const env = { TRAWL_WORKERS: '1', ...omitUndefined({ TRAWL_DATABASE_URL: databaseUrl }) };
  const settings = { ...filters, searchTimeoutMs: 0 };
  const read = readConfiguration({ env, flags: { dataDir }, settings });
  const configuration: Configuration = {
    ...read,
    // Tests change the limits.
    settings: { ...read.settings, ...(onDemand && { onDemandRevisions: onDemand }) },
  };
  const instance = await open({
    configuration,
    log,
    isOnDemand: onDemand !== undefined,
    findsSymbols,
    ...more,
  });
  const alive = setInterval(() => {}, 60_000);
  instance.served.publish();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= instance.close().finally(() => clearInterval(alive)));
  return {
    dataDir,
    instance,
    warnings,
    warningLines,
    async index(paths, selection, mode) {
      const { served } = instance;
      const indexer = instance.indexer;
      const { records } = await indexer.sources.add(paths, mode, selection);
      served.publish();
      return indexer.jobs.indexAll(records, false);
    },
    async search(query, more = {}, repoAccess = SEES_ALL) {
      const { inlineNs } = options;
      const parts = { ...instance.parts, ...(inlineNs === undefined ? {} : { inlineNs }) };
      return searchIn(parts, { query, ...more }, repoAccess);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An index of a repository, brought up to date with what is committed. */
export async function indexOf(
  dataDir: string,
  repo: string,
  selection: RepoChange = {},
): Promise<IndexOf> {
  const index = await openIndexOf(dataDir);
  await index.index([repo], selection, 'commits');
  return index;
}

/** Has all repos indexed again; resolves once their symbols, which decide on scores, are known. Fails where the job does. */
export async function indexAgain({ instance }: IndexOf, isForced = false): Promise<JobResult> {
  const [result] = await instance.indexer.jobs.indexAll(instance.served.records, isForced);
  assert.equal(result!.error, undefined);
  await instance.symbols?.run();
  return result!;
}

/** Names and inode numbers of the shard files, and names of the revision files, sorted. */
export function filesOf(dataDir: string): { shards: string[]; revisions: string[] } {
  const folder = path.join(dataDir, 'shards');
  const names = readdirSync(folder).sort();
  return {
    shards: names
      .filter((name) => name.endsWith('.shard'))
      .map((name) => `${name} ${statSync(path.join(folder, name)).ino}`),
    revisions: names.filter((name) => name.endsWith('.revisions')),
  };
}

/** `path branches` of each file, sorted. */
export function displayed(answer: RevisionAnswer): string[] {
  return answer.files
    .map(({ path: file, branches }) => `${file} ${branches.map(shortName).join()}`)
    .sort();
}

function shortName(name: string): string {
  return name.replace(/^refs\//, '');
}

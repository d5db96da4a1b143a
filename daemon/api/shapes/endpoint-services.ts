// The services that endpoints need from the daemon; app/main.ts provides them. Only types; knows nothing of HTTP.

import type { ConnectionType } from '../../base/config/connections.ts';
import type { SearchRequest } from '../../engine/query/request.ts';
import type { SearchEnvironment } from '../../engine/search/prepare.ts';
import type { NavigationCall, NavigationKind } from '../../engine/search/navigation.ts';
import type { SuggestCall, Suggestion } from '../../engine/search/suggest.ts';
import type { SkippedDoc, SkippedWindow } from '../../engine/search/skipped.ts';
import type { SearchStream, StreamEnvironment, StreamEvent } from '../../engine/search/stream.ts';
import type { JobCounts, JobListQuery, JobView, RepoState } from '../../repos/jobs.ts';
import type { RepoDirectory } from '../../repos/directory.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { listRefs } from '../../sources/git/refs.ts';
import type { History } from '../../sources/history/history.ts';
import type { readSource } from '../../sources/reading/source-reader.ts';
import type { listFiles, listFolders } from '../../sources/reading/tree-reader.ts';
import type { OperatorService } from './operator-service.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';

/** The events of a search, pulled one by one. Without a reader the search pauses. */
export type EventStream = Pick<SearchStream, 'next' | 'close'>;

export type { StreamEvent };

type SearchCall = SearchRequest & { readonly query: string };

/** Errors as in engine/search. `matches` and `contextLines` are limited. */
export interface SearchService {
  /** The response object as UTF-8 JSON. */
  search(
    call: SearchRequest,
    context: SearchEnvironment,
  ): Promise<{ json: Uint8Array | LazyBytes }>;
  stream(call: SearchCall, context: StreamEnvironment): Promise<EventStream>;
  /** `seesShards`: the caller may see shards, and docs that nobody sees. Returns the response object. */
  explain(call: SearchCall, context: SearchEnvironment, seesShards: boolean): Promise<object>;
  navigate(kind: NavigationKind, call: NavigationCall, context: SearchEnvironment): Promise<object>;
  suggest(call: SuggestCall, context: SearchEnvironment): Promise<readonly Suggestion[]>;
}

export interface ReadinessStatus {
  /** False while shards are loading. */
  readonly isReady: boolean;
  /** The store is lost, so nobody can be authenticated. */
  readonly isStoreLost: boolean;
  readonly shardCount: number;
  readonly repoCount: number;
  readonly quarantinedShardCount: number;
  /** Problems, for owners; empty: none. */
  readonly degraded: readonly string[];
}

export interface RepoSizes {
  readonly docs: number;
  readonly contentBytes: number;
  /** Of its shards, and its share of shared ones. */
  readonly shardBytes: number;
  /** Files found only by name, per reason. */
  readonly skipped: Readonly<Record<string, number>>;
}

/** Errors of reads: NOT_READY. */
export interface JobService {
  /** Returns the job id. Undefined: no such repo. */
  index(repoId: number): Promise<string | undefined>;
  /** The last job of each of these repos, by repoId, if there is one. */
  latest(repoIds: readonly number[]): Promise<ReadonlyMap<number, JobView>>;
  list(
    query: JobListQuery,
  ): Promise<{ readonly items: readonly JobView[]; readonly total: number }>;
  /** Undefined: no such job in the queue. */
  lines(
    queue: string,
    id: string,
  ): Promise<{ readonly lines: readonly object[]; readonly droppedCount: number } | undefined>;
  counts(repos: readonly RepoRecord[]): JobCounts;
  /** The indexed commit of the default revision. */
  commitOf(repoId: number): string | undefined;
  states(): (repo: RepoRecord) => RepoState;
  /** Undefined: not indexed. */
  sizesOf(repoId: number): RepoSizes | undefined;
  /** When its host was last checked, ms since the epoch; undefined: never, or it has none. */
  askedAt(repoId: number): number | undefined;
}

export interface HealthPoint {
  /** Its end, ms since the epoch. */
  readonly at: number;
  readonly searchesPerSecond: number;
  /** Search latency in ms; null: no searches. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly waiting: number;
  /** Maximum private memory of the process. */
  readonly privateBytes: number;
  readonly shards: number;
}

export interface ShardFailure {
  readonly shardId: string;
  readonly bytes: number;
  readonly reason: string;
  readonly repositories: readonly string[];
}

export interface ConnectionView {
  readonly id: number;
  readonly name: string;
  readonly connectionType: ConnectionType;
  /** End of its last listing, ms since the epoch; null: never listed. */
  readonly syncedAt: number | null;
  /** Why it cannot be listed, for owners; absent: it can. */
  readonly trouble?: string;
  /** Accounts that may read its private repositories at the host, and how many match users. */
  readonly readers?: { readonly count: number; readonly known: number };
}

/** Errors of reads: NOT_READY. */
export interface ConnectionService {
  list(): readonly ConnectionView[];
  /** Ids of the connections of a repo; empty: a source of this machine. */
  idsOf(repoId: number): readonly number[];
  latest(ids: readonly number[]): Promise<ReadonlyMap<number, JobView>>;
  /** Returns the job id. Undefined: no such connection. */
  sync(id: number): Promise<string | undefined>;
  /** Counts of connections: never listed and not failed; last listing failed; last listing incomplete. */
  counts(): JobCounts;
}

/** Paths and refs have passed sources/git/names.ts. Errors with an `errorCode` of the table are for the caller. */
export interface Services {
  readonly search: SearchService;
  readonly repos: RepoDirectory;
  readonly source: { readonly read: typeof readSource };
  readonly history: Pick<History, 'blame' | 'diff' | 'commit' | 'commits' | 'authors'>;
  readonly trees: { readonly files: typeof listFiles; readonly folders: typeof listFolders };
  readonly refs: { readonly list: typeof listRefs };
  /** Docs of the default revision that are found only by name. */
  readonly skipped: {
    list(
      repo: RepoRecord,
      window: SkippedWindow,
    ): Promise<{ readonly items: readonly SkippedDoc[]; readonly total: number }>;
  };
  readonly jobs: JobService;
  readonly connections: ConnectionService;
  readonly webhooks: {
    /** Whether there is a secret. */
    isOn(): boolean;
    /** Resolves when a repository that became private is hidden. */
    take(delivery: {
      /** By lower-case name. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }): Promise<{ readonly outcome: 'unproven' | 'taken'; readonly repositories: number }>;
  };
  readonly readiness: {
    status(): ReadinessStatus;
    quarantine(): readonly ShardFailure[];
  };
  readonly operator: OperatorService;
  /** Recent health of the daemon, oldest first, without intervals in which it did not run. */
  readonly health: { series(windowSeconds: 3600 | 86_400): readonly HealthPoint[] };
}

// What the endpoints need from the parts of the daemon that do the work, in the words of those parts; app/main.ts joins
// them. Only types are taken from them. Nothing here knows of HTTP.

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
import type { LazyBytes } from '../../base/lazy-bytes.ts';

/** The events of a search, pulled one by one. While nobody asks the search pauses. */
export type EventStream = Pick<SearchStream, 'next' | 'close'>;

export type { StreamEvent };

/** A search as callers ask for it. */
type SearchCall = SearchRequest & { readonly query: string };

/**
 * The searches of engine/search in the index of this instance (joined in `servicesOf` of daemon/app/main.ts); errors as there.
 * `matches` and `contextLines` are bounded.
 */
export interface SearchService {
  /** @returns  the complete response object of the search endpoint as UTF-8 JSON */
  search(
    call: SearchRequest,
    context: SearchEnvironment,
  ): Promise<{ json: Uint8Array | LazyBytes }>;
  stream(call: SearchCall, context: StreamEnvironment): Promise<EventStream>;
  /**
   * @param isWhole  the caller may know of shards and of docs that nobody sees
   * @returns        the complete response object of the explain endpoint
   */
  explain(call: SearchCall, context: SearchEnvironment, isWhole: boolean): Promise<object>;
  /** @returns  the complete response object of the endpoint */
  navigate(kind: NavigationKind, call: NavigationCall, context: SearchEnvironment): Promise<object>;
  suggest(call: SuggestCall, context: SearchEnvironment): Promise<readonly Suggestion[]>;
}

export interface ReadinessStatus {
  /** False while shards are loading. */
  readonly isReady: boolean;
  /** The store is away, and nobody is known any more. */
  readonly isStoreLost: boolean;
  readonly shardCount: number;
  readonly repoCount: number;
  readonly quarantinedShardCount: number;
  /** What does not work as it should, for owners; empty: nothing. */
  readonly degraded: readonly string[];
}

/** What is indexed of a repo. */
export interface RepoSizes {
  readonly docs: number;
  readonly contentBytes: number;
  /** Of its shards; of one that it shares its part. */
  readonly shardBytes: number;
  /** Files that are found by their names alone, by the reason. */
  readonly skipped: Readonly<Record<string, number>>;
}

/** The jobs of this instance. Errors of what reads: NOT_READY. */
export interface JobService {
  /** Has a repo indexed; the id of the job. Undefined: there is no such repo. */
  index(repoId: number): Promise<string | undefined>;
  /** The last job of each of these repos, by repoId, as far as there is one. */
  latest(repoIds: readonly number[]): Promise<ReadonlyMap<number, JobView>>;
  list(
    query: JobListQuery,
  ): Promise<{ readonly items: readonly JobView[]; readonly total: number }>;
  /** Undefined: there is no such job in the queue. */
  lines(
    queue: string,
    id: string,
  ): Promise<{ readonly lines: readonly object[]; readonly droppedCount: number } | undefined>;
  counts(repos: readonly RepoRecord[]): JobCounts;
  /** The commit of the default revision that is indexed. */
  commitOf(repoId: number): string | undefined;
  /** How each repo stands now. */
  states(): (repo: RepoRecord) => RepoState;
  /** Undefined: nothing is indexed. */
  sizesOf(repoId: number): RepoSizes | undefined;
  /** When its host was asked last, ms since the epoch; undefined: never, or it has none. */
  askedAt(repoId: number): number | undefined;
}

/** What is told of a stretch of time. */
export interface HealthPoint {
  /** Its end, ms since the epoch. */
  readonly at: number;
  readonly searchesPerSecond: number;
  /** Times of searches in ms; null: there was none. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Most searches that waited. */
  readonly waiting: number;
  /** Most memory that the process had for itself. */
  readonly privateBytes: number;
  readonly shards: number;
}

/** A shard out of service. */
export interface ShardFailure {
  readonly shardId: string;
  readonly bytes: number;
  readonly reason: string;
  readonly repositories: readonly string[];
}

/** A connection of the configuration. */
export interface ConnectionView {
  readonly id: number;
  readonly name: string;
  readonly connectionType: ConnectionType;
  /** When a listing of it ended last, ms since the epoch; null: none did. */
  readonly syncedAt: number | null;
  /** Why it is not listed, for owners; absent: it is. */
  readonly trouble?: string;
  /** Accounts that may read its private repositories at the host, and how many of them are matched with users. */
  readonly readers?: { readonly count: number; readonly known: number };
}

/** The connections of this instance. Errors of what reads: NOT_READY. */
export interface ConnectionService {
  list(): readonly ConnectionView[];
  /** Ids of the connections that have a repo; none: it is a source of this machine. */
  idsOf(repoId: number): readonly number[];
  /** The last job of each of these connections, by id, as far as there is one. */
  latest(ids: readonly number[]): Promise<ReadonlyMap<number, JobView>>;
  /** Has a connection listed; the id of the job. Undefined: there is no such connection. */
  sync(id: number): Promise<string | undefined>;
  /** Of all: never listed, and not failed; last listing failed; last listing left something open. */
  counts(): JobCounts;
}

/**
 * Paths and refs have passed the checks of sources/git/names.ts. Errors whose `errorCode` is in the table are for the caller.
 */
export interface Services {
  readonly search: SearchService;
  readonly repos: RepoDirectory;
  readonly source: { readonly read: typeof readSource };
  readonly history: Pick<History, 'blame' | 'diff' | 'commit' | 'commits' | 'authors'>;
  readonly trees: { readonly files: typeof listFiles; readonly folders: typeof listFolders };
  readonly refs: { readonly list: typeof listRefs };
  /** Docs of the default revision that are known by name only. */
  readonly skipped: {
    list(
      repo: RepoRecord,
      window: SkippedWindow,
    ): Promise<{ readonly items: readonly SkippedDoc[]; readonly total: number }>;
  };
  readonly jobs: JobService;
  readonly connections: ConnectionService;
  /** Deliveries of code hosts. */
  readonly webhooks: {
    /** Resolves when a repository that turned private is hidden. */
    take(delivery: {
      /** By names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }): Promise<{ readonly outcome: 'off' | 'unproven' | 'taken'; readonly repositories: number }>;
  };
  readonly readiness: {
    status(): ReadinessStatus;
    /** The first of the shards out of service. */
    quarantine(): readonly ShardFailure[];
  };
  /** How the daemon did lately, oldest first; a stretch in which it did not run is not there. */
  readonly health: { series(windowSeconds: 3600 | 86_400): readonly HealthPoint[] };
}

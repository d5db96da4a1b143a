// What the endpoints need from the parts of the daemon that do the work. The parts implement these
// interfaces; main.ts joins them. Nothing here knows of HTTP.

import type { SearchPlace } from '../../base/place.ts';
import type { RepoDirectory } from '../../repos/directory.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { ListedRef } from '../../sources/git/ref-list.ts';
import type { Sight } from '../../repos/sight.ts';
import type { Folders } from '../../sources/git/tree-paths.ts';
import type { HistoryReader } from './history.ts';
import type { LazyBytes } from './lazy-bytes.ts';

/** A search as the caller asked for it, bounds applied (matches and contextLines are clamped). */
export interface SearchCall {
  readonly query: string;
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** A symbol to be found. */
export interface NavigationCall {
  readonly symbolName: string;
  readonly language?: string;
  /** Full ref name, or `HEAD`. */
  readonly revisionName: string;
  /** Absent: all repos that may be seen. */
  readonly repoName?: string;
}

export interface SearchContext {
  /** Absent: the search is alone. */
  readonly place?: SearchPlace | undefined;
  /** Takes bytes for an answer that is sent as a whole. Errors: what it throws ends the search. */
  readonly takeMemory?: ((size: number) => void) | undefined;
  /** Aborted when the client goes away; the search then ends as soon as it can. */
  readonly signal: AbortSignal;
  /** Without trailing slash; the links of the answer start with it. */
  readonly baseUrl: string;
  /** The repos that the search may see; others count for nothing. */
  readonly sight: Sight;
}

export interface StreamContext extends SearchContext {
  /** Bytes of JSON that one event may have. */
  readonly eventSizeMax: number;
}

/** An event as JSON on one line, or why a batch of results could not be made. */
export type StreamEvent = { readonly json: Uint8Array } | { readonly error: unknown };

/** The events of a search, pulled one by one. While nobody asks the search pauses. */
export interface EventStream {
  /**
   * The next event; undefined behind the last one.
   * Errors: the search failed as a whole, or the client is gone.
   */
  next(): Promise<StreamEvent | undefined>;
  /** Ends the search, and must be called in any case. Further calls do nothing. */
  close(): void;
}

export interface SearchService {
  /**
   * Runs one search to its end or its deadline.
   *
   * @returns  the complete response object of the search endpoint as UTF-8 JSON
   *
   * Errors: QueryError for a bad query; anything else is a fault of the daemon.
   */
  search(call: SearchCall, context: SearchContext): Promise<{ json: Uint8Array | LazyBytes }>;
  /**
   * Starts one search whose results come as events.
   *
   * Errors: as `search`, before the first event.
   */
  stream(call: SearchCall, context: StreamContext): Promise<EventStream>;
  /**
   * Runs one search as `search` does, and tells how: its plan, what became of each shard, and all numbers.
   *
   * @returns  the complete response object of the explain endpoint
   *
   * Errors: as `search`.
   */
  explain(call: SearchCall, context: SearchContext): Promise<object>;
  /**
   * Finds the definitions of a symbol, or references to it.
   *
   * @returns  the complete response object of the endpoint
   *
   * Errors: as `search`.
   */
  navigate(
    kind: 'definitions' | 'references',
    call: NavigationCall,
    context: SearchContext,
  ): Promise<object>;
}

/** Bytes that are taken, until they are given back. */
export interface MemoryHold {
  release(): void;
}

/** The memory that a request may use. */
export interface RequestMemory {
  /** Takes bytes, until they are given back; undefined: there is no room. */
  tryTake(size: number): MemoryHold | undefined;
  /** Calls `end` when the response is over. */
  onOver(end: () => void): void;
}

export interface SourceLimits {
  /** Content above this many bytes is not read: the call fails. */
  readonly sourceSizeMax: number;
  /** Whom it is for. */
  readonly holder: string;
  /** Counts what is read. */
  readonly memory: RequestMemory;
  /** Aborted when the client goes away or the deadline for git has passed. */
  readonly signal: AbortSignal;
}

export interface SourceContent {
  readonly bytes: Uint8Array;
  /** Language name, '' if unknown. */
  readonly language: string;
  readonly blobSha?: string;
}

export interface SourceReader {
  /**
   * Reads one file at a ref. Path and ref have passed `checkPath` and `checkRef` of git-names.ts.
   *
   * @param ref  as the caller gave it; undefined = default revision of the repo
   *
   * Errors: errors with `errorCode` INVALID_GIT_REF (does not resolve to a commit), FILE_NOT_FOUND (absent, a
   * directory, a submodule), NOT_FOUND (the repository is not on disk) or SERVER_OVERLOADED; anything else is a fault
   * of the daemon.
   */
  read(
    repo: RepoRecord,
    path: string,
    ref: string | undefined,
    limits: SourceLimits,
  ): Promise<SourceContent>;
}

export interface TreeReader {
  /**
   * Paths of all files and symbolic links at a revision, by the bytes of the paths. The same list for the same tree
   * as long as it is kept.
   *
   * Errors: as `SourceReader.read`, for the ref.
   */
  files(repo: RepoRecord, revision: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The children of those folders that are wanted and exist at a revision.
   *
   * @param holder  whom it is for
   * @param wanted  with each path the paths of the folders above it, and "" in any case
   *
   * Errors: as `SourceReader.read`, for the ref.
   */
  folders(
    repo: RepoRecord,
    revision: string,
    wanted: ReadonlySet<string>,
    signal: AbortSignal,
    holder: string,
  ): Promise<Folders>;
}

export interface RefReader {
  /**
   * The branches and tags that name commits: the default one first, then by the time of the commit, newest first.
   *
   * Errors: as `SourceReader.read`, for the repository.
   */
  list(repo: RepoRecord, signal: AbortSignal): Promise<readonly ListedRef[]>;
}

export interface SkippedReader {
  /** Docs of the default revision that are known by name only, by path: those of the window, and how many there are. */
  list(
    repo: RepoRecord,
    window: { readonly reason?: string; readonly offset: number; readonly limit: number },
  ): Promise<{
    readonly items: readonly {
      readonly path: string;
      readonly reason: string;
      readonly bytes: number;
    }[];
    readonly total: number;
  }>;
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

export interface Readiness {
  status(): ReadinessStatus;
}

export interface Services {
  readonly search: SearchService;
  readonly repos: RepoDirectory;
  readonly source: SourceReader;
  readonly history: HistoryReader;
  readonly trees: TreeReader;
  readonly refs: RefReader;
  readonly skipped: SkippedReader;
  readonly readiness: Readiness;
}

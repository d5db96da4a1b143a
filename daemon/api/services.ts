// What the endpoints need from the parts of the daemon that do the work. The parts implement these
// interfaces; main.ts joins them. Nothing here knows of HTTP.

import type { RepoDirectory } from '../repos/directory.ts';
import type { RepoRecord } from '../repos/records.ts';
import type { Sight } from '../repos/sight.ts';
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

export interface SearchContext {
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
}

export interface SourceLimits {
  /** Content above this many bytes is not read: the call fails. */
  readonly sourceSizeMax: number;
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
   * Errors: errors with `errorCode` INVALID_GIT_REF (does not resolve to a commit) or FILE_NOT_FOUND
   * (absent, a directory, a submodule); anything else is a fault of the daemon.
   */
  read(
    repo: RepoRecord,
    path: string,
    ref: string | undefined,
    limits: SourceLimits,
  ): Promise<SourceContent>;
}

/** What a ref stands for, the whole of it or a path. */
export interface HistoryPlace {
  /** As the caller gave it; undefined: the default revision of the repo. */
  readonly ref: string | undefined;
  /** Undefined: everything. */
  readonly path: string | undefined;
}

export interface CommitsCall extends HistoryPlace {
  /** POSIX basic regular expressions, without regard to case: of the message, of name or e-mail. */
  readonly query: string | undefined;
  readonly author: string | undefined;
  /** Seconds since 1970, inclusive. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface CommitFields {
  readonly hash: string;
  readonly date: string;
  readonly message: string;
  readonly refs: string;
  readonly body: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly parents: readonly string[];
}

export interface AuthorFields {
  readonly name: string;
  readonly email: string;
  readonly commitCount: number;
}

/**
 * Reads the history of a repo. Paths and refs have passed the checks of git-names.ts; `signal` is aborted when the
 * client goes away or the deadline for git has passed.
 *
 * Errors: errors with `errorCode` INVALID_GIT_REF (does not resolve to a commit, no git), FILE_NOT_FOUND,
 * INVALID_QUERY_PARAMS (an expression does not compile), SERVER_OVERLOADED; anything else is a fault of the daemon.
 */
export interface HistoryReader {
  /** @returns  the complete response object of the blame endpoint as UTF-8 JSON */
  blame(
    repo: RepoRecord,
    place: { readonly ref: string | undefined; readonly path: string },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  /** @returns  the complete response object of the diff endpoint as UTF-8 JSON */
  diff(
    repo: RepoRecord,
    call: { readonly base: string; readonly head: string; readonly path: string | undefined },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  commit(repo: RepoRecord, ref: string, signal: AbortSignal): Promise<CommitFields>;
  commits(
    repo: RepoRecord,
    call: CommitsCall,
    signal: AbortSignal,
  ): Promise<{ readonly total: number; readonly items: readonly CommitFields[] }>;
  authors(
    repo: RepoRecord,
    place: HistoryPlace,
    signal: AbortSignal,
  ): Promise<readonly AuthorFields[]>;
}

export interface ReadinessStatus {
  /** False while shards are loading. */
  readonly isReady: boolean;
  readonly shardCount: number;
  readonly repoCount: number;
  readonly quarantinedShardCount: number;
}

export interface Readiness {
  status(): ReadinessStatus;
}

export interface Services {
  readonly search: SearchService;
  readonly repos: RepoDirectory;
  readonly source: SourceReader;
  readonly history: HistoryReader;
  readonly readiness: Readiness;
}

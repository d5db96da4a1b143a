// What the endpoints about history need from the part of the daemon that reads it. Nothing here knows of HTTP.

import type { RepoRecord } from '../../repos/records.ts';

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
    call: {
      readonly base: string;
      readonly head: string;
      readonly path: string | undefined;
      /** Whom it is for. */
      readonly holder: string;
    },
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

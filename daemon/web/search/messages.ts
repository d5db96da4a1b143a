// What the page and its search worker say to each other.

import type { Hint } from '../../api/search/search-schemas.ts';
import type { ResultFile } from './rows.ts';

/** What is searched, as the body of the request has it. */
export interface Search {
  readonly query: string;
  /** What narrows it as a whole; absent: nothing. */
  readonly filter?: string;
  readonly matches: number;
  readonly contextLines: number;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** To the worker: begin a search, which ends the one before; or end it. */
export type ToWorker =
  | {
      readonly type: 'start';
      readonly id: number;
      readonly search: Search;
      readonly base: string;
      /** Typed, not asked for: the daemon neither counts nor audits it. */
      readonly isPreview: boolean;
    }
  | { readonly type: 'stop'; readonly id: number }
  | DownloadRequest;

export type DownloadFormat = 'json' | 'csv';

/** A search whose whole answer becomes a file. */
export interface DownloadRequest {
  readonly type: 'download';
  readonly id: number;
  readonly search: Search;
  readonly base: string;
  readonly format: DownloadFormat;
  /** What the answer is narrowed to, as the page is; an empty list: not at all. */
  readonly repositories: readonly string[];
  readonly languages: readonly string[];
  readonly folders: readonly string[];
  readonly kinds: readonly string[];
}

/** How far a search is through the index. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Whether an answer is all, and what the search cost. */
export interface Outcome {
  readonly isAll: boolean;
  readonly reasons: readonly string[];
  /** In the answer; found, which is a lower bound where a limit ended the search. */
  readonly visibleMatches: number;
  readonly totalMatches: number;
  readonly totalFiles: number;
  readonly hints: readonly Hint[];
  /** The daemon's numbers, for the plan. */
  readonly stats: Readonly<Record<string, number | string>>;
}

export interface SearchFailure {
  /** 0: nobody answered. */
  readonly statusCode: number;
  readonly errorCode: string;
  readonly message: string;
  /** Seconds until it is asked again; undefined: it is not. */
  readonly retryAfter: number | undefined;
}

/** From the worker; `id` is of the search. */
export type FromWorker =
  | { readonly type: 'files'; readonly id: number; readonly files: readonly ResultFile[] }
  | { readonly type: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly type: 'end'; readonly id: number; readonly outcome: Outcome }
  | { readonly type: 'failed'; readonly id: number; readonly failure: SearchFailure }
  | { readonly type: 'downloaded'; readonly id: number; readonly name: string; readonly file: Blob }
  | { readonly type: 'download-failed'; readonly id: number; readonly failure: SearchFailure };

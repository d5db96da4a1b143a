// Messages between the page and its search worker.

import type { Hint } from '../../api/search/search-schemas.ts';
import type { ResultFile } from './rows.ts';

/** A search, as in the body of the request. */
export interface Search {
  readonly query: string;
  /** An additional filter; absent: none. */
  readonly filter?: string;
  readonly matches: number;
  readonly contextLines: number;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** To the worker: start a search, which ends the previous one; stop it; or download. */
export type ToWorker =
  | {
      readonly type: 'start';
      readonly id: number;
      readonly search: Search;
      readonly base: string;
      /** True while typing: the daemon neither counts nor audits previews. */
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
  /** The selected filters, as on the page; an empty list: no filter. */
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

/** Whether the answer is complete, and what the search cost. */
export interface Outcome {
  readonly isAll: boolean;
  readonly reasons: readonly string[];
  /** Matches in the answer, then matches found. If a limit ended the search, the latter is a lower bound. */
  readonly visibleMatches: number;
  readonly totalMatches: number;
  readonly totalFiles: number;
  readonly hints: readonly Hint[];
  /** The daemon's statistics, for the plan. */
  readonly stats: Readonly<Record<string, number | string>>;
}

export interface SearchFailure {
  /** 0: no answer. */
  readonly statusCode: number;
  readonly errorCode: string;
  readonly message: string;
  /** Seconds until the next try; undefined: no retry. */
  readonly retryAfter: number | undefined;
}

/** From the worker; `id` identifies the search. */
export type FromWorker =
  | { readonly type: 'files'; readonly id: number; readonly files: readonly ResultFile[] }
  | { readonly type: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly type: 'end'; readonly id: number; readonly outcome: Outcome }
  | { readonly type: 'failed'; readonly id: number; readonly failure: SearchFailure }
  | { readonly type: 'downloaded'; readonly id: number; readonly name: string; readonly file: Blob }
  | { readonly type: 'download-failed'; readonly id: number; readonly failure: SearchFailure };

// Requests about the history of a repo, and their errors.

import { CodedError } from '../../base/caught.ts';
import type { CommitFilter, CommitWindow } from './commits.ts';

/** The request cannot be answered. */
export class HistoryError extends CodedError<'FILE_NOT_FOUND' | 'INVALID_QUERY_PARAMS'> {
  override readonly name = 'HistoryError';
}

/** A ref, and optionally a path. */
export interface HistoryTarget {
  /** Undefined: the default revision. */
  readonly ref: string | undefined;
  /** Undefined: everything. */
  readonly path: string | undefined;
}

export interface CommitsCall extends HistoryTarget, CommitFilter, CommitWindow {}

/** A page of a list. */
export interface ListPart<Item> {
  /** Of the whole list. */
  readonly total: number;
  readonly items: readonly Item[];
}

export interface BlameCall {
  /** Undefined: the default revision. */
  readonly ref: string | undefined;
  readonly path: string;
}

/** A page of the files that differ. */
export interface DiffWindow {
  readonly offset: number;
  readonly limit: number;
}

export interface DiffCall {
  /** `X^` of a commit X without parents is the empty tree. */
  readonly base: string;
  readonly head: string;
  /** Undefined: everything. */
  readonly path: string | undefined;
  /** Undefined: all files. */
  readonly window?: DiffWindow | undefined;
  /** Lines that differ only in white space are equal. */
  readonly ignoresWhitespace?: boolean | undefined;
  /** Whom it is for. */
  readonly clientKey?: string;
}

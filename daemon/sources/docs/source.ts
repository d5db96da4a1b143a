// Where the docs of a repo come from: one contract for the tree of a commit, the files of a work
// tree and a plain folder. A source is listed once; its docs are then read in batches, in any
// number of worker threads (doc-reader.ts).
// Filters, languages and the index are not done here.

import type { FileList, SourceFile } from './file-list.ts';
import type { IgnoredCounts } from './ignored.ts';
import type { LeftOut } from '../disk/left-out.ts';
import type { SourceKind, SourceRules } from '../../repos/records.ts';
import type { Revision } from '../git/refs.ts';

/** Plain values: may be posted to a worker. */
export interface SourceSpec extends SourceRules {
  readonly kind: SourceKind;
  /** Absolute path of the repository or folder. */
  readonly path: string;
  /**
   * `commits` only: object id of the commit; absent: a repository without commits, which has no
   * docs.
   */
  readonly commit?: string;
  /**
   * Further revisions, read from git; not for `folder`. The default revision, which `kind` and `commit` name, is not
   * among them.
   */
  readonly revisions?: readonly Revision[];
}

/** Which files each revision holds. */
export interface RevisionFiles {
  readonly count: number;
  /** Calls back once with the index of each file of a revision; 0 is the default one, then those of the spec. */
  visit(revision: number, onFile: (file: number) => void): void;
}

export interface SourceListing {
  /** Sorted by path; several of one path have different contents. */
  readonly files: FileList;
  /** Present if the spec names further revisions. */
  readonly revisions?: RevisionFiles;
  readonly leftOut: LeftOut[];
  /** What rules leave out of the default revision. Errors: GitError. Cost: for a work tree two processes. */
  readonly ignored: () => Promise<IgnoredCounts>;
  /** As `IngestSource.fingerprint`, of exactly these files. */
  readonly fingerprint: string;
  /** Present if the default revision is files on disk. */
  readonly states?: FileStates | undefined;
}

/**
 * What files on disk looked like when they were listed, by `nameKey`: equal texts mean equal files, unless they begin
 * with UNSETTLED.
 */
export type FileStates = ReadonlyMap<string, string>;

/** Begins what is known of a file that may have changed since without a sign: its state, which follows, says little. */
export const UNSETTLED = '~';

export interface IngestSource {
  readonly spec: SourceSpec;
  /**
   * A text that changes when the docs may have changed: equal texts of one source mean equal docs.
   *
   * Errors: as `list`. Cost: nothing for `commits`, a listing for the others.
   */
  fingerprint(): Promise<string>;
  /**
   * Looks now and lists the docs.
   *
   * Errors: GitError; an error of the file system if the root folder cannot be read. What concerns
   * single files goes to `leftOut`.
   */
  list(): Promise<SourceListing>;
}

/**
 * Called once for each file, in order.
 *
 * @param bytes  content, or the target of a symbolic link; a view that is valid only during the
 *               call. Undefined: the file is gone or cannot be read
 * @param oid    git blob id of the content in hexadecimal: equal ids mean equal content. "" without
 *               content
 */
export type OnFile = (index: number, bytes: Uint8Array | undefined, oid: string) => void;

/** A listed file that gave no content. */
export interface ReadFailure {
  readonly path: string;
  readonly reason: 'vanished' | `unreadable: ${string}`;
}

export interface SourceReader {
  /**
   * Reads the files in order. One call at a time.
   *
   * Errors: GitError; what `onFile` throws. A file that cannot be read is no error, but among the
   * results.
   */
  read(files: readonly SourceFile[], onFile: OnFile): Promise<ReadFailure[]>;
  close(): Promise<void>;
}

// Contract of a repo's source: one interface for the tree of a commit, the files of a work tree and a plain folder. A
// source is listed once; its docs are then read in batches, in any number of worker threads (doc-reader.ts). Filters,
// languages and the index are elsewhere.

import type { FileList } from './file-list.ts';
import type { FileStates } from './file-states.ts';
import type { IgnoredCounts } from './ignored.ts';
import type { ExcludedPath } from '../disk/excluded-path.ts';
import type { SourceKind, SourceRules } from '../../repos/records.ts';
import type { Revision } from '../git/refs.ts';

/** Plain values: may be posted to a worker. */
export interface SourceSpec extends SourceRules {
  readonly kind: SourceKind;
  /** Absolute path of the repository or folder. */
  readonly path: string;
  /** `commits` only: object id of the commit; absent: a repository without commits, which has no docs. */
  readonly commit?: string;
  /** Further revisions, read from git; not for `folder`. The default revision (`kind` and `commit`) is not included. */
  readonly revisions?: readonly Revision[];
}

/** Which files each revision contains. */
export interface RevisionFiles {
  readonly count: number;
  /** Calls back once for each file of a revision with its index; 0 is the default one, then those of the spec. */
  visit(revision: number, onFile: (file: number) => void): void;
}

export interface SourceListing {
  /** Sorted by path; several of one path have different contents. */
  readonly files: FileList;
  /** Present if the spec names further revisions. */
  readonly revisions?: RevisionFiles;
  readonly excluded: ExcludedPath[];
  /** What rules exclude from the default revision. Errors: GitError. Cost: for a work tree two processes. */
  readonly ignored: () => Promise<IgnoredCounts>;
  /** As `fingerprintOfSource`, of exactly these files. */
  readonly fingerprint: string;
  /** Present if the default revision is files on disk. */
  readonly states?: FileStates | undefined;
}

/** A listing of files on disk, without further revisions. */
export interface DiskListing extends SourceListing {
  readonly states: FileStates;
}

/**
 * Called once for each file, in order.
 * @param bytes  content, or the target of a symbolic link; a view that is valid only during the call. Undefined: the file is
 * gone or cannot be read
 * @param oid  git blob id of the content in hexadecimal: equal ids mean equal content. "" without content
 */
export type OnFile = (index: number, bytes: Uint8Array | undefined, oid: string) => void;

/** A listed file without readable content. */
export interface ReadFailure {
  readonly path: string;
  readonly reason: 'vanished' | `unreadable: ${string}`;
}

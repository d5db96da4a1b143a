// Paths found by a listing, on disk or in a commit, that are not docs.

export type LeftOutReason =
  | 'submodule'
  | 'nested_repository'
  | 'special_file'
  | 'behind_symlink'
  | 'outer_path'
  | `unreadable: ${string}`;

/** A path that is not a doc, and the reason. Ignored and deleted paths are not included. */
export interface LeftOut {
  readonly path: string;
  readonly reason: LeftOutReason;
}

/** Of a committed file or folder: its git object is missing, as in partial clones. */
export const OBJECT_MISSING: `unreadable: ${string}` = 'unreadable: object missing';

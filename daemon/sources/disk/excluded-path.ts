// Paths found by a listing, on disk or in a commit, that are not docs.

export type ExclusionReason =
  | 'submodule'
  | 'nested_repository'
  | 'special_file'
  | 'behind_symlink'
  | 'outer_path'
  | `unreadable: ${string}`;

/** A path that is not a doc, and the reason. Ignored and deleted paths are not included. */
export interface ExcludedPath {
  readonly path: string;
  readonly reason: ExclusionReason;
}

/** Of a committed file or folder: its git object is missing, as in partial clones. */
export const OBJECT_MISSING: `unreadable: ${string}` = 'unreadable: object missing';

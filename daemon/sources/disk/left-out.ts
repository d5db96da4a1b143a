// What is found where docs are listed, on disk or in a commit, and is no doc.

export type LeftOutReason =
  | 'submodule'
  | 'nested_repository'
  | 'special_file'
  | 'behind_symlink'
  | 'outer_path'
  | `unreadable: ${string}`;

/** A path that is no doc, and why. Ignored and deleted paths are not among them. */
export interface LeftOut {
  readonly path: string;
  readonly reason: LeftOutReason;
}

/** Of a committed file or folder: the repository lacks its git object, as partial clones do. */
export const OBJECT_MISSING: `unreadable: ${string}` = 'unreadable: object missing';

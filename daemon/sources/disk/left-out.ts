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

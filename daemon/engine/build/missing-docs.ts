// The docs that no shard holds yet, collected from differences, with the revisions that hold each of them.

import type { TreePath } from '../../base/paths.ts';
import { compareListed, docKey } from '../../sources/docs/list-source.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { findObjects, type ReadOptions } from '../../sources/git/objects.ts';
import type { TreeItem } from '../../sources/git/tree-diff.ts';

export interface MissingDoc extends TreePath {
  /** "" where unknown, for files that are only on disk. */
  readonly oid: string;
  /** Also false for docs of an indexed shard that are built again: there it is unknown. */
  readonly isSymlink: boolean;
  /** Indexes of the revisions that hold it. */
  readonly targets: Set<number>;
}

export interface MissingRow extends Pick<MissingDoc, 'oid' | 'targets'> {
  readonly file: SourceFile;
}

export interface RowOptions extends ReadOptions {
  /** The file on disk to read for a doc; undefined: git has it. */
  readonly onDisk?: (doc: MissingDoc) => SourceFile | undefined;
}

export class MissingDocs {
  readonly #docs = new Map<string, MissingDoc>();

  get size(): number {
    return this.#docs.size;
  }

  get all(): MissingDoc[] {
    return [...this.#docs.values()];
  }

  add(target: number, doc: Omit<MissingDoc, 'targets'>): void {
    const key = docKey(doc, doc.oid);
    const existing = this.#docs.get(key);
    if (existing !== undefined) existing.targets.add(target);
    else this.#docs.set(key, { ...doc, targets: new Set([target]) });
  }

  addItem(target: number, { path, rawPath }: TreePath, { oid, kind }: TreeItem): void {
    const treePath = rawPath === undefined ? { path } : { path, rawPath };
    this.add(target, { ...treePath, oid, isSymlink: kind === 'symlink' });
  }

  /** The docs in listing order: by path, revision 0 first. Errors: GitError. */
  async rows(repoPath: string, { onDisk, ...options }: RowOptions = {}): Promise<MissingRow[]> {
    const files = this.all.map((doc) => ({ doc, file: onDisk?.(doc) }));
    const ids = files.flatMap(({ doc, file }) => (file === undefined ? doc.oid : []));
    const blobs = await findObjects(repoPath, ids, { timeoutMs: 0, ...options });
    const sizes = new Map(ids.map((oid, index) => [oid, blobs[index]?.size ?? 0]));
    const rows = files.map(({ doc, file }) => ({
      file: file ?? fileOf(doc, sizes.get(doc.oid) ?? 0),
      oid: doc.oid,
      targets: doc.targets,
    }));
    return rows.sort((a, b) =>
      compareListed(a.file, b.file, Number(b.targets.has(0)) - Number(a.targets.has(0))),
    );
  }
}

function fileOf({ path, rawPath, oid, isSymlink }: MissingDoc, size: number): SourceFile {
  const file = { path, oid, isSymlink, size };
  return rawPath === undefined ? file : { ...file, rawPath };
}

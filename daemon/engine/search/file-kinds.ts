// Caches the kind of each rendered doc. Measured: matching each path took 5% of an answer of thousands of files.

import { LRUCache } from 'lru-cache';
import { FILE_KINDS, fileKindOf, type FileKind } from '../build/rank.ts';
import type { ShardTables } from '../shards/tables.ts';

type Paths = Pick<ShardTables, 'docCount' | 'pathOf'>;

/** Indexes into FILE_KINDS plus 1, by shard id, which identifies a shard's bytes; 0: not computed yet. */
const kindsByShard = new LRUCache<string, Uint8Array>({
  // Bound: memory; bytes, one a doc and some for each shard.
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (kinds) => kinds.length + 200,
});

export function fileKindsOf(
  shardId: string,
  tables: Paths,
): (docId: number, tier: number) => FileKind {
  const kinds = kindsByShard.get(shardId) ?? new Uint8Array(tables.docCount);
  kindsByShard.set(shardId, kinds);
  return (docId, tier) => {
    const kind = FILE_KINDS[kinds[docId]! - 1] ?? kindOf(tables, docId, tier);
    kinds[docId] = FILE_KINDS.indexOf(kind) + 1;
    return kind;
  };
}

function kindOf(tables: Paths, docId: number, tier: number): FileKind {
  return fileKindOf(Buffer.from(tables.pathOf(docId)).toString(), tier);
}

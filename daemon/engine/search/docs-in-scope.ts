// Counts over the docs that a search may see: files of each language, and bytes of contents, from the shards' tables.

import type { Cancellation } from '../../base/cancellation.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { containsDoc } from '../shards/bits.ts';
import type { ShardTables } from '../shards/tables.ts';
import type { ScopeView } from './scope.ts';
import type { LiveShard } from './snapshot.ts';

/** Errors: AbortError when the client is gone. Cost: reads each doc's row; yields to other work. */
async function visitDocs(
  { parts }: LiveShard,
  signal: Cancellation,
  visit: (docId: number) => void,
): Promise<void> {
  const yielder = new LoopYielder();
  for (const { docStart, docEnd, revisions } of parts) {
    const live = revisions?.docsIn([0]) ?? 'all';
    for (let docId = docStart; docId < docEnd; docId++) {
      if (!containsDoc(live, docId - docStart)) continue;
      visit(docId);
      const pause = yielder.pause();
      if (pause !== undefined) await pause;
    }
    signal.throwIfAborted();
  }
}

/** Files of each language; if `timeMs` runs out, only of the shards read so far. */
export async function languagesOf(
  shards: readonly LiveShard[],
  view: ScopeView,
  timeMs: number,
  signal: Cancellation,
): Promise<ReadonlyMap<string, number>> {
  const endMs = performance.now() + timeMs;
  const counts = new Map<string, number>();
  for (const [index, shard] of shards.entries()) {
    const tables = view.tablesOf(index);
    const inShard = new Map<number, number>();
    await visitDocs(shard, signal, (docId) => {
      const language = tables.languageOf(docId);
      inShard.set(language, (inShard.get(language) ?? 0) + 1);
    });
    addNamed(counts, inShard, tables);
    if (performance.now() > endMs) break;
  }
  return counts;
}

function addNamed(
  counts: Map<string, number>,
  inShard: ReadonlyMap<number, number>,
  tables: ShardTables,
): void {
  for (const [language, count] of inShard) {
    const name = tables.languageName(language);
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + count);
  }
}

/** Of the files with searched content. */
export async function bytesOf(
  shards: readonly LiveShard[],
  view: ScopeView,
  signal: Cancellation,
): Promise<number> {
  let bytes = 0;
  for (const [index, shard] of shards.entries()) {
    const tables = view.tablesOf(index);
    await visitDocs(shard, signal, (docId) => {
      if (tables.hasBlob(docId)) bytes += tables.sizeOf(docId);
    });
  }
  return bytes;
}

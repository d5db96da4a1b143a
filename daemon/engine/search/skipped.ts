// Lists the docs of a repo that are indexed by name only, with the reason (API.md 13.3, 20.4). The caller has already checked
// access to the repo.

import { SKIP_NONE } from '../../../core/shared/format.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { containsDoc } from '../shards/bits.ts';
import { SKIP_REASON_NAMES } from '../shards/skip-reasons.ts';
import type { ShardPart } from '../shards/parts.ts';
import type { ShardTables } from '../shards/tables.ts';
import type { EngineParts } from './prepare.ts';
import { openTables } from './scope.ts';
import { withSnapshot } from './search.ts';

export interface SkippedDoc {
  readonly path: string;
  readonly reason: string;
  readonly bytes: number;
}

export interface SkippedWindow {
  /** A reason's name; absent: all. */
  readonly reason?: string | undefined;
  /** Docs to skip, and docs to return. */
  readonly offset: number;
  readonly limit: number;
}

/** Of one shard, by path; `next`: the first not yet returned. */
interface Found {
  readonly tables: ShardTables;
  readonly docIds: readonly number[];
  next: number;
}

/**
 * A page of the skipped docs of the default revision, by path, and their total, without shards out of service. Errors:
 * ShardError where changed shards stay in service. Cost: reads each doc's row, 5 ns; yields to other work.
 */
export function listSkipped(
  parts: EngineParts,
  repoId: number,
  { reason, offset, limit }: SkippedWindow,
): Promise<{ readonly items: readonly SkippedDoc[]; readonly total: number }> {
  return withSnapshot(
    parts,
    () => parts.snapshots.acquire(),
    async ({ shards }) => {
      const found: Found[] = [];
      const yielder = new LoopYielder();
      for (const shard of shards) {
        const part = shard.parts.find((one) => one.repoId === repoId);
        if (part === undefined) continue;
        const tables = openTables(parts.searcher, shard.shardId);
        const docIds = await skippedIn(part, shard.docCount, tables, reason, yielder);
        found.push({ tables, docIds, next: 0 });
      }
      const items: SkippedDoc[] = [];
      for (let position = 0; position < offset + limit; position++) {
        await yielder.pause();
        const doc = takeFirst(found);
        if (doc === undefined) break;
        if (position >= offset) items.push(doc);
      }
      return { items, total: found.reduce((sum, { docIds }) => sum + docIds.length, 0) };
    },
  );
}

/** By path. */
async function skippedIn(
  { docStart, docEnd, revisions }: ShardPart,
  docCount: number,
  tables: ShardTables,
  reason: string | undefined,
  yielder: LoopYielder,
): Promise<number[]> {
  const live = revisions?.docsIn([0]) ?? 'all';
  const docIds: number[] = [];
  for (let rank = 0; rank < docCount; rank++) {
    await yielder.pause();
    const docId = tables.docAt(rank);
    const skipReason = tables.skipReasonOf(docId);
    if (skipReason === SKIP_NONE || docId < docStart || docId >= docEnd) continue;
    if (!containsDoc(live, docId - docStart)) continue;
    if (reason === undefined || SKIP_REASON_NAMES[skipReason] === reason) docIds.push(docId);
  }
  return docIds;
}

/** Undefined: none remains. */
function takeFirst(found: readonly Found[]): SkippedDoc | undefined {
  let first: Found | undefined;
  let firstPath: Uint8Array | undefined;
  for (const one of found) {
    const docId = one.docIds[one.next];
    if (docId === undefined) continue;
    const { path } = one.tables.doc(docId);
    if (firstPath !== undefined && Buffer.compare(firstPath, path) <= 0) continue;
    first = one;
    firstPath = path;
  }
  if (first === undefined) return undefined;
  const { path, skipReason, size } = first.tables.doc(first.docIds[first.next++]!);
  return {
    path: Buffer.from(path).toString(),
    reason: SKIP_REASON_NAMES[skipReason] ?? '',
    bytes: size,
  };
}

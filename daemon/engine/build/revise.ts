// Makes the revision file of a repo anew over the shards it has, where they hold every doc that the revisions now
// selected need: a branch or tag that is new, moved, or gone then costs reading trees, and no shard is touched. What
// the default revision holds must not have changed.

import { decodePath } from '../../base/paths.ts';
import { readTrees } from '../../sources/git/trees.ts';
import { bitmapSizeOf, RevisionTable, RevisionWriter } from '../shards/revisions.ts';
import { ShardTables } from '../shards/tables.ts';
import { Space, type ShardFile } from '../host/space.ts';
import { Breather } from '../../base/next-turn.ts';
import { filterUnion } from '../../sources/docs/committed-rules.ts';
import { docKey } from '../../sources/docs/source-revisions.ts';
import type { SourceSpec } from '../../sources/docs/source.ts';

export interface ReviseOptions {
  readonly module: WebAssembly.Module;
  readonly spec: SourceSpec;
  readonly shards: readonly ShardFile[];
  /** Of these shards, as it is now. */
  readonly table: RevisionTable;
  readonly signal?: AbortSignal;
}

/** Guess: with more docs than this share in no revision, building again is better than keeping them. */
const DEAD_SHARE_MAX = 0.5;

interface DocPlace {
  readonly shard: number;
  readonly docId: number;
}

/**
 * The new revision file; undefined: the shards lack a doc, or too many of their docs are in no revision any more.
 *
 * Errors: GitError, ShardError.
 */
export async function reviseShards(options: ReviseOptions): Promise<Buffer | undefined> {
  const { spec, table } = options;
  const commits = (spec.revisions ?? []).map(({ commit }) => commit);
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const trees = await readTrees(spec.path, commits, signal);
  const union = await filterUnion(spec.path, trees, commits.length);
  const known = await indexDocs(options);
  const places = union.docs.map((doc) => known.get(docKey(doc, doc.oid)));
  if (places.includes(undefined)) return undefined;
  const writer = new RevisionWriter(
    table.shards.map((shard) => ({ docCount: shard.docCount, unstored: shard.unstoredDocs() })),
  );
  writer.addCoded(table.shards.map(({ sets }) => sets[0]!));
  for (const commit of commits.keys()) {
    const bitmaps = table.shards.map(({ docCount }) => new Uint8Array(bitmapSizeOf(docCount)));
    union.visit(commit, (doc) => {
      const { shard, docId } = places[doc]!;
      bitmaps[shard]![docId >> 3]! |= 1 << (docId & 7);
    });
    writer.add(bitmaps);
    options.signal?.throwIfAborted();
  }
  const file = writer.bytes();
  return isWorthKeeping(file, commits.length + 1, table) ? file : undefined;
}

function isWorthKeeping(file: Buffer, revisionCount: number, { shards }: RevisionTable): boolean {
  const docCounts = shards.map(({ docCount }) => docCount);
  const next = RevisionTable.open(file, revisionCount, docCounts);
  const live = next.shards.reduce((sum, { liveCount }) => sum + liveCount, 0);
  const all = docCounts.reduce((sum, count) => sum + count, 0);
  return live >= all * (1 - DEAD_SHARE_MAX);
}

/** Place of each doc of the shards, by path and blob. */
async function indexDocs({ module, shards, table }: ReviseOptions): Promise<Map<string, DocPlace>> {
  const places = new Map<string, DocPlace>();
  const breather = new Breather();
  const space = new Space(module);
  for (const [shard, file] of shards.entries()) {
    space.open(file);
    const tables = new ShardTables(space.bytesOf(file.shardId));
    const unstored = new Map(
      table.shards[shard]!.unstoredDocs().map(({ docId, oid }) => [docId, oid]),
    );
    for (let docId = 0; docId < tables.docCount; docId++) {
      await breather.pause();
      const { path, blobId } = tables.doc(docId);
      const oid = blobId === undefined ? unstored.get(docId) : tables.blobHash(blobId);
      if (oid !== undefined)
        places.set(docKey(decodePath(Buffer.from(path)), oid), { shard, docId });
    }
    space.close(file.shardId);
  }
  return places;
}

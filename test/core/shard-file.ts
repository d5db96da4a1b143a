// Makes a shard file of a few contents with the builder, the merge and the writer of real builds.

import { writeFileSync } from 'node:fs';
import { HEADER_SIZE } from '../../core/shared/format.ts';
import { mergeSegments, SegmentBuilder } from '../../daemon/engine/host/builder.ts';
import { verifyShardFile } from '../../daemon/engine/host/verify.ts';
import { ShardDocs } from '../../daemon/engine/shards/shard-docs.ts';
import { writeShard } from '../../daemon/engine/shards/writer.ts';

/** A doc with a content that no other doc has. */
export interface TestDoc {
  readonly path: string;
  /** Not empty. */
  readonly content: string;
  /** Git's object id (SHA-1). */
  readonly oid?: string;
  readonly language?: string;
}

/** Writes the shard to `file`, docs in the order given. Throws if the core finds anything wrong with it. */
export function writeShardFile(
  module: WebAssembly.Module,
  file: string,
  docs: readonly TestDoc[],
): void {
  const builder = new SegmentBuilder(module);
  builder.begin();
  for (const { content } of docs) {
    const bytes = Buffer.from(content);
    builder.add(builder.stage(bytes) ?? 0, bytes.length, 0);
  }
  const batch = builder.close();
  writeFileSync(file, Buffer.concat([new Uint8Array(HEADER_SIZE), batch.content]));
  const tables = {
    repos: [{ repoId: 1, name: 'demo', docCount: docs.length }],
    docs: ShardDocs.of(
      docs.map(({ path, content, language }, blobId) => ({
        path: Buffer.from(path),
        blobId,
        size: Buffer.byteLength(content),
        language: language ?? '',
        skipReason: 0,
        tier: 0,
      })),
    ),
    ...builder.rows(0, 0, 0),
    blobHashes: Buffer.from(docs.map(({ oid }) => oid ?? '0'.repeat(40)).join(''), 'hex'),
    hashSize: 20,
    contentSize: batch.content.length,
  };
  const segments = batch.segments.map((segment, index) => {
    const path = `${file}.segment${index}`;
    writeFileSync(path, segment);
    return { path, size: segment.length };
  });
  writeShard(module, file, tables, (onPostings) => mergeSegments(module, segments, onPostings));
  const problem = verifyShardFile(module, file);
  if (problem !== undefined) throw new Error(problem);
}

// The tiny shard that core/FORMAT.md shows byte by byte, built with the builder, the merge and the writer
// that every build uses.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HEADER_SIZE } from '../../core/shared/format.ts';
import { mergeStripes, StripeBuilder } from '../../daemon/engine/builder.ts';
import { compileCore } from '../../daemon/engine/core.ts';
import { verifyShardFile } from '../../daemon/engine/verify.ts';
import { writeShard } from '../../daemon/shards/writer.ts';

/** Path, content and git's object id (SHA-1) of each doc, in docId order. */
const DOCS = [
  { path: 'a.txt', content: 'abab\n', oid: '1790c8d8f24817257c4d9e9bfddcb7e7d001c208' },
  { path: 'b.md', content: '\u212a', oid: '2edf5c494da5bed0af4682f94a3d7e17233b4089' },
  { path: 'c.txt', content: 'ABC', oid: '48b83b862ebc57bd3f7c34ed47262f4b402935af' },
];

/** The file's bytes. Throws if the core finds anything wrong with them. */
export async function buildExampleShard(): Promise<Uint8Array> {
  const module = await compileCore();
  const builder = new StripeBuilder(module);
  builder.begin();
  for (const { content } of DOCS) builder.add(Buffer.from(content), 0);
  const batch = builder.close();
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-format-'));
  try {
    const file = path.join(folder, 'example.shard');
    writeFileSync(file, Buffer.concat([new Uint8Array(HEADER_SIZE), batch.content]));
    const tables = {
      repoId: 1,
      repoName: 'demo',
      docs: DOCS.map((doc, index) => ({
        path: Buffer.from(doc.path),
        blobId: index,
        size: Buffer.byteLength(doc.content),
        language: doc.path.endsWith('.md') ? 'Markdown' : 'Text',
        skipReason: 0,
        tier: 0,
      })),
      ...builder.rows(0, 0, 0),
      blobHashes: Buffer.from(DOCS.map(({ oid }) => oid).join(''), 'hex'),
      hashSize: 20,
      contentSize: batch.content.length,
    };
    const stripes = batch.stripes.map((stripe) => ({
      size: stripe.length,
      read: (target: Uint8Array) => target.set(stripe),
    }));
    writeShard(module, file, tables, (onPostings) => mergeStripes(module, stripes, onPostings));
    const problem = verifyShardFile(module, file);
    if (problem !== undefined) throw new Error(problem);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

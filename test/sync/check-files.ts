// Checks that the shard folder of an index has exactly the files of its catalog, and that all are valid.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { verifyShardFile, verifySymbolsFile } from '../../daemon/engine/host/verify.ts';
import { coreModule } from '../engine/host/harness.ts';
import type { IndexOf } from './index-of.ts';

export async function checkFiles({ instance }: IndexOf, message?: string): Promise<void> {
  const { catalog } = instance;
  const module = await coreModule('release');
  // Symbols being found have a file of their own; a search that has just ended may have kept some.
  await instance.symbols?.run();
  await catalog.removeLeft();
  assert.deepEqual(readdirSync(catalog.shardFolder).sort(), [...catalog.fileNames].sort(), message);
  for (const repo of catalog.repos) {
    assert.ok(!(catalog.revisionsOf(repo) instanceof Error), message);
    for (const { shardId, symbols } of repo.shards) {
      const file = catalog.shardPath(shardId);
      assert.equal(verifyShardFile(module, file), undefined, message);
      if (symbols === undefined) continue;
      const symbolsFile = catalog.symbolsPath(symbols.symbolsId);
      assert.equal(verifySymbolsFile(module, file, symbolsFile), undefined, message);
    }
  }
}

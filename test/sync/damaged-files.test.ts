// Index files damaged before a start: truncated, emptied, replaced by a folder or a pipe. Valid ones are served, only
// damaged ones are rebuilt, and not for ever.
// tier: ci (long)

import assert from 'node:assert/strict';
import { shardErrorOf } from '../../daemon/engine/host/space.ts';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { once } from '../base/once.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';

const ALL = { branches: ['**'], tags: [] };

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  cut: (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  emptied: (file) => truncateSync(file, 0),
  removed: (file) => rmSync(file),
  'a folder': (file) => {
    rmSync(file);
    mkdirSync(path.join(file, 'x'), { recursive: true });
  },
  'a pipe': (file) => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
  },
};

const indexed = once(async () => {
  const repo = makeRepo({ 'a.c': 'int eat(void) { return 0; }\n' });
  git(repo, 'branch', 'x');
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir, { findsSymbols: true });
  await index.index([repo], ALL, 'commits');
  await index.instance.symbols!.run();
  await index.close();
  return { dataDir, repo };
});

/** A data directory of the test's own, with a repo of two branches and its symbols. The repo is that of all tests. */
async function makeIndex() {
  const { dataDir: source, repo } = await indexed();
  const dataDir = temporaryFolder();
  cpSync(source, dataDir, { recursive: true });
  return { dataDir, repo };
}

function fileOf(dataDir: string, ending: string): string {
  const folder = path.join(dataDir, 'shards');
  const [name = ''] = readdirSync(folder).filter((one) => one.endsWith(ending));
  return path.join(folder, name);
}

async function isWhole(index: IndexOf): Promise<boolean> {
  const answer = await index.search('sym:^eat$ rev:x');
  return answer.isSearchExhaustive && answer.files.length === 1;
}

for (const [name, damage] of Object.entries(DAMAGES)) {
  void test(`symbols ${name}: the text stays in service, only symbols are recomputed`, async () => {
    const { dataDir } = await makeIndex();
    damage(fileOf(dataDir, '.tags'));
    const shard = statSync(fileOf(dataDir, '.shard')).ino;
    await using index = await openIndexOf(dataDir, { findsSymbols: true });
    // At once: by the end of the first search they may have been found again.
    const [text, symbols] = await Promise.all(['eat', 'sym:eat'].map((one) => index.search(one)));
    assert.equal(text!.files.length, 1);
    assert.deepEqual(symbols!.incompleteReasons, ['symbols_missing']);
    await index.instance.symbols!.run();
    assert.ok(await isWhole(index));
    assert.equal(statSync(fileOf(dataDir, '.shard')).ino, shard);
    assert.deepEqual(index.warnings, ['symbols taken out of service']);
  });

  // All that differs is read by the same step.
  for (const ending of name === 'cut' || name === 'removed'
    ? ['.shard', '.revisions']
    : ['.shard']) {
    void test(`${ending} ${name}: out of service, and rebuilt`, async () => {
      const { dataDir } = await makeIndex();
      damage(fileOf(dataDir, ending));
      await using index = await openIndexOf(dataDir, { findsSymbols: true });
      assert.deepEqual((await index.search('eat')).incompleteReasons, ['shard_quarantined']);
      await index.instance.indexer.jobs.whenIdle();
      await index.instance.symbols!.run();
      assert.ok(await isWhole(index));
      assert.deepEqual(index.warnings, ['shard quarantined']);
    });
  }
}

void test('repeated damage is repaired after pauses', async () => {
  const { dataDir, repo } = await makeIndex();
  await using index = await openIndexOf(dataDir, { findsSymbols: true });
  const { served } = index.instance;
  const indexer = index.instance.indexer;
  const quarantine = (): void => {
    const [shard] = index.instance.catalog.repos.flatMap(({ shards }) => shards);
    served.quarantine(shard!.shardId, 'for the test');
  };
  quarantine();
  quarantine();
  await indexer.jobs.whenIdle();
  assert.ok(await isWhole(index));
  assert.deepEqual(index.warnings, ['shard quarantined']);
  quarantine();
  assert.match(index.warnings.at(-1)!, /^the repo is built again after a pause/);
  // Somebody else may have it built meanwhile.
  await index.index([repo], ALL, 'commits');
  assert.ok(await isWhole(index));
  quarantine();
  await index.close();
  assert.equal(index.warnings.length, 4);
  await assert.rejects(index.index([repo], ALL, 'commits'));
});

void test('unreadable symbols are lost alone, and nothing is lost to a shortage of the machine', () => {
  const faultOf = (code: string, fault?: 'symbols'): string =>
    shardErrorOf('s', Object.assign(new Error('x'), { code }), fault).fault;
  assert.equal(faultOf('EACCES', 'symbols'), 'symbols');
  assert.equal(faultOf('EMFILE', 'symbols'), 'unmapped');
  assert.equal(faultOf('EACCES'), 'unmapped');
  assert.equal(faultOf('EIO'), 'damaged');
});

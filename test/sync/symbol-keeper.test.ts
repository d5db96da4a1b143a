// The symbols of an index of real repositories: found behind the index, kept with their shards, out of service when
// damaged, found again; what searches say meanwhile.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { enginesHere } from '../../daemon/symbols/extractor.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';

const TIMEOUT = { timeout: 120_000 };
const FILES = {
  'a.c': 'struct plum { int stone; };\nint eat(struct plum *p) { return p->stone; }\n',
  'b.py': 'class Plum:\n    def eat(self):\n        return 1\n',
  'c.txt': 'plum eat\n',
};

function filesOf(dataDir: string, ending: string): string[] {
  return readdirSync(path.join(dataDir, 'shards')).filter((name) => name.endsWith(ending));
}

async function found(index: IndexOf, query: string): Promise<string[]> {
  const { files } = await index.search(query);
  return files.map((file) => file.path).sort();
}

void test('symbols are found behind the index and stay with it', TIMEOUT, async () => {
  assert.equal((await enginesHere()).at(-1)?.name, 'tree-sitter');
  const repo = makeRepo(FILES);
  const dataDir = temporaryFolder();
  const first = await openIndexOf(dataDir);
  await first.index([repo]);
  assert.deepEqual(await found(first, 'eat'), ['a.c', 'b.py', 'c.txt']);
  await first.instance.symbols!.run();
  assert.deepEqual(await found(first, 'sym:^eat$'), ['a.c', 'b.py']);
  assert.deepEqual(await found(first, 'sym:plum lang:python'), ['b.py']);
  assert.equal((await first.search('sym:absent')).isSearchExhaustive, true);
  await first.close();
  const tags = filesOf(dataDir, '.tags');
  assert.equal(tags.length, 1);

  const second = await openIndexOf(dataDir);
  assert.deepEqual(await found(second, 'sym:^eat$'), ['a.c', 'b.py']);
  const [unchanged] = await second.index([repo]);
  assert.ok(unchanged?.isUnchanged);
  await second.instance.symbols!.run();
  assert.deepEqual(filesOf(dataDir, '.tags'), tags);

  writeFiles(repo, { 'd.c': 'int drink(void) { return 0; }\n' });
  commitAll(repo);
  await second.index([repo]);
  await second.instance.symbols!.run();
  assert.deepEqual(await found(second, 'sym:drink'), ['d.c']);
  // The new file has a shard of its own, and the symbols of the others stay.
  const both = filesOf(dataDir, '.tags');
  assert.ok(both.length === 2 && both.includes(tags[0]!));
  await second.close();
  assert.deepEqual(filesOf(dataDir, '.next'), []);
});

void test('without symbols a search for them says so, others do not', TIMEOUT, async () => {
  const repo = makeRepo(FILES);
  const dataDir = temporaryFolder();
  const owner = await openIndexOf(dataDir);
  await owner.instance.symbols!.close();
  await owner.index([repo]);
  for (const query of ['sym:eat', 'eat -(sym:plum)', '(sym:plum or eat)']) {
    const answer = await owner.search(query);
    assert.deepEqual(answer.incompleteReasons, ['symbols_missing'], query);
  }
  assert.equal((await owner.search('eat')).isSearchExhaustive, true);
  assert.equal((await owner.search('sym:eat repo:nothing')).isSearchExhaustive, true);
  await owner.close();
});

void test(
  'damaged symbols are out of service, text is not; they are found again',
  TIMEOUT,
  async () => {
    const repo = makeRepo(FILES);
    const dataDir = temporaryFolder();
    const first = await openIndexOf(dataDir);
    await first.index([repo]);
    await first.instance.symbols!.run();
    await first.close();
    const [name = ''] = filesOf(dataDir, '.tags');
    const file = path.join(dataDir, 'shards', name);
    const bytes = readFileSync(file);
    bytes[300]! ^= 1; // in the starts of the blocks' rows
    bytes[20]! ^= 1;
    writeFileSync(file, bytes);

    const reader = await openIndexOf(dataDir, { isOwner: false });
    assert.deepEqual(await found(reader, 'eat'), ['a.c', 'b.py', 'c.txt']);
    assert.deepEqual((await reader.search('sym:eat')).incompleteReasons, ['symbols_missing']);
    assert.equal(reader.instance.served.quarantinedCount, 0);
    assert.ok(reader.warnings.includes('symbols taken out of service'));
    await reader.close();

    const owner = await openIndexOf(dataDir);
    await owner.index([repo]);
    await owner.instance.symbols!.run();
    assert.deepEqual(await found(owner, 'sym:^eat$'), ['a.c', 'b.py']);
    await owner.close();
  },
);

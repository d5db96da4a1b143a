// Queries of very many atoms: they are answered, or refused with the limit that they exceed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { QUERY_STATES_MAX } from '../../daemon/search/plan.ts';
import { buildShard, coreModule, Engine, repoRecord, temporaryFolder } from './harness.ts';

const REPO = repoRecord(1, 'host/repo');

async function engineOf(): Promise<Engine> {
  const module = await coreModule('release');
  const docs = [
    { path: 'a.txt', bytes: Buffer.from('foo7 foo2999x\nfoo3000\n') },
    { path: 'b.txt', bytes: Buffer.from('fob7\n') },
  ];
  const engine = new Engine(module);
  engine.publish([buildShard(module, temporaryFolder(), REPO, docs)], [REPO]);
  return engine;
}

/** An OR of as many atoms, none of which is only a choice of literals. */
function queryOf(count: number, atomOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => atomOf(index)).join(' or ');
}

void test('thousands of expressions in one query are answered', async () => {
  const engine = await engineOf();
  const options = { isRegexEnabled: true };
  const contents = await engine.search(
    queryOf(3000, (i) => String.raw`\bfo+${i}\b`),
    options,
  );
  assert.deepEqual(
    contents.files.map(({ fileName }) => fileName.text),
    ['a.txt'],
  );
  assert.equal(contents.stats['totalMatchCount'], 1);
  assert.equal(contents.isSearchExhaustive, true);
  const paths = await engine.search(
    queryOf(2000, (i) => `file:a+${i}|a+[.]+txt`),
    options,
  );
  assert.equal(paths.files.length, 1);
  await engine.close();
});

void test('too many are refused with the limit', async () => {
  const engine = await engineOf();
  const refusals: readonly [query: string, message: RegExp][] = [
    [
      queryOf(9000, (i) => String.raw`\bfoo${i}\w+`),
      new RegExp(`limit ${QUERY_STATES_MAX} states`),
    ],
    [queryOf(20_001, (i) => `foo${i}`), /too many conditions, limit 20000 at/],
    [
      queryOf(1500, (i) => 'a'.repeat(3000) + i),
      /too large: its plan takes \d+ bytes, limit \d+ at/,
    ],
  ];
  for (const [query, message] of refusals) {
    await assert.rejects(engine.search(query, { isRegexEnabled: true }), {
      name: 'QueryError',
      message,
    });
  }
  await engine.close();
});

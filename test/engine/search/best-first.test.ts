// A search that stops at its limit has searched the docs with the best scores: those in which words can be adjacent,
// and those with a word in their names, whatever their paths.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Engine, type TestDoc } from '../host/harness.ts';

const doc = (path: string, text: string): TestDoc => ({ path, bytes: Buffer.from(text) });

/** More than a block. */
const apart = (text: string): string => `alpha ${text}\n${'x y z\n'.repeat(1000)}beta\n`;

const DOCS: readonly TestDoc[] = [
  ...Array.from({ length: 900 }, (_, i) =>
    doc(`a/${String(i).padStart(3, '0')}.ts`, apart(`${i}`)),
  ),
  doc('y/old-alpha.ts', apart('named')),
  doc('z/late.ts', `${'x y z\n'.repeat(1000)}alpha beta\n`),
];

const engines = await Promise.all([
  Engine.over(DOCS),
  Engine.over(DOCS, { inlineNs: 0n, workers: 1 }),
  Engine.over(DOCS, { inlineNs: 0n, workers: 3 }),
]);
after(() => Promise.all(engines.map((engine) => engine.close())));

for (const query of [
  'alpha beta',
  'beta alpha -(gamma)',
  'alpha beta or (gamma delta)',
  'BETA al[p]ha',
]) {
  void test(`${query}: the best come first, on any number of threads`, async () => {
    const isRegexEnabled = query.includes('[');
    const answers = await Promise.all(
      engines.map((engine) => engine.search(query, { matches: 10, isRegexEnabled })),
    );
    const orders = answers.map(({ files }) => files.map(({ fileName }) => fileName.text));
    assert.deepEqual(orders[0]!.slice(0, 2), ['z/late.ts', 'y/old-alpha.ts']);
    assert.deepEqual(orders[1], orders[0]);
    assert.deepEqual(orders[2], orders[0]);
    for (const { isSearchExhaustive, stats } of answers) {
      assert.equal(isSearchExhaustive, false);
      assert.ok(stats['filesConsidered']! < DOCS.length, 'not all docs are looked at');
    }
  });
}

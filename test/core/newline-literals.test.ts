// Literals with newlines against a plain search: their matches can cross blocks, which end at line ends, and grams
// with a newline in the middle are not indexed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { buildShard, coreModule, REPO, temporaryFolder } from '../engine/host/harness.ts';
import { encodePlan } from '../engine/query/at-once.ts';

/** Lines `row 0` to `row 2999`, every hundredth followed by an empty one: several blocks of 4 KiB. */
const ROWS = Array.from({ length: 3000 }, (_, i) => `row ${i}${i % 100 === 0 ? '\n' : ''}`);
const CONTENTS = [ROWS.join('\n'), `${ROWS.slice(0, 40).join('\n')}\n`, 'x\ny\n', 'row'];
const LITERALS = [
  '\n',
  'w\n',
  '7\n',
  '\nr',
  '\n\n',
  '0\n\nr',
  '7\nr',
  '\nrow',
  'x\ny\n',
  '\n\n\n',
  'q\nrow',
  ...ROWS.slice(1, 2999).map((row, i) => `${row}\n${ROWS[i + 2]!.slice(0, 6)}`),
];

/** Matches from left to right, none overlapping the one before. */
function countIn(content: string, literal: string): number {
  return content.split(literal).length - 1;
}

test('literals with newlines are found across blocks', async () => {
  const module = await coreModule('release');
  const docs = CONTENTS.map((content, i) => ({ path: `${i}.txt`, bytes: Buffer.from(content) }));
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  for (const literal of LITERALS) {
    searcher.setPlan(encodePlan({ kind: 'text', text: literal }, true));
    const { unitCount } = searcher.bind(shard.shardId);
    let found = 0;
    for (let unit = 0; unit < unitCount; unit++) found += searcher.searchUnit(unit).matches;
    const expected = CONTENTS.reduce((sum, content) => sum + countIn(content, literal), 0);
    assert.equal(found, expected, JSON.stringify(literal));
  }
});

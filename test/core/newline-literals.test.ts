// Literals with newlines against a plain search: their matches can cross blocks, which end at line ends, and grams
// with a newline in the middle are not indexed.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compileCore } from '../../daemon/engine/host/core.ts';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { writeShardFile } from './shard-file.ts';
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
  const module = await compileCore();
  const file = path.join(temporaryFolder(), 'rows.shard');
  const docs = CONTENTS.map((content, i) => ({ path: `${i}.txt`, content }));
  writeShardFile(module, file, docs);
  const searcher = new Searcher(module);
  searcher.setShards([{ shardId: 'rows', path: file, size: statSync(file).size }]);
  for (const literal of LITERALS) {
    searcher.setPlan(encodePlan({ kind: 'text', text: literal }, true));
    const { unitCount } = searcher.bind('rows');
    let found = 0;
    for (let unit = 0; unit < unitCount; unit++) found += searcher.searchUnit(unit).matches;
    const expected = CONTENTS.reduce((sum, content) => sum + countIn(content, literal), 0);
    assert.equal(found, expected, JSON.stringify(literal));
  }
});

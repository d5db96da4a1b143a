// Threads share which pages they have checked: no page is forgotten too late or taken for another one, and rendering checks
// only what it reads.

import assert from 'node:assert/strict';
import { closeSync, linkSync, openSync, readFileSync, writeSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { HEADER_HASH_SIZE_OFFSET } from '../../../core/shared/format.ts';
import { CheckedPages, fileKeyOf } from '../../../daemon/engine/host/checked-pages.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { buildShard, coreModule, encodedPlan, REPO, temporaryFolder } from './harness.ts';
import { answersOf } from './seal.ts';

const DAY_MS = 86_400_000;

void test('a page counts as checked only after it was, in the same file', () => {
  // Keys with the same low and with the same high digits, so that files meet in the table.
  const name = fc.constantFrom(
    '00000000000a',
    '00000000000b',
    '00010000000a',
    '0001ffffffff',
    'ffff0000000a',
  );
  const file = name.map((digits) => digits.padEnd(64, '0'));
  const page = fc.oneof(fc.nat(50), fc.integer({ min: 524_270, max: 524_310 }));
  const run = fc.tuple(file, page, fc.integer({ min: 1, max: 9 }));
  const property = fc.property(fc.array(run, { maxLength: 30 }), fc.array(run), (added, others) => {
    const buffer = CheckedPages.newBuffer();
    const checked = new CheckedPages(buffer, DAY_MS);
    const pages = new Set<string>();
    for (const [own, first, count] of added) {
      checked.add(fileKeyOf(own)!, first, count);
      for (let index = first; index < first + count; index++) pages.add(`${own} ${index}`);
    }
    const ofOtherThread = new CheckedPages(buffer, DAY_MS);
    for (const [own, first, count] of [...added, ...others]) {
      if (!ofOtherThread.has(fileKeyOf(own)!, first, count)) continue;
      for (let index = first; index < first + count; index++)
        assert.ok(pages.has(`${own} ${index}`));
    }
    const last = added.at(-1);
    if (last !== undefined) assert.ok(ofOtherThread.has(fileKeyOf(last[0])!, last[1], last[2]));
    ofOtherThread.clear();
    for (const [own, first] of added) assert.ok(!checked.has(fileKeyOf(own)!, first, 1));
  });
  fc.assert(property, { numRuns: 300 });
});

void test('checked pages are forgotten after a time, and only names that are hashes count', async () => {
  const checked = new CheckedPages(CheckedPages.newBuffer(), 5);
  checked.add(7, 0, 3);
  await new Promise((resolve) => setTimeout(resolve, 6));
  assert.ok(!checked.has(7, 0, 1));
  assert.equal(fileKeyOf('0123456789ab'), undefined);
  assert.equal(fileKeyOf(`${'0123456789ab'.padEnd(64, '0')}.tags`), 0x0123456789ab);
});

const PLAN = encodedPlan('needle');
const DOCS = [0, 1].map((doc) => ({
  path: `d${doc}`,
  bytes: Buffer.from(
    `a needle\n${'some text\n'.repeat(2500)}middle ${doc}\n${'more text\n'.repeat(2500)}`,
  ),
}));

function damage(file: string, text: string): void {
  const at = readFileSync(file).indexOf(text);
  assert.ok(at > 0);
  change(file, at, text.charCodeAt(0) ^ 1);
}

/** Writes a byte of the file in place, through another name. */
function change(file: string, at: number, byte: number): void {
  const link = `${file}.link${at}`;
  linkSync(file, link);
  const opened = openSync(link, 'r+');
  writeSync(opened, Uint8Array.of(byte), 0, 1, at);
  closeSync(opened);
}

void test('a page that one thread has checked is not checked by another, unless an instance has died since', async () => {
  const module = await coreModule('release');
  const shard = buildShard(module, temporaryFolder(), REPO, DOCS);
  const open = (checkedPages?: SharedArrayBuffer): Searcher => {
    const searcher = new Searcher(module, { checkedPages, verifiedMs: DAY_MS });
    assert.deepEqual(searcher.setShards([shard]), []);
    return searcher;
  };
  const answersOfNew = (checkedPages?: SharedArrayBuffer): string[] =>
    answersOf(open(checkedPages), shard.shardId, [PLAN], false);
  const shared = CheckedPages.newBuffer();
  const first = open(shared);
  const [valid] = answersOf(first, shard.shardId, [PLAN], false);
  assert.match(valid!, /needle/);
  damage(shard.path, 'some text');
  assert.deepEqual(answersOfNew(), ['refused']);
  assert.deepEqual(answersOfNew(shared), [valid]);
  first.replaceSpaceOf(shard.shardId);
  assert.deepEqual(answersOfNew(shared), ['refused']);
});

void test('damage far from what is shown does not hide a result, unless the whole file is requested', async () => {
  const module = await coreModule('release');
  const shard = buildShard(module, temporaryFolder(), REPO, DOCS);
  damage(shard.path, 'middle 0');
  const answers = [false, true].map((whole) => {
    const searcher = new Searcher(module);
    assert.deepEqual(searcher.setShards([shard]), []);
    return answersOf(searcher, shard.shardId, [PLAN], whole)[0]!;
  });
  assert.match(answers[0]!, /"content":"a needle\\n"/);
  assert.equal(answers[1], 'refused');
});

void test('a header that changes while its shard is open changes no result', async () => {
  const module = await coreModule('release');
  const shard = buildShard(module, temporaryFolder(), REPO, DOCS);
  const searcher = new Searcher(module);
  assert.deepEqual(searcher.setShards([shard]), []);
  const before = answersOf(searcher, shard.shardId, [PLAN], false);
  assert.match(before[0]!, /"blobSha":"[0-9a-f]{40}"/);
  change(shard.path, HEADER_HASH_SIZE_OFFSET + 1, 1);
  assert.deepEqual(answersOf(searcher, shard.shardId, [PLAN], false), before);
});

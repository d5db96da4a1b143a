// Damaged shard files: each byte of header and tables, and a sample of the rest, is changed in turn. Opening
// must refuse the file, or every answer is refused or stays the same, and the checks report the damage (but padding); a
// search on it never traps. Cut files are refused.
// tier: ci (long)

import assert from 'node:assert/strict';
import { closeSync, linkSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  HEADER_CHECKSUM_OFFSET,
  HEADER_SECTIONS_OFFSET,
  HEADER_SIZE,
  SECTION_BLOBS,
  SECTION_CASE_MARKS,
  SECTION_CONTENT,
  SECTION_COUNT,
  SECTION_GRAM_KEYS,
  SECTION_POSTINGS,
  SECTION_ROW_SIZE,
} from '../../../core/shared/format.ts';
import { compileCore, instantiateCore } from '../../../daemon/engine/host/core.ts';
import { PageCheck } from '../../../daemon/engine/host/page-check.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { verifyShardFile } from '../../../daemon/engine/host/verify.ts';
import { ShardTables } from '../../../daemon/engine/shards/tables.ts';
import { buildShard, temporaryFolder, wasmFile } from './harness.ts';
import { answersOf, sealShard } from './seal.ts';
import { encodePlan } from '../query/at-once.ts';

const REPO = { repoId: 1, name: 'host/repo' };
const PLANS = ['needle', 'ne', 'o', 'é日本', 'doc 7', 'kelvin', 'Kelvin'].map((text) =>
  encodePlan({ kind: 'text', text }, /[A-Z]/.test(text)),
);

function makeDocs(): { path: string; bytes: Buffer; language: string }[] {
  const docs = Array.from({ length: 12 }, (_, doc) => ({
    path: `folder${doc % 3}/doc${doc}.txt`,
    bytes: Buffer.from(`doc ${doc % 9}\nneedle é日本 Kelvin \u212aelvin\n`),
    language: doc % 2 === 0 ? 'Go' : '',
  }));
  const long = Buffer.from('needle in a long file\n'.repeat(500));
  return [...docs, { path: 'long', bytes: long, language: '' }];
}

/** A valid shard, its bytes, and where to put a damaged one. */
async function shardToDamage() {
  const module = await compileCore(wasmFile('release'));
  const folder = temporaryFolder();
  const shard = buildShard(module, folder, REPO, makeDocs());
  return {
    module,
    shard,
    valid: readFileSync(shard.path),
    searcher: new Searcher(module),
    file: path.join(folder, 'damaged.shard'),
  };
}

/** Offsets to damage: header, section table, small tables in full; content and postings in part. */
function offsetsOf(bytes: Uint8Array): number[] {
  const tables = new ShardTables(bytes);
  const content = tables.section(SECTION_CONTENT);
  const offsets: number[] = [];
  for (let at = 0; at < 400; at++) offsets.push(at);
  for (let at = 400; at < HEADER_SIZE; at += 97) offsets.push(at);
  for (let at = content.start; at < content.start + content.size; at += 61) offsets.push(at);
  for (let at = content.start + content.size; at < bytes.length; at += at % 3 === 0 ? 1 : 3)
    offsets.push(at);
  return offsets;
}

void test('a changed byte is refused, reported, or changes nothing', async () => {
  const { module, shard, valid, searcher, file } = await shardToDamage();
  assert.deepEqual(searcher.setShards([shard]), []);
  const expected = answersOf(searcher, shard.shardId, PLANS, true);
  assert.ok(expected[0]!.includes('needle') && !expected.includes('refused'));
  const check = new PageCheck(module);
  const counts = { refused: 0, met: 0, reported: 0, unchanged: 0 };
  for (const [index, offset] of offsetsOf(valid).entries()) {
    const bytes = Buffer.from(valid);
    bytes[offset]! ^= 1 << (index % 8);
    writeFileSync(file, bytes);
    const damaged = { shardId: `damaged${index}`, path: file, size: bytes.length };
    if (searcher.setShards([damaged]).length > 0) {
      counts.refused++;
      continue;
    }
    // Damage that a search meets is refused; nothing else may differ.
    const answers = answersOf(searcher, damaged.shardId, PLANS, true);
    const isRefused = answers.includes('refused');
    const displayed = answers.map((answer, i) => (answer === 'refused' ? expected[i] : answer));
    assert.deepEqual(displayed, expected, `byte ${offset}`);
    const isReported = verifyShardFile(module, file) !== undefined;
    assert.ok(isReported || !isRefused, `byte ${offset}`);
    const isMissed = (await check.check(damaged, () => Promise.resolve())) === undefined;
    assert.equal(isMissed, !isReported, `byte ${offset}`);
    if (isRefused) counts.met++;
    else if (isReported) counts.reported++;
    else counts.unchanged++;
  }
  assert.ok(counts.refused > 400 && counts.met > 20, JSON.stringify(counts));
});

void test('a byte that changes after it was read is detected once pages are verified again', async () => {
  const { module, shard, valid } = await shardToDamage();
  const searcher = new Searcher(module, { verifiedMs: 1e-6 });
  assert.deepEqual(searcher.setShards([shard]), []);
  const expected = answersOf(searcher, shard.shardId, PLANS, true);
  const link = `${shard.path}.link`;
  linkSync(shard.path, link);
  const write = (byte: number, offset: number): void => {
    const file = openSync(link, 'r+');
    writeSync(file, Uint8Array.of(byte), 0, 1, offset);
    closeSync(file);
  };
  const tables = new ShardTables(valid);
  const sections = [SECTION_CONTENT, SECTION_BLOBS, SECTION_POSTINGS, SECTION_GRAM_KEYS];
  for (const section of sections) {
    const { start } = tables.section(section);
    write(valid[start]! ^ 0x20, start);
    const answers = answersOf(searcher, shard.shardId, PLANS, true);
    assert.ok(answers.includes('refused'), `section ${section}`);
    const displayed = answers.map((answer, i) => (answer === 'refused' ? expected[i] : answer));
    assert.deepEqual(displayed, expected, `section ${section}`);
    write(valid[start]!, start);
    assert.deepEqual(
      answersOf(searcher, shard.shardId, PLANS, true),
      expected,
      `section ${section}`,
    );
  }
});

void test('damage behind a valid header checksum never traps', async () => {
  const { module, valid, searcher, file } = await shardToDamage();
  const { exports, memory, heapStart } = instantiateCore(module);
  let openCount = 0;
  for (
    let offset = 8;
    offset < HEADER_SECTIONS_OFFSET + SECTION_COUNT * SECTION_ROW_SIZE;
    offset++
  ) {
    if (offset >= HEADER_CHECKSUM_OFFSET && offset < HEADER_CHECKSUM_OFFSET + 8) continue;
    for (const change of [1, 0x80, 0xff]) {
      const bytes = Buffer.from(valid);
      bytes[offset]! ^= change;
      new Uint8Array(memory.buffer).set(bytes.subarray(0, HEADER_SIZE), heapStart);
      const checksum = BigInt.asUintN(64, exports.headerChecksum(heapStart));
      bytes.writeBigUInt64LE(checksum, HEADER_CHECKSUM_OFFSET);
      writeFileSync(file, bytes);
      const damaged = { shardId: `${offset} ${change}`, path: file, size: bytes.length };
      if (searcher.setShards([damaged]).length > 0) continue;
      openCount++;
      answersOf(searcher, damaged.shardId, PLANS, true);
    }
  }
  assert.ok(openCount > 0);
});

void test('a truncated file is refused', async () => {
  const { module, valid, searcher, file } = await shardToDamage();
  for (let size = 0; size < valid.length; size += 64) {
    writeFileSync(file, valid.subarray(0, size));
    assert.equal(searcher.setShards([{ shardId: `cut${size}`, path: file, size }]).length, 1);
    const shard = { shardId: `named${size}`, path: file, size: valid.length };
    assert.equal(searcher.setShards([shard]).length, 1, 'smaller than the catalog says');
    if (size % 1024 === 0 && size > 0) assert.notEqual(verifyShardFile(module, file), undefined);
  }
});

void test('wrong case marks are reported, whatever the checksums say', async () => {
  const module = await compileCore(wasmFile('release'));
  const shard = buildShard(module, temporaryFolder(), REPO, makeDocs());
  const bytes = readFileSync(shard.path);
  const { start } = new ShardTables(bytes).section(SECTION_CASE_MARKS);
  bytes[start + 7]! ^= 1;
  sealShard(module, bytes, SECTION_CASE_MARKS);
  writeFileSync(shard.path, bytes);
  assert.match(verifyShardFile(module, shard.path) ?? 'sound', /case marks/);
});

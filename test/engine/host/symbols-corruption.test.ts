// Damaged symbol files: each byte of header and tables is changed in turn, also with a fitting checksum. Opening
// refuses the file, or the full check reports it, or every answer stays the same; a search never traps. The builder
// excludes invalid symbols.
// tier: ci (long)

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { PAGE_SIZE, SECTION_ROW_SIZE, SECTION_START_OFFSET } from '../../../core/shared/format.ts';
import * as layout from '../../../core/shared/symbols.ts';
import { compileCore, instantiateCore } from '../../../daemon/engine/host/core.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { PageCheck } from '../../../daemon/engine/host/page-check.ts';
import { SymbolsFileBuilder } from '../../../daemon/engine/shards/symbols-builder.ts';
import { verifySymbolsFile } from '../../../daemon/engine/host/verify.ts';
import {
  buildShard,
  encodedPlan,
  headings,
  temporaryFolder,
  type TestDoc,
  wasmFile,
} from './harness.ts';
import { answersOf } from './seal.ts';

const REPO = { repoId: 1, name: 'host/repo' };
const PLANS = ['sym:alpha', 'sym:^beta', 'sym:\\bgamma\\b', 'sym:a+l', 'sym:.', 'alpha'].map(
  (query) => encodedPlan(query),
);

function makeDocs(): TestDoc[] {
  return Array.from({ length: 9 }, (_, doc) => {
    const text = `int alpha${doc};\nvoid beta(int gamma_${doc});\n-- foo-gamma ++\n`.repeat(
      doc === 8 ? 200 : 1,
    );
    const symbols = [...text.matchAll(/alpha\d|beta|foo-gamma/g)].map((match, index) => ({
      start: match.index,
      size: match[0].length,
      kind: index % 23,
      ...(index % 3 === 0 ? {} : { parent: { name: `Outer${index % 4}`, kind: 0 } }),
    }));
    return { path: `doc${doc}.c`, bytes: Buffer.from(text), symbols };
  });
}

void test('a changed byte is refused, reported, or changes nothing; none traps', async () => {
  const module = await compileCore(wasmFile('release'));
  const folder = temporaryFolder();
  const shard = buildShard(module, folder, REPO, makeDocs());
  const valid = readFileSync(shard.symbols!.path);
  assert.equal(verifySymbolsFile(module, shard.path, shard.symbols!.path), undefined);
  const searcher = new Searcher(module);
  assert.deepEqual(searcher.setShards([shard]), []);
  const expected = answersOf(searcher, shard.shardId, PLANS, false);
  const text = expected.join('\n');
  assert.ok(text.includes('"kind":"class"') && text.includes('"parent":'));
  assert.ok(!expected.includes('refused'));
  const { exports, memory, heapStart } = instantiateCore(module);
  const file = path.join(folder, 'damaged.tags');
  const check = new PageCheck(module);
  const counts = { refused: 0, met: 0, reported: 0, unchanged: 0 };
  const step = (offset: number): number => (offset < layout.SYMBOLS_HEADER_SIZE ? 1 : 7);
  for (let offset = 0; offset < valid.length; offset += step(offset)) {
    for (const isSealed of [false, true]) {
      const bytes = Buffer.from(valid);
      bytes[offset]! ^= 1 << (offset % 8);
      if (isSealed) {
        new Uint8Array(memory.buffer).set(bytes.subarray(0, layout.SYMBOLS_HEADER_SIZE), heapStart);
        const checksum = BigInt.asUintN(64, exports.symbolsHeaderChecksum(heapStart));
        bytes.writeBigUInt64LE(checksum, layout.SYMBOLS_CHECKSUM_OFFSET);
      }
      writeFileSync(file, bytes);
      const symbols = { path: file, size: bytes.length };
      const damaged = { ...shard, shardId: `${offset} ${isSealed}`, symbols };
      if (searcher.setShards([damaged]).length > 0) {
        counts.refused++;
        continue;
      }
      const answers = answersOf(searcher, damaged.shardId, PLANS, false);
      const displayed = answers.map((answer, i) => (answer === 'refused' ? expected[i] : answer));
      assert.deepEqual(displayed, expected, `byte ${offset}`);
      const isReported = verifySymbolsFile(module, shard.path, file) !== undefined;
      const problem = await check.check(damaged, () => Promise.resolve());
      // It believes a header with the right checksum.
      if (!isSealed)
        assert.equal(problem?.fault, isReported ? 'symbols' : undefined, `byte ${offset}`);
      if (answers.includes('refused')) counts.met++;
      else if (isReported) counts.reported++;
      else counts.unchanged++;
    }
  }
  assert.ok(counts.refused > 1000, JSON.stringify(counts));
});

void test('a damaged page of names is met by the search that reads it', async () => {
  const module = await compileCore(wasmFile('release'));
  const folder = temporaryFolder();
  const names = Array.from({ length: 5000 }, (_, i) => `alpha${i}`);
  const starts = names.map((_, i) => names.slice(0, i).join(' ').length + (i === 0 ? 0 : 1));
  const symbols = names.map((name, i) => ({ start: starts[i]!, size: name.length, kind: 0 }));
  const doc = { path: 'a.c', bytes: Buffer.from(names.join(' ')), symbols };
  const shard = buildShard(module, folder, REPO, [doc]);
  const valid = readFileSync(shard.symbols!.path);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const plans = ['sym:^alpha4321$', 'sym:^alpha7'].map((query) => encodedPlan(query));
  const expected = answersOf(searcher, shard.shardId, plans, false);
  const file = path.join(folder, 'damaged.tags');
  let met = 0;
  for (const kind of [layout.SYMBOLS_SECTION_NAMES, layout.SYMBOLS_SECTION_NAME_LISTS]) {
    const row = layout.SYMBOLS_SECTIONS_OFFSET + (kind - 1) * SECTION_ROW_SIZE;
    const start = valid.readUInt32LE(row + SECTION_START_OFFSET);
    for (let at = start + PAGE_SIZE; at < start + 4 * 5000; at += PAGE_SIZE) {
      const bytes = Buffer.from(valid);
      bytes[at]! ^= 1;
      writeFileSync(file, bytes);
      const damaged = {
        ...shard,
        shardId: String(at),
        symbols: { path: file, size: bytes.length },
      };
      assert.deepEqual(searcher.setShards([damaged]), []);
      const answers = answersOf(searcher, damaged.shardId, plans, false);
      if (answers.includes('refused')) met++;
      assert.deepEqual(
        answers.map((answer, i) => (answer === 'refused' ? expected[i] : answer)),
        expected,
      );
      assert.notEqual(verifySymbolsFile(module, shard.path, file), undefined);
    }
  }
  assert.ok(met >= 3, `${met}`);
});

void test('truncated files, and files of another shard, are refused', async () => {
  const module = await compileCore(wasmFile('release'));
  const folder = temporaryFolder();
  const [shard, other] = [makeDocs(), makeDocs().slice(1)].map((docs) =>
    buildShard(module, folder, REPO, docs),
  );
  const searcher = new Searcher(module);
  const valid = readFileSync(shard!.symbols!.path);
  const file = path.join(folder, 'cut.tags');
  for (const size of [0, 1, 100, layout.SYMBOLS_HEADER_SIZE, valid.length - 1]) {
    writeFileSync(file, valid.subarray(0, size));
    const cut = { ...shard!, shardId: `cut ${size}`, symbols: { path: file, size } };
    assert.equal(searcher.setShards([cut]).length, 1, `${size} bytes`);
  }
  const [refusal] = searcher.setShards([{ ...other!, symbols: shard!.symbols! }]);
  assert.match(String(refusal), /symbols of other shard/);
  assert.deepEqual(searcher.setShards([other!]), []);
});

void test('invalid symbols are excluded', async () => {
  const module = await compileCore(wasmFile('debug'));
  const folder = temporaryFolder();
  const bytes = Buffer.from(`one two\nthree ${'x'.repeat(2000)}\n`);
  const shard = buildShard(module, folder, REPO, [{ path: 'a', bytes }]);
  const builder = new SymbolsFileBuilder(module, shard.path);
  const kept = builder.addBlob(0, [
    { start: -1, size: 3, kind: 0 },
    { start: 0, size: 3, kind: 0 },
    { start: 2, size: 3, kind: 0 }, // overlaps
    { start: 4, size: 0, kind: 0 },
    { start: 4, size: 3, kind: 23 }, // no kind
    { start: 4, size: 6, kind: 0 }, // two lines
    { start: 8, size: 5, kind: 1, parent: { name: 'é'.repeat(1000), kind: 0 } },
    { start: 14, size: 1025, kind: 1 },
    { start: 2014, size: 5, kind: 1 }, // beyond the end
  ]);
  assert.equal(kept, 2);
  assert.throws(
    () => builder.addBlob(0, [{ start: 0, size: 1, kind: 0 }]),
    /symbols: symbol input/,
  );
  assert.throws(() => builder.addBlob(9, []), /symbols/);
  const file = path.join(folder, 'a.tags');
  assert.equal(builder.finish(file).symbolCount, 2);
  builder.drop();
  assert.equal(verifySymbolsFile(module, shard.path, file), undefined);
});

void test('too many names: in a content, which is skipped, and in all of a shard', async () => {
  const module = await compileCore(wasmFile('release'));
  const folder = temporaryFolder();
  // A content may have 2 ** 20 names, a shard 2 ** 24.
  const counts = [2200, 1, ...Array<number>(17).fill(2100)];
  const docs = counts.map((count, i) => ({ path: `${i}`, ...headings(i, count) }));
  const shard = buildShard(
    module,
    folder,
    REPO,
    docs.map(({ path: name, bytes }) => ({ path: name, bytes })),
  );
  const builder = new SymbolsFileBuilder(module, shard.path);
  const add = (blobId: number) => builder.addBlob(blobId, docs[blobId]!.symbols);
  assert.deepEqual([add(0), add(1)], [undefined, 1]);
  const file = path.join(folder, 'names.tags');
  const { symbolCount, nameCount } = builder.finish(file);
  builder.drop();
  assert.deepEqual([symbolCount, nameCount], [1, 490]);
  assert.equal(verifySymbolsFile(module, shard.path, file), undefined);

  const large = new SymbolsFileBuilder(module, shard.path);
  const kept = docs.slice(2).map(({ symbols }, i) => large.addBlob(i + 2, symbols));
  large.drop();
  assert.deepEqual(kept, [...Array<number>(16).fill(2100), undefined]);
});

void test('a search of a shard whose symbols could not be opened says so, and does not blame the shard', async () => {
  const module = await compileCore(wasmFile('release'));
  const shard = buildShard(module, temporaryFolder(), REPO, makeDocs());
  rmSync(shard.symbols!.path);
  const searcher = new Searcher(module);
  const refused = searcher.setShards([shard]);
  assert.deepEqual(
    refused.map(({ fault }) => fault),
    ['symbols'],
  );
  searcher.beginPlan(PLANS[0]!);
  assert.throws(() => searcher.bind(shard.shardId), { fault: 'symbols', message: /ENOENT/ });
});

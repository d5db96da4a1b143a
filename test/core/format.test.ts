// core/FORMAT.md against the code: its tables against core/shared/format.ts in both directions, its worked example
// against the bytes of the writer.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as format from '../../core/shared/format.ts';
import * as layout from '../../core/shared/symbols.ts';
import { SymbolsFileBuilder } from '../../daemon/engine/shards/symbols-builder.ts';
import { verifyShardFile, verifySymbolsFile } from '../../daemon/engine/host/verify.ts';
import { SECTION_NAMES } from '../../daemon/engine/shards/tables.ts';
import { buildShard, coreModule, temporaryFolder } from '../engine/host/harness.ts';

const DOCUMENT = readFileSync('core/FORMAT.md', 'utf8');
const CONSTANTS: Readonly<Record<string, number>> = { ...format, ...layout };

interface Row {
  readonly value: number;
  readonly name: string;
  /** Of a field; undefined for other constants. */
  readonly size: number | undefined;
}

/** The tables of the document whose rows name constants, each as its rows. */
function tables(): Row[][] {
  const found: Row[][] = [];
  for (const text of DOCUMENT.split(/\n(?!\|)/)) {
    const lines = text.split('\n').filter((line) => line.startsWith('|'));
    const [head = [], , ...rows] = lines.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const name = head.indexOf('Name');
    const size = head.indexOf('Size');
    if (name < 0) continue;
    found.push(
      rows.map((row) => ({
        value: Number(row[0]),
        name: row[name]!.replaceAll('`', ''),
        size: size < 0 ? undefined : Number(row[size]),
      })),
    );
  }
  return found;
}

test('the document names exactly the shared constants, with their values', () => {
  const rows = tables()
    .flat()
    .filter(({ name }) => name !== 'zero');
  const names = rows.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, 'a constant is documented twice');
  assert.deepEqual(Object.fromEntries(rows.map(({ name, value }) => [name, value])), CONSTANTS);
});

/** Size in bytes that the fields of each record add up to, by the name of its first field. */
const RECORD_SIZES: Readonly<Record<string, number>> = {
  HEADER_MAGIC_OFFSET:
    format.HEADER_SECTIONS_OFFSET + format.SECTION_COUNT * format.SECTION_ROW_SIZE,
  SECTION_KIND_OFFSET: format.SECTION_ROW_SIZE,
  BLOB_CONTENT_OFFSET: format.BLOB_ROW_SIZE,
  BLOCK_CONTENT_OFFSET: format.BLOCK_ROW_SIZE,
  DOC_PATH_OFFSET: format.DOC_ROW_SIZE,
  REPO_ID_OFFSET: format.REPO_ROW_SIZE,
  LANGUAGE_NAME_OFFSET: format.LANGUAGE_ROW_SIZE,
  SYMBOLS_MAGIC_OFFSET: layout.SYMBOLS_HEADER_SIZE,
  SYMBOL_PARENT_NAME_OFFSET: layout.SYMBOL_PARENT_ROW_SIZE,
};

test('the fields of each record are contiguous', () => {
  const records = tables().filter(([first]) => first?.size !== undefined);
  assert.deepEqual(
    records.map(([first]) => first?.name),
    Object.keys(RECORD_SIZES),
  );
  for (const record of records) {
    let end = 0;
    for (const { name, value, size } of record) {
      assert.equal(value, end, name);
      end += size ?? 0;
    }
    assert.equal(end, RECORD_SIZES[record[0]!.name], record[0]!.name);
  }
});

test('sections are named in the order of their kinds', () => {
  const kinds = Object.entries(CONSTANTS).filter(([name, value]) => {
    const constant = `SECTION_${SECTION_NAMES[value]?.replaceAll(' ', '_').toUpperCase()}`;
    return name === constant;
  });
  assert.equal(kinds.length, format.SECTION_COUNT);
});

/** The bytes of the n-th dump: offset -> value, all others being zero. */
function dumpedBytes(index: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const dump = [...DOCUMENT.matchAll(/```hexdump\n([^]*?)```/g)][index]?.[1] ?? '';
  let end = 0;
  for (const line of dump.split('\n')) {
    const found = /^([0-9a-f]{8}) {2}((?:[0-9a-f]{2} )*[0-9a-f]{2})(?: {2}|$)/.exec(line);
    assert.ok(found !== null || line === '' || line.startsWith('# '), `not understood: ${line}`);
    if (found === null) continue;
    const offset = Number.parseInt(found[1]!, 16);
    assert.ok(offset >= end, `bytes twice: ${line}`);
    const row = Buffer.from(found[2]!.replaceAll(' ', ''), 'hex');
    bytes.set(row, offset);
    end = offset + row.length;
  }
  // A last section without bytes may begin behind the last row.
  assert.ok(end + format.TAIL_SIZE <= size && end + 2 * format.TAIL_SIZE >= size);
  return bytes;
}

function checkDump(index: number, file: string): void {
  const actual = readFileSync(file);
  const expected = dumpedBytes(index, actual.length);
  for (let offset = 0; offset < actual.length; offset++) {
    const where = `byte 0x${offset.toString(16)}`;
    assert.equal(actual[offset], expected[offset], where);
  }
}

test('the worked example equals the bytes of the writer', async () => {
  const module = await coreModule('release');
  const docs = [
    { path: 'a.txt', bytes: Buffer.from('abab\n'), language: 'Text' },
    { path: 'b.md', bytes: Buffer.from('\u212a'), language: 'Markdown' },
    { path: 'c.txt', bytes: Buffer.from('ABC'), language: 'Text' },
  ];
  const repo = { repoId: 1, name: 'demo' };
  const { path: file } = buildShard(module, temporaryFolder(), repo, docs);
  assert.equal(verifyShardFile(module, file), undefined);
  checkDump(0, file);
  const symbolsFile = path.join(path.dirname(file), 'example.tags');
  const builder = new SymbolsFileBuilder(module, file);
  const parent = { name: 'ab', kind: layout.SYMBOL_CLASS };
  builder.addBlob(0, [
    { start: 0, size: 2, kind: layout.SYMBOL_CLASS },
    { start: 2, size: 2, kind: layout.SYMBOL_METHOD, parent },
  ]);
  builder.addBlob(2, [{ start: 0, size: 2, kind: layout.SYMBOL_MACRO }]);
  builder.finish(symbolsFile);
  builder.drop();
  checkDump(1, symbolsFile);
  assert.equal(verifySymbolsFile(module, file, symbolsFile), undefined);
});

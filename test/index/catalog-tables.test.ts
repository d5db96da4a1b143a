// The catalog in `index.db` against a map in memory: what was committed is read again, also beside the writer; damage
// is refused or contained.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { z } from 'zod';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { messageOf } from '../../daemon/base/caught.ts';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import { FORM } from '../../daemon/index/catalog/catalog-rows.ts';
import { repoSchema } from '../../daemon/index/catalog/catalog-schemas.ts';
import type { CatalogRepo } from '../../daemon/index/catalog/catalog-records.ts';
import { IndexWriter, readIndex } from '../../daemon/store/index-tables.ts';
import { StoreError } from '../../daemon/store/error.ts';
import { seededRandom } from '../../bench/samples.ts';
import { repoRecord } from '../repos/record.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

function repoOf(repoId: number, note: number): CatalogRepo {
  return {
    record: repoRecord(repoId, `host/repo-${repoId}`),
    fingerprint: `print ${note}`,
    shards: [],
    skipped: { binary: note },
  };
}

void test('the form of rows is that of their schema: another one has them validated', () => {
  const schema = JSON.stringify(z.toJSONSchema(repoSchema));
  assert.equal(FORM, hash('sha256', schema, 'hex').slice(0, 16));
});

async function read(dataDir: string): Promise<{ repos: readonly CatalogRepo[]; damaged: unknown }> {
  const catalog = new Catalog(dataDir);
  await catalog.load();
  return { repos: catalog.repos, damaged: catalog.damaged };
}

void test('random changes are read again in order, beside the writer and after it', async () => {
  const dataDir = temporaryFolder();
  const catalog = new Catalog(dataDir);
  await catalog.load(true);
  const below = seededRandom(7);
  const random = (bound: number): number => Math.floor(below() * bound);
  const repos = new Map<number, CatalogRepo>();
  const states = [[...repos.values()]];
  let nextId = 1;
  let last = 0;
  for (let i = 0; i < 60; i++) {
    const count = Math.max(1, nextId - 1);
    const put = Array.from({ length: random(3) }, () =>
      repoOf(random(3) === 0 ? nextId++ : 1 + random(count), i),
    );
    const distinct = [...new Map(put.map((repo) => [repo.record.repoId, repo])).values()];
    const change = { put: distinct, removed: random(8) === 0 ? [1 + random(count)] : [] };
    for (const repoId of change.removed) repos.delete(repoId);
    for (const repo of change.put) repos.set(repo.record.repoId, repo);
    states.push([...repos.values()]);
    const writing = catalog.commit(() => change);
    const found = JSON.stringify((await read(dataDir)).repos);
    const index = states.findLastIndex((state) => JSON.stringify(state) === found);
    assert.ok(index >= last, 'a state that never was, or one before');
    await writing;
    last = states.length - 1;
    assert.deepEqual(catalog.repos, states[last]);
  }
  await catalog.close();
  assert.deepEqual(await read(dataDir), { repos: states[last], damaged: [] });
});

void test('any flipped bit of the file: refused, or the damaged entries are named', async () => {
  const dataDir = temporaryFolder();
  const written = new Catalog(dataDir);
  await written.load(true);
  await written.commit(() => ({ put: Array.from({ length: 8 }, (_, i) => repoOf(i + 1, 0)) }));
  await written.close();
  const whole = readFileSync(path.join(dataDir, 'index.db'));
  const expected = written.repos.map((repo) => JSON.stringify(repo));
  const file = path.join(temporaryFolder(), 'index.db');
  const found = { refused: 0, dropped: 0 };
  for (let at = 0; at < whole.length; at += 67) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1 << (at & 7);
    // A new file: a connection that was closed may still have the old one.
    rmSync(file, { force: true });
    writeFileSync(file, damaged);
    const catalog = new Catalog(path.dirname(file));
    const error = await catalog.load().catch((thrown: unknown) => thrown);
    if (error !== undefined) {
      assert.ok(error instanceof StoreError, `${at}: ${messageOf(error)}`);
      found.refused++;
      continue;
    }
    const repos = catalog.repos.map((repo) => JSON.stringify(repo));
    assert.ok(
      repos.every((repo) => expected.includes(repo)),
      `${at}`,
    );
    assert.equal(repos.length + catalog.damaged.length, expected.length, `${at}`);
    if (catalog.damaged.length > 0) found.dropped++;
  }
  assert.ok(found.refused > 2 && found.dropped > 5, JSON.stringify(found));
});

void test('a read-only catalog cannot be changed, and creates no file', async () => {
  const dataDir = temporaryFolder();
  const catalog = new Catalog(dataDir);
  await catalog.load();
  await catalog.putQuarantine('{}');
  await assert.rejects(
    catalog.commit(() => ({ put: [repoOf(1, 1)] })),
    /for reading only/,
  );
  assert.deepEqual(readdirSync(dataDir), []);
});

void test('a file of a later version is refused, and so is an entry with unknown members', async () => {
  const dataDir = temporaryFolder();
  readIndex(dataDir, true);
  const file = path.join(dataDir, 'index.db');
  const text = (repo: CatalogRepo): string =>
    JSON.stringify({ form: 'another', formatVersion: FORMAT_VERSION, repo });
  const existing = repoOf(1, 1);
  const unknown = { ...repoOf(2, 2), enforcemeut: 1 };
  const writer = new IndexWriter(dataDir);
  await writer.change(
    [
      ['1', text(existing)],
      ['2', text(unknown)],
    ],
    [],
  );
  writer.close();
  assert.deepEqual(await read(dataDir), { repos: [existing], damaged: [2] });
  const later = readFileSync(file);
  // Source: "user version" in SQLite's file format.
  later.writeUInt32BE(2, 60);
  rmSync(file);
  writeFileSync(file, later);
  await assert.rejects(
    read(dataDir),
    /index\.db is damaged: it has version 2, and this program reads version 1/,
  );
});

// A damaged, lost or replaced catalog: repos keep their ids, and nobody sees more.
// tier: ci (long)

import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openIndex } from '../../daemon/app/open-index.ts';
import { probeSource } from '../../daemon/sources/git/probe.ts';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import { openCatalog } from '../../daemon/index/register/open-catalog.ts';
import { createLog } from '../../daemon/base/log.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

const lines: string[] = [];
const log = createLog({ level: 'warn', format: 'text', write: (line) => lines.push(line) });

const OPEN = makeRepo({ 'a.txt': 'plum\n' });
const HIDDEN = makeRepo({ 'b.txt': 'secret plum\n' });

/** A data directory with an open repo and a hidden one, indexed in name. */
async function makeDataDir(): Promise<string> {
  const dataDir = temporaryFolder();
  const index = await openIndex(dataDir, undefined, log);
  const { registry, catalog } = index;
  await registry.admit([await probeSource(OPEN)], {});
  await registry.admit([await probeSource(HIDDEN)], {
    visibility: 'private',
    enforcement: 'restricted',
  });
  assert.deepEqual(catalog.repos, []);
  await index.close();
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  return dataDir;
}

function lose(dataDir: string): void {
  for (const ending of ['', '-wal', '-shm'])
    rmSync(path.join(dataDir, `index.db${ending}`), { force: true });
}

/** What the daemon would show now: `id name enforcement` of each repo, by id. */
async function displayed(dataDir: string): Promise<string[]> {
  const { catalog, registry, close } = await openIndex(dataDir, undefined, log);
  try {
    return catalog.repos
      .map(({ record }) => registry.ruled(record))
      .map(({ repoId, source, enforcement = 'none' }) => {
        const what = source.path === HIDDEN ? 'hidden' : 'open';
        return `${repoId} ${what} ${enforcement}`;
      })
      .sort();
  } finally {
    await close();
  }
}

const AS_BEFORE = ['1 open none', '2 hidden restricted'];

void test('a lost catalog is recreated from the store', async () => {
  const dataDir = await makeDataDir();
  lose(dataDir);
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
});

void test('a lost store: hidden repos stay hidden, with a message', async () => {
  const dataDir = await makeDataDir();
  for (const ending of ['', '-wal', '-shm'])
    rmSync(path.join(dataDir, `store.db${ending}`), { force: true });
  lines.length = 0;
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  assert.equal(lines.filter((line) => line.includes('the store is new')).length, 1);
  lines.length = 0;
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  assert.deepEqual(lines, []);
});

void test('any flipped bit: the same ids and rules', async () => {
  const dataDir = await makeDataDir();
  const whole = readFileSync(path.join(dataDir, 'index.db'));
  const { registry, close } = await openIndex(dataDir, undefined, log);
  const folder = temporaryFolder();
  for (let at = 0; at < whole.length; at += 97) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1 << (at & 7);
    lose(folder);
    writeFileSync(path.join(folder, 'index.db'), damaged);
    const catalog = new Catalog(folder);
    await openCatalog(catalog, registry, true, log);
    const rules = catalog.repos
      .map(({ record }) => registry.ruled(record))
      .sort((a, b) => a.repoId - b.repoId)
      .map(({ repoId, source, enforcement }) => [repoId, source.path, enforcement]);
    await catalog.close();
    assert.deepEqual(
      rules,
      [
        [1, OPEN, undefined],
        [2, HIDDEN, 'restricted'],
      ],
      `byte ${at}`,
    );
  }
  await close();
});

void test('a damaged entry is rebuilt, a damaged file is set aside, and both are logged', async () => {
  const dataDir = await makeDataDir();
  const file = path.join(dataDir, 'index.db');
  const whole = readFileSync(file).toString('latin1');
  writeFileSync(file, whole.replace('"restricted"', '"restricteD"'), 'latin1');
  lines.length = 0;
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  assert.match(lines.join(''), /entries of index\.db are damaged.*entries=1/);
  lines.length = 0;
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  assert.deepEqual(lines, []);

  lose(dataDir);
  writeFileSync(file, 'x'.repeat(5000));
  assert.deepEqual(await displayed(dataDir), AS_BEFORE);
  assert.match(lines.join(''), /built again.*index\.db is damaged: it is not a database/);
  assert.equal(readFileSync(`${file}.damaged`, 'latin1'), 'x'.repeat(5000));
});

void test('a catalog of another instance: hidden, under new ids', async () => {
  const [dataDir, other] = [await makeDataDir(), temporaryFolder()];
  const index = await openIndex(other, undefined, log);
  const [third, fourth] = [makeRepo({ 'c.txt': 'x' }), makeRepo({ 'd.txt': 'x' })];
  await index.registry.admit([await probeSource(third)], {});
  // What is public elsewhere is not so here.
  const isPublic = { visibility: 'public', enforcement: 'restricted' } as const;
  await index.registry.admit([await probeSource(fourth)], isPublic);
  await index.close();
  await displayed(other);
  lose(dataDir);
  cpSync(path.join(other, 'index.db'), path.join(dataDir, 'index.db'));
  assert.deepEqual(await displayed(dataDir), ['3 open restricted', '4 open restricted']);
  const { registry, close } = await openIndex(dataDir, undefined, log);
  const adopted = registry.all.filter(({ repoId }) => repoId > 2);
  assert.deepEqual(
    adopted.map(({ visibility }) => visibility),
    ['unknown', 'unknown'],
  );
  await close();
});

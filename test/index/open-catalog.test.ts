// The catalog damaged, lost, exchanged or from an earlier version: repos keep their ids, and nobody sees more.
// tier: ci (long)

import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { openIndex } from '../../daemon/app/open-index.ts';
import { probeSource } from '../../daemon/sources/git/probe.ts';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import {
  CatalogError,
  CatalogFiles,
  encodeCatalog,
} from '../../daemon/index/catalog/catalog-files.ts';
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
  const { registry, catalog, store } = index;
  await registry.admit([await probeSource(OPEN)], {});
  await registry.admit([await probeSource(HIDDEN)], {
    visibility: 'private',
    enforcement: 'restricted',
  });
  await store.close();
  rmSync(path.join(dataDir, 'catalog.json'), { force: true });
  const again = await openIndex(dataDir, undefined, log);
  await again.catalog.commit(() => ({ put: again.catalog.repos }));
  await again.store.close();
  assert.equal(catalog.isMissing, true);
  return dataDir;
}

/** What the daemon would show now: `id name enforcement` of each repo, by id. */
async function shown(dataDir: string): Promise<string[]> {
  const { catalog, registry, store } = await openIndex(dataDir, undefined, log);
  try {
    return catalog.repos
      .map(({ record }) => registry.ruled(record))
      .map(({ repoId, source, enforcement = 'none' }) => {
        const what = source.path === HIDDEN ? 'hidden' : 'open';
        return `${repoId} ${what} ${enforcement}`;
      })
      .sort();
  } finally {
    await store.close();
  }
}

const AS_BEFORE = ['1 open none', '2 hidden restricted'];

void test('lost with its copy: made again of the store', async () => {
  const dataDir = await makeDataDir();
  for (const name of ['catalog.json', 'catalog.last.json'])
    rmSync(path.join(dataDir, name), { force: true });
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
});

void test('a store that is gone: what was hidden stays hidden, and it is said', async () => {
  const dataDir = await makeDataDir();
  for (const ending of ['', '-wal', '-shm'])
    rmSync(path.join(dataDir, `store.db${ending}`), { force: true });
  lines.length = 0;
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.equal(lines.filter((line) => line.includes('the store is new')).length, 1);
  lines.length = 0;
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.deepEqual(lines, []);
});

void test('whatever bit is turned over: the same ids and rules', async () => {
  const dataDir = await makeDataDir();
  const file = path.join(dataDir, 'catalog.json');
  const whole = readFileSync(file);
  const { registry, store } = await openIndex(dataDir, undefined, log);
  const place = temporaryFolder();
  for (let bit = 0; bit < whole.length * 8; bit += 13) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    for (const name of ['catalog.json', 'catalog.last.json'])
      writeFileSync(path.join(place, name), damaged);
    const catalog = new Catalog(place);
    await openCatalog(catalog, registry, true, log);
    const rules = catalog.repos.map(({ record }) => registry.ruled(record));
    assert.deepEqual(
      rules.map(({ repoId, source, enforcement }) => [repoId, source.path, enforcement]),
      [
        [1, OPEN, undefined],
        [2, HIDDEN, 'restricted'],
      ],
      `bit ${bit}`,
    );
  }
  await store.close();
});

void test('damaged: the one before is used; damaged too: built again, and said why', async () => {
  const dataDir = await makeDataDir();
  const file = path.join(dataDir, 'catalog.json');
  const { catalog, store } = await openIndex(dataDir, undefined, log);
  await catalog.commit(() => ({ put: catalog.repos }));
  await store.close();
  writeFileSync(file, readFileSync(file, 'utf8').replace('"restricted"', '"restricteD"'));
  lines.length = 0;
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.match(lines.join(''), /catalog\.json is damaged: state\.repos\.1\.record\.enforcement/);
  lines.length = 0;
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.deepEqual(lines, []);

  writeFileSync(file, '{');
  writeFileSync(path.join(dataDir, 'catalog.last.json'), '');
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.match(lines.join(''), /built again.*catalog\.json is damaged: it is not JSON/);
  assert.equal(readFileSync(path.join(dataDir, 'catalog.damaged.json'), 'utf8'), '{');
});

void test('a member that nobody knows is refused', async () => {
  const dataDir = await makeDataDir();
  const catalog = new Catalog(dataDir);
  await catalog.load();
  const file = path.join(dataDir, 'catalog.json');
  const repos = catalog.repos.map((repo) => ({
    ...repo,
    record: { ...repo.record, enforcemeut: 1 },
  }));
  writeFileSync(file, ofAnotherForm(encodeCatalog(repos)));
  rmSync(path.join(dataDir, 'catalog.last.json'), { force: true });
  await assert.rejects(new Catalog(dataDir).load(), /damaged: .*enforcemeut/);
});

/** As a version writes it whose catalogs may hold something else. */
function ofAnotherForm(text: string): string {
  const changed = text.replace(/"form": "[0-9a-f]{64}"/, '"form": "another"');
  assert.notEqual(changed, text);
  return changed;
}

void test('a catalog of another form that holds nothing unknown is used, and written anew', async () => {
  const dataDir = await makeDataDir();
  const file = path.join(dataDir, 'catalog.json');
  const text = readFileSync(file, 'utf8');
  assert.equal((await new CatalogFiles(dataDir).load()).isOutdated, false);
  writeFileSync(file, ofAnotherForm(text));
  const { isOutdated, state } = await new CatalogFiles(dataDir).load();
  assert.equal(isOutdated, true);
  assert.deepEqual(state, JSON.parse(text).state);
  assert.deepEqual(await shown(dataDir), AS_BEFORE);
  assert.match(readFileSync(file, 'utf8'), /"form": "[0-9a-f]{64}"/);
});

void test('exchanged for that of another instance: hidden, under new ids', async () => {
  const [dataDir, other] = [await makeDataDir(), temporaryFolder()];
  const index = await openIndex(other, undefined, log);
  const [third, fourth] = [makeRepo({ 'c.txt': 'x' }), makeRepo({ 'd.txt': 'x' })];
  await index.registry.admit([await probeSource(third)], {});
  // What is public elsewhere is not so here.
  const isPublic = { visibility: 'public', enforcement: 'restricted' } as const;
  await index.registry.admit([await probeSource(fourth)], isPublic);
  await index.store.close();
  rmSync(path.join(other, 'catalog.json'), { force: true });
  await shown(other);
  cpSync(path.join(other, 'catalog.json'), path.join(dataDir, 'catalog.json'));
  assert.deepEqual(await shown(dataDir), ['3 open restricted', '4 open restricted']);
  const { registry, store } = await openIndex(dataDir, undefined, log);
  const adopted = registry.all.filter(({ repoId }) => repoId > 2);
  assert.deepEqual(
    adopted.map(({ visibility }) => visibility),
    ['unknown', 'unknown'],
  );
  await store.close();
});

const RECORD = {
  codeHostType: 'genericGitHost',
  isFork: false,
  isArchived: false,
  defaultRevision: 'refs/heads/main',
} as const;

/** A catalog as earlier versions wrote it, which alone knew ids and rules. */
function oldCatalog(): string {
  const repos = [
    { name: 'local/open', visibility: 'unknown', repoId: 3, place: OPEN },
    { name: 'local/b', visibility: 'private', repoId: 7, place: HIDDEN, enforcement: 'restricted' },
  ].map(({ place, ...record }) => ({
    record: { ...record, ...RECORD, source: { kind: 'commits', path: place } },
    shards: [],
    skipped: {},
  }));
  return `${JSON.stringify({ formatVersion: FORMAT_VERSION, nextRepoId: 12, repos }, null, 1)}\n`;
}

void test('of an earlier version: ids and rules are taken over, once', async () => {
  const dataDir = temporaryFolder();
  const file = path.join(dataDir, 'catalog.json');
  writeFileSync(file, oldCatalog());
  const expected = ['3 open none', '7 hidden restricted'];
  assert.deepEqual(await shown(dataDir), expected);
  assert.match(readFileSync(file, 'utf8'), /^\{\n "checksum"/);
  // From now on the store says it, whatever an old catalog says.
  writeFileSync(file, oldCatalog().replace('"enforcement": "restricted",', ''));
  assert.deepEqual(await shown(dataDir), expected);
});

void test('of an earlier version and damaged: nothing is started, and nothing thrown away', async () => {
  const dataDir = temporaryFolder();
  const file = path.join(dataDir, 'catalog.json');
  const damaged = oldCatalog().replace('"enforcement"', '"enforcemeut"');
  writeFileSync(file, damaged);
  await assert.rejects(openIndex(dataDir, undefined, log), (error) => {
    assert.ok(error instanceof CatalogError);
    assert.match(error.message, /catalog\.json is damaged: repos\.1\.record: .*enforcemeut/);
    assert.match(error.message, /trawl restore.*trawl index PATH.*--enforce-permissions/);
    assert.doesNotMatch(error.message, /\n|\[\{/);
    return true;
  });
  assert.equal(readFileSync(file, 'utf8'), damaged);
  assert.equal(existsSync(path.join(dataDir, 'catalog.damaged.json')), false);
});

// A process that brings an index of an earlier version up to date is killed at random moments: whoever opens it next finds the
// repositories under their ids and rules, the accounts, and files that are sound, and shows what it did before.
// TRAWL_KILLS: how many; TRAWL_TEST_SEED.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import Libsql from 'libsql';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import type { CatalogState } from '../../daemon/sync/catalog/catalog-records.ts';
import { SECOND_FORM } from '../accounts/store/former-form.ts';
import { newUser } from '../accounts/store/harness.ts';
import { temporaryFolder } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';
import { everythingOf, History, randomOf } from './history.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { NEVER } from './merge-limits.ts';
import { checkFiles } from './sound-files.ts';

const KILLS = Number(process.env['TRAWL_KILLS'] ?? 6);

const histories = [1, 2, 3].map((i) => new History(SEED + i));
const REPOS = histories.map(({ repo }) => repo);

const KINDS = ['no store', 'store of the second form', 'shards of another format'] as const;

/** Who may see what, and whether the account is there. */
async function rulesOf({ instance }: IndexOf): Promise<unknown> {
  const { store, register } = instance.index!;
  const rules = register.all.map(({ repoId, name, visibility, enforcement }) => {
    return { repoId, name, visibility, enforcement };
  });
  return { rules, userCount: await store.users.count() };
}

/** An index of this version: one repository is open, two are not, one account. */
async function makeIndex(dataDir: string): Promise<{ rules: unknown; shown: unknown }> {
  const index = await openIndexOf(dataDir, { mergeLimits: NEVER });
  const closed = { visibility: 'private', enforcement: 'restricted' } as const;
  await index.index(REPOS.slice(1), closed, 'commits');
  await index.index(REPOS, undefined, 'commits');
  await newUser(index.instance.index!.store);
  await index.instance.symbols?.run();
  const state = { rules: await rulesOf(index), shown: await everythingOf(index) };
  await index.close();
  return state;
}

/** Turns the files into those of an earlier version. */
function makeFormer(dataDir: string, kind: (typeof KINDS)[number]): void {
  const file = path.join(dataDir, 'catalog.json');
  const catalog: unknown = JSON.parse(readFileSync(file, 'utf8'));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this version
  const { repos } = (catalog as { state: CatalogState }).state;
  const formatVersion = FORMAT_VERSION - (kind === 'shards of another format' ? 1 : 0);
  // Without a checksum, and all in one file.
  writeFileSync(file, `${JSON.stringify({ formatVersion, nextRepoId: 12, repos }, null, 1)}\n`);
  for (const name of ['catalog.last.json', 'catalog.changes', 'catalog.last.changes'])
    rmSync(path.join(dataDir, name), { force: true });
  if (kind === 'no store')
    for (const end of ['', '-wal', '-shm'])
      rmSync(path.join(dataDir, `store.db${end}`), { force: true });
  if (kind !== 'store of the second form') return;
  const store = new Libsql(path.join(dataDir, 'store.db'));
  for (const text of SECOND_FORM) store.exec(text);
  store.close();
}

/** Milliseconds that a process works on the index; it is killed after so many at most. */
async function work(dataDir: string, killMs: number): Promise<number> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const program = fileURLToPath(new URL(`./killed-migration-child.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [program, dataDir, ...REPOS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const startMs = performance.now();
  const end = new AbortController();
  const killing = sleep(killMs, undefined, { signal: end.signal }).then(
    () => child.kill('SIGKILL'),
    () => false,
  );
  const done = once(child.stdout, 'data', { signal: end.signal }).catch(() => {});
  await Promise.race([exit, done]);
  const tookMs = performance.now() - startMs;
  await exit;
  end.abort();
  await killing;
  return tookMs;
}

void test(`killed while it brings an index up, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const random = randomOf(SEED);
  for (const kind of KINDS) {
    const former = temporaryFolder();
    const { rules, shown } = await makeIndex(former);
    makeFormer(former, kind);
    const place = path.join(temporaryFolder(), 'index');
    const anew = (): void => {
      rmSync(place, { recursive: true, force: true });
      cpSync(former, place, { recursive: true });
    };
    anew();
    const wholeMs = await work(place, 60_000);
    for (let kill = 0; kill < KILLS / KINDS.length; kill++) {
      const message = `seed ${SEED}, ${kind}, kill ${kill}`;
      anew();
      await work(place, wholeMs * random());
      const index = await openIndexOf(place, { mergeLimits: NEVER });
      const before = kind === 'no store' ? Object.assign({}, rules, { userCount: 0 }) : rules;
      assert.deepEqual(await rulesOf(index), before, message);
      await checkFiles(index, message);
      await index.index(REPOS, undefined, 'commits');
      await index.instance.symbols?.run();
      assert.deepEqual(await rulesOf(index), before, message);
      assert.deepEqual(await everythingOf(index), shown, message);
      await checkFiles(index, message);
      await index.close();
    }
  }
});

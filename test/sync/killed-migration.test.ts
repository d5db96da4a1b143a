// A process that upgrades an index of an earlier version is killed: at random moments, and between its writes. The
// next one finds the repositories with their ids and rules, the accounts, and valid files, and returns what the index
// did before. TRAWL_KILLS: how many of each; TRAWL_TEST_SEED.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import Libsql from 'libsql';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { readCatalog } from '../../daemon/app/open-index.ts';
import { SECOND_FORM } from '../store/former-form.ts';
import { newUser } from '../store/harness.ts';
import { trawl } from '../e2e/daemon.ts';
import { temporaryFolder } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';
import { everythingOf, History, randomOf } from './history.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { NEVER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';

const KILLS = Number(process.env['TRAWL_KILLS'] ?? 3);

const histories = [1, 2, 3].map((i) => new History(SEED + i));
const REPOS = histories.map(({ repo }) => repo);

const KINDS = ['no store', 'store of the second form', 'shards of another format'] as const;

/** Who may see what, and whether the account is there. */
async function rulesOf({ instance }: IndexOf): Promise<unknown> {
  const { store, registry } = instance.index!;
  const rules = registry.all.map(({ repoId, name, visibility, enforcement }) => {
    return { repoId, name, visibility, enforcement };
  });
  return { rules, userCount: await store.users.count() };
}

/** An index of this version: one repository is open, two are not, one account. */
async function makeIndex(dataDir: string): Promise<{ rules: unknown; displayed: unknown }> {
  await using index = await openIndexOf(dataDir, { mergeLimits: NEVER });
  const closed = { visibility: 'private', enforcement: 'restricted' } as const;
  await index.index(REPOS.slice(1), closed, 'commits');
  await index.index(REPOS, undefined, 'commits');
  await newUser(index.instance.index!.store);
  await index.instance.symbols?.run();
  const state = { rules: await rulesOf(index), displayed: await everythingOf(index) };
  await index.close();
  return state;
}

/** Turns the files into those of an earlier version. */
async function makeFormer(dataDir: string, kind: (typeof KINDS)[number]): Promise<void> {
  const { repos } = await readCatalog(dataDir);
  const formatVersion = FORMAT_VERSION - (kind === 'shards of another format' ? 1 : 0);
  // Without a checksum, and all in one file.
  const text = JSON.stringify({ formatVersion, nextRepoId: 12, repos }, null, 1);
  writeFileSync(path.join(dataDir, 'catalog.json'), `${text}\n`);
  for (const end of ['', '-wal', '-shm'])
    rmSync(path.join(dataDir, `index.db${end}`), { force: true });
  if (kind === 'no store')
    for (const end of ['', '-wal', '-shm'])
      rmSync(path.join(dataDir, `store.db${end}`), { force: true });
  if (kind !== 'store of the second form') return;
  const store = new Libsql(path.join(dataDir, 'store.db'));
  for (const text of SECOND_FORM) store.exec(text);
  store.close();
}

interface Work {
  readonly tookMs: number;
  /** Changes of files and of the store that it made in all; undefined: it was killed before its end. */
  readonly changeCount: number | undefined;
}

/** A process works on the index; it is killed after so many milliseconds, or at its change of this number. */
async function work(dataDir: string, killMs: number, killAt = 0): Promise<Work> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const program = fileURLToPath(new URL(`./killed-migration-child.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [program, dataDir, `${killAt}`, ...REPOS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
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
  const [, count] = /^done (\d+)$/m.exec(said) ?? [];
  return { tookMs, changeCount: count === undefined ? undefined : Number(count) };
}

/** What the index is to show: after the kill, and once all is indexed. */
interface Expected {
  readonly rules: unknown;
  readonly displayed: unknown;
}

/** Opens what was left, which is to have lost nothing; and again with all indexed, without a file too many. */
async function checkNext(dataDir: string, expected: Expected, message: string): Promise<void> {
  const { rules, displayed } = expected;
  await using index = await openIndexOf(dataDir, { mergeLimits: NEVER });
  assert.deepEqual(await rulesOf(index), rules, message);
  await checkFiles(index, message);
  await index.index(REPOS, undefined, 'commits');
  await index.instance.symbols?.run();
  assert.deepEqual(await rulesOf(index), rules, message);
  assert.deepEqual(await everythingOf(index), displayed, message);
  await checkFiles(index, message);
  await index.close();
  const halfWritten = readdirSync(dataDir).filter((name) => /\.(?:next|new|tmp)$/.test(name));
  assert.deepEqual(halfWritten, [], message);
  const { code, stdout, stderr } = await trawl(['verify', '--data-dir', dataDir]);
  assert.equal(code, 0, `${message}\n${stdout}${stderr}`);
}

void test(`killed during an index migration, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const random = randomOf(SEED);
  for (const kind of KINDS) {
    const former = temporaryFolder();
    const made = await makeIndex(former);
    const rules =
      kind === 'no store' ? Object.assign({}, made.rules, { userCount: 0 }) : made.rules;
    const expected = { rules, displayed: made.displayed };
    await makeFormer(former, kind);
    const dataDir = path.join(temporaryFolder(), 'index');
    const anew = (): void => {
      rmSync(dataDir, { recursive: true, force: true });
      cpSync(former, dataDir, { recursive: true });
    };
    anew();
    const whole = await work(dataDir, 60_000);
    assert.ok(whole.changeCount !== undefined && whole.changeCount > KILLS);
    const killCount = Math.ceil(KILLS / KINDS.length);
    for (let kill = 0; kill < killCount; kill++) {
      anew();
      await work(dataDir, whole.tookMs * random());
      await checkNext(dataDir, expected, `seed ${SEED}, ${kind}, kill ${kill}`);
      // Between all of its changes, evenly.
      const killAt = 1 + Math.floor((whole.changeCount * (kill + random())) / killCount);
      anew();
      await work(dataDir, 60_000, killAt);
      await checkNext(dataDir, expected, `seed ${SEED}, ${kind}, killed at change ${killAt}`);
    }
  }
});

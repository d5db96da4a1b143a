// The pool of long-lived git processes: lending, sharing, limits, replacement, closing.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GitError } from '../../../daemon/sources/git/git.ts';
import { ObjectPool, type PoolOptions } from '../../../daemon/sources/git/object-pool.ts';
import { ObjectProcess } from '../../../daemon/sources/git/object-process.ts';
import { git, makeRepo } from './fixture.ts';

const { signal } = new AbortController();
const BIG_SIZE = 24 << 20;
const repo = makeRepo({ 'a.txt': 'plum\n', empty: '', big: randomBytes(BIG_SIZE) });
const other = makeRepo({ 'b.txt': 'pear\n' });
const idOf = (name: string): string => git(repo, 'rev-parse', name);

const pools: ObjectPool[] = [];
after(async () => {
  for (const pool of pools) await pool.close();
});

function openPool(options?: PoolOptions): ObjectPool {
  const pool = new ObjectPool(options);
  pools.push(pool);
  return pool;
}

for (const knowsCommands of [true, false]) {
  test(`requests and answers, ${knowsCommands ? 'one process' : 'a process for each kind'}`, async () => {
    const process = await ObjectProcess.start(repo, knowsCommands);
    const requested = [
      process.info('HEAD^{commit}'),
      process.contents(idOf('HEAD:a.txt')),
      process.info('nosuch name blob 3'),
      process.contents(idOf('HEAD:empty')),
      process.contents('0'.repeat(40)),
      process.info(`${'0'.repeat(40)} blob 5`),
      process.contents(idOf('HEAD:big')),
      process.info('HEAD:a.txt'),
    ] as const;
    const [commit, text, ...more] = await Promise.all(requested);
    const size = Number(git(repo, 'cat-file', '-s', 'HEAD'));
    assert.deepEqual(commit, { oid: idOf('HEAD'), type: 'commit', size });
    assert.equal(text?.toString(), 'plum\n');
    assert.equal(more[0], undefined);
    assert.equal(more[1]?.length, 0);
    assert.deepEqual([more[2], more[3]], [undefined, undefined]);
    assert.equal(more[4]?.length, BIG_SIZE);
    assert.deepEqual(more[5], { oid: idOf('HEAD:a.txt'), type: 'blob', size: 5 });
    assert.equal(process.isReady, true);
    await process.close();
    assert.equal(process.isReady, false);
    await assert.rejects(process.info('HEAD'));
  });
}

test('a request with two lines, or without id, is refused', async () => {
  const process = await ObjectProcess.start(repo);
  assert.throws(() => process.info('HEAD\ncontents HEAD'), TypeError);
  assert.throws(() => process.contents('HEAD'), TypeError);
  await process.close();
});

test('a process is reused; idle ones end', async () => {
  const pool = openPool({ idleMs: 50 });
  const used = new Set<ObjectProcess>();
  for (let i = 0; i < 5; i++) {
    await pool.use(repo, signal, async (process) => {
      used.add(process);
      await process.info('HEAD');
    });
  }
  assert.equal(used.size, 1);
  assert.deepEqual(pool.counts, { processes: 1, idle: 1, waiting: 0 });
  while (pool.counts.processes > 0) await delay(10);
  const [process] = used;
  assert.equal(process?.isReady, false);
});

test('old processes are not reused', async () => {
  const pool = openPool({ lifeMs: 0 });
  const used = new Set<ObjectProcess>();
  for (let i = 0; i < 2; i++) await pool.use(repo, signal, async (process) => used.add(process));
  assert.equal(used.size, 2);
  assert.equal(pool.counts.processes, 0);
});

test('an idle process is ended for another repository', async () => {
  const pool = openPool({ perRepoMax: 2, processMax: 1 });
  const gone: ObjectProcess[] = [];
  await pool.use(repo, signal, async (process) => void gone.push(process));
  await pool.use(other, signal, async (process) => {
    assert.equal((await process.info('HEAD:b.txt'))?.size, 5);
  });
  assert.equal(pool.counts.processes, 1);
  assert.equal(gone[0]?.isReady, false);
});

test('a client that leaves during an answer ends the process', async () => {
  const pool = openPool({ perRepoMax: 1 });
  const abort = new AbortController();
  const big = idOf('HEAD:big');
  const reading = pool.use(repo, abort.signal, (process) => process.contents(big));
  setTimeout(() => abort.abort(new Error('left')), 1);
  const waiting = pool.use(repo, abort.signal, async () => assert.fail('not its turn'));
  await assert.rejects(waiting, /left/);
  await assert.rejects(reading, /left/);
  assert.deepEqual(pool.counts, { processes: 0, idle: 0, waiting: 0 });
  await assert.rejects(
    pool.use(repo, abort.signal, async () => 1),
    /left/,
  );
  const size = await pool.use(repo, signal, async (process) => (await process.info(big))?.size);
  assert.equal(size, BIG_SIZE);
});

test('a dying process fails its pending requests and is replaced', async () => {
  const pool = openPool({ perRepoMax: 1 });
  const dying = pool.use(repo, signal, async (process) => {
    const answer = process.contents(idOf('HEAD:big'));
    process.kill('exit');
    await answer;
  });
  await assert.rejects(dying, GitError);
  assert.equal(pool.counts.processes, 0);
  assert.equal(await pool.use(repo, signal, async (process) => process.isReady), true);
});

test('a failing request returns the process', async () => {
  const pool = openPool({ perRepoMax: 1 });
  const failing = pool.use(repo, signal, () => Promise.reject(new Error('broken')));
  await assert.rejects(failing, /broken/);
  assert.deepEqual(pool.counts, { processes: 1, idle: 1, waiting: 0 });
  await pool.close();
  assert.deepEqual(pool.counts, { processes: 0, idle: 0, waiting: 0 });
});

test('a missing repository', async () => {
  const pool = openPool();
  const pending = pool.use(`${repo}/nosuch`, signal, (process) => process.info('HEAD'));
  await assert.rejects(pending, GitError);
  assert.equal(pool.counts.processes, 0);
});

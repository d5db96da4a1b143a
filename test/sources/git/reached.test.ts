// Only what the refs of a repository reach is served, whatever else it contains; moved and removed refs are noticed.
// tier: ci (long)

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, test } from 'node:test';
import { readSource } from '../../../daemon/sources/reading/source-reader.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import { isReached, noteReached } from '../../../daemon/sources/git/reached.ts';
import { RefError } from '../../../daemon/sources/git/names.ts';
import { resolveRef } from '../../../daemon/sources/git/resolve.ts';
import { makeHistory as historyOf } from '../history/repos.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());

const idOf = (repo: string, name: string): string => git(repo, 'rev-parse', name);

function recordOf(repo: string, kind: 'commits' | 'worktree' = 'commits') {
  return { name: 'r', source: { kind, path: repo }, defaultRevision: 'HEAD' } as const;
}

/** A history of ten commits, and one that was pushed over: `lost`. */
function makeHistory(): { repo: string; lost: string } {
  const repo = makeRepo({ 'a.txt': '0' });
  git(repo, 'checkout', '-q', '--detach');
  writeFiles(repo, { 'key.txt': 'secret' });
  const lost = commitAll(repo, 'oh no');
  git(repo, 'checkout', '-q', 'main');
  for (let count = 1; count < 10; count++) {
    writeFiles(repo, { 'a.txt': String(count) });
    commitAll(repo, `change ${count}`);
  }
  return { repo, lost };
}

test('a commit without a ref does not exist, under any name', async () => {
  const { repo, lost } = makeHistory();
  git(repo, 'submodule', '--quiet', 'add', makeRepo({ x: '' }), 'sub');
  git(repo, 'update-index', '--cacheinfo', `160000,${lost},sub`);
  git(repo, 'commit', '-q', '-m', 'a submodule of that id');
  git(repo, 'update-ref', 'ORIG_HEAD', lost);
  const options = { sizeMax: 1000, signal };
  const names = [
    lost,
    lost.slice(0, 9),
    `${lost}^0`,
    `v1-3-g${lost.slice(0, 9)}`,
    'ORIG_HEAD',
    'HEAD:sub',
  ];
  for (const kind of ['commits', 'worktree'] as const) {
    for (const name of [...names, ...names]) {
      await assert.rejects(resolveRef(recordOf(repo, kind), name, signal), RefError, name);
      await assert.rejects(readSource(recordOf(repo, kind), 'key.txt', name, options), RefError);
    }
  }
  assert.equal(await resolveRef(recordOf(repo), `${lost}~1`, signal), idOf(repo, 'main~10'));
});

test('commits reachable from refs of any kind and a detached HEAD', async () => {
  const { repo, lost } = makeHistory();
  assert.equal(
    await resolveRef(recordOf(repo), idOf(repo, 'main~7'), signal),
    idOf(repo, 'main~7'),
  );
  for (const ref of ['refs/heads/x', 'refs/tags/x', 'refs/remotes/origin/x', 'refs/pull/1/head']) {
    git(repo, 'update-ref', ref, lost);
    assert.equal(await resolveRef(recordOf(repo), lost, signal), lost, ref);
    assert.equal(await resolveRef(recordOf(repo), lost.slice(0, 12), signal), lost, ref);
    git(repo, 'update-ref', '-d', ref);
  }
  git(repo, 'tag', '-a', '-m', 'm', 'annotated', lost);
  git(repo, 'pack-refs', '--all');
  assert.equal(await resolveRef(recordOf(repo), idOf(repo, 'annotated'), signal), lost);
  git(repo, 'tag', '-d', 'annotated');
  git(repo, 'checkout', '-q', '--detach', lost);
  assert.equal(await resolveRef(recordOf(repo), lost, signal), lost);
});

test('a deleted ref removes what only it reached, cached results too', async () => {
  const { repo, lost } = makeHistory();
  const options = { signal, freshMs: 0 };
  const old = idOf(repo, 'main~5');
  git(repo, 'branch', 'doomed', lost);
  git(repo, 'commit-tree', '-m', 'x', `${lost}^{tree}`);
  assert.equal(await isReached(repo, lost, options), true);
  assert.equal(await isReached(repo, old, options), true);
  git(repo, 'branch', '-q', '-D', 'doomed');
  assert.equal(await isReached(repo, lost, options), false);
  assert.equal(await isReached(repo, old, options), true);
  // By a reading of before, for as long as one is fresh, and no longer.
  git(repo, 'branch', 'doomed', lost);
  assert.equal(await isReached(repo, lost, options), true);
  git(repo, 'branch', '-q', '-D', 'doomed');
  assert.equal(await isReached(repo, lost, { signal, freshMs: 60_000 }), true);
  assert.equal(await isReached(repo, lost, options), false);
});

test('visited commits stay reachable while no ref is removed', async () => {
  const { repo, lost } = makeHistory();
  const options = { signal, freshMs: 0 };
  assert.equal(await isReached(repo, idOf(repo, 'main'), options), true);
  // Not true, which shows that it is not asked for.
  noteReached(repo, idOf(repo, 'main'), [lost]);
  assert.equal(await isReached(repo, lost, options), true);
  commitAll(repo, 'forward');
  assert.equal(await isReached(repo, lost, options), true);
  git(repo, 'reset', '-q', '--hard', 'main~1');
  assert.equal(await isReached(repo, lost, options), false);
});

test('a repository without refs serves nothing, one with a broken ref still does', async () => {
  const { repo, lost } = makeHistory();
  const bare = path.join(temporaryFolder(), 'bare');
  git(repo, 'clone', '-q', '--bare', repo, bare);
  const head = idOf(bare, 'HEAD');
  for (const ref of git(bare, 'for-each-ref', '--format=%(refname)').split('\n'))
    git(bare, 'update-ref', '-d', ref);
  await assert.rejects(resolveRef(recordOf(bare), head, signal), RefError);
  writeFiles(repo, { '.git/refs/heads/broken': `${'1'.repeat(40)}\n` });
  assert.equal(
    await resolveRef(recordOf(repo), idOf(repo, 'main~3'), signal),
    idOf(repo, 'main~3'),
  );
  await assert.rejects(resolveRef(recordOf(repo), lost, signal), RefError);
});

test('commits visited by an aborted walk do not count', async () => {
  const { repo, lost } = makeHistory();
  const options = { signal, freshMs: 0 };
  git(repo, 'branch', 'doomed', lost);
  assert.equal(await isReached(repo, lost, options), true);
  git(repo, 'branch', '-q', '-D', 'doomed');
  assert.equal(await isReached(repo, idOf(repo, 'main~3'), options), true);
  noteReached(repo, lost, [lost]);
  assert.equal(await isReached(repo, lost, options), false);
  // Nor where a ref named the start that was not looked at.
  git(repo, 'branch', 'doomed', lost);
  noteReached(repo, lost, [lost]);
  git(repo, 'branch', '-q', '-D', 'doomed');
  assert.equal(await isReached(repo, lost, options), false);
});

test('tags of any object, many tips, and missing tips', async () => {
  const { repo, lost } = makeHistory();
  git(repo, 'tag', 'blob', idOf(repo, 'main:a.txt'));
  git(repo, 'tag', 'tree', idOf(repo, 'main^{tree}'));
  git(repo, 'tag', '-a', '-m', 'm', 'annotated', idOf(repo, 'main~4'));
  for (let count = 0; count < 3; count++) {
    assert.equal(await isReached(repo, lost, { signal, freshMs: 0 }), false);
    assert.equal(await isReached(repo, idOf(repo, 'main~7'), { signal, freshMs: 0 }), true);
    if (count === 1) writeFiles(repo, { '.git/refs/heads/broken': `${'1'.repeat(40)}\n` });
  }
});

test('a removed ref is noticed beside a broken ref', async () => {
  const { repo, lost } = makeHistory();
  writeFiles(repo, { '.git/refs/heads/broken': `${'1'.repeat(40)}\n` });
  git(repo, 'branch', 'doomed', lost);
  assert.equal(await isReached(repo, lost, { signal, freshMs: 0 }), true);
  assert.equal(await isReached(repo, lost, { signal, freshMs: 0 }), true);
  git(repo, 'update-ref', '-d', 'refs/heads/doomed');
  assert.equal(await isReached(repo, lost, { signal, freshMs: 0 }), false);
});

/** Commits whose dates say nothing of their order, with the parents of each. */
function skewedHistory(random: () => number, count: number) {
  const parents = Array.from({ length: count }, (_, index) => {
    const first = Math.max(0, index - 6);
    const pick = (): number => first + Math.floor(random() * (index - first));
    return index === 0 ? [] : [...new Set(random() < 0.3 ? [pick(), pick()] : [pick()])];
  });
  const { path: repo, commits } = historyOf(
    parents.map((some, index) => ({
      date: `${1_600_000_000 + Math.floor(random() * 1e8) + index} +0000`,
      parents: some.map((parent) => `:${parent + 1}`),
      files: { 'a.txt': '' },
    })),
  );
  git(repo, 'update-ref', '--no-deref', 'HEAD', commits[0]!);
  git(repo, 'update-ref', '-d', 'refs/heads/main');
  const idsOf = (some: readonly number[]): string[] => some.map((index) => commits[index]!);
  return { repo, history: new Map(commits.map((id, index) => [id, idsOf(parents[index]!)])) };
}

function walk(
  history: ReadonlyMap<string, readonly string[]>,
  tips: readonly string[],
): Set<string> {
  const reached = new Set<string>();
  const waiting = [...tips];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(history.get(next) ?? []));
  }
  return reached;
}

test('dates of commits do not matter', async () => {
  const dates = [365 * 86_400, ...Array.from({ length: 11 }, (_, index) => index + 1)];
  const { path: repo, commits } = historyOf(
    dates.map((seconds) => ({ date: `${1_700_000_000 + seconds} +0000` })),
  );
  assert.equal(await resolveRef(recordOf(repo), 'HEAD~11', signal), commits[0]);
  let state = 20_261_122;
  const random = (): number => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff;
  for (let round = 0; round < 4; round++) {
    const { repo: skewed, history } = skewedHistory(random, 40);
    const ids = [...history.keys()];
    const tips = [0, 1].map(() => ids[Math.floor(random() * ids.length)]!);
    git(skewed, 'update-ref', '--no-deref', 'HEAD', tips[0]!);
    git(skewed, 'update-ref', 'refs/tags/t', tips[1]!);
    git(skewed, 'tag', 'tree', idOf(skewed, 'HEAD^{tree}'));
    const reached = walk(history, tips);
    for (const id of ids)
      assert.equal(await isReached(skewed, id, { signal }), reached.has(id), `${round} ${id}`);
  }
});

test('refs are read again although the clock is set back', async (t) => {
  const { repo, lost } = makeHistory();
  const options = { signal, freshMs: 0 };
  git(repo, 'branch', 'doomed', lost);
  assert.ok(await isReached(repo, lost, options));
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() - 3_600_000);
  git(repo, 'branch', '-D', 'doomed');
  writeFiles(repo, { 'a.txt': 'new' });
  const later = commitAll(repo);
  assert.equal(await isReached(repo, lost, options), false);
  assert.ok(await isReached(repo, later, options));
});

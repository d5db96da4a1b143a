// An index that follows random edits of files on disk equals a fresh build after each edit: answers, counts, omissions.
// TRAWL_FUZZ_RUNS: edits of each kind of source and of each set of rules; TRAWL_TEST_SEED.
// tier: ci (long)

import assert from 'node:assert/strict';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { DiskEdits } from './disk-edits.ts';
import { type Everything, everythingOf } from './history.ts';
import { displayed, indexAgain, openIndexOf } from './index-of.ts';
import { SEED } from '../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 10);
/** Edits of one source before the next one. */
const EDITS_PER_SOURCE = Math.min(RUNS / 2, 20);
/** Edits before the index is opened again. */
const EDITS_PER_PROCESS = 3;
/** Of a source with rules of its own. */
const EDITS_UNDER_RULES = Math.max(5, Math.min(RUNS / 3, 20));
/** Later than this, files count as settled. */
const AGE_MS = 3_000;
/** Resolves when what is written gets a later time than what was written before. Why asked: the grain is the kernel's. */
async function laterFiles(): Promise<void> {
  const file = path.join(temporaryFolder(), 'clock');
  const timeOfWrite = (): bigint => {
    writeFileSync(file, '');
    return statSync(file, { bigint: true }).mtimeNs;
  };
  const start = timeOfWrite();
  while (timeOfWrite() === start) await sleep(1);
}

/** What both must have in common. @param isCounted  what is left out too */
function comparable({ answers, repos }: Everything, isCounted: boolean): object {
  const rows = repos.map((repo) => {
    const { ignored, leftOut, record, ...rest } = repo;
    const counts = isCounted ? { ignored, leftOut } : {};
    // A job that finds no other docs keeps what it knows of commits.
    const ofCommits = { pushedAt: '', defaultBranch: '' };
    return { ...rest, ...counts, record: { ...record, ...ofCommits }, fingerprint: '' };
  });
  return { answers, repos: rows };
}

interface Counts {
  delta: number;
  anew: number;
  /** Edits that change no doc; some seeds have none. */
  same: number;
}

interface Source {
  readonly seed: number;
  readonly mode: 'worktree' | undefined;
  /** The paths that change are told, as by a watch; else all files are looked at. */
  readonly isWatched: boolean;
  /** Files count as settled at once. */
  readonly isOld: boolean;
  readonly editCount: number;
  readonly rules?: RepoChange;
  /** Default: they are not found, which takes most of the time. */
  readonly findsSymbols?: boolean;
}

async function follow(t: TestContext, source: Source, counts: Counts): Promise<void> {
  const { seed, mode, isWatched, isOld, editCount, rules, findsSymbols = false } = source;
  const edits = new DiskEdits(seed, mode === 'worktree');
  const hasBranches = mode === 'worktree' && seed % 3 === 0;
  const selection: RepoChange = { ...rules, ...(hasBranches ? { branches: ['**'] } : {}) };
  if (isOld) {
    const now = Date.now.bind(Date);
    t.mock.method(Date, 'now', () => now() + AGE_MS);
    await laterFiles();
  }
  const dataDir = temporaryFolder();
  await using anew = await openIndexOf(temporaryFolder(), { findsSymbols });
  await anew.index([edits.root], selection, mode);
  const done: string[] = [];
  for (let remaining = editCount; remaining > 0; remaining -= EDITS_PER_PROCESS) {
    // What the last process remembered is lost.
    await using following = await openIndexOf(dataDir, { findsSymbols });
    if (remaining === editCount) await following.index([edits.root], selection, mode);
    const { repoId } = following.instance.served.records[0]!;
    const { fileTracker } = following.instance.indexer;
    if (isWatched) void fileTracker.watch(repoId);
    for (let i = 0; i < Math.min(remaining, EDITS_PER_PROCESS); i++) {
      const { what, reported } = edits.edit();
      done.push(what);
      if (isOld) await laterFiles();
      for (const path of reported ?? [undefined]) fileTracker.noteChange(repoId, path);
      const before = new Set(following.instance.catalog.fileNames);
      const { isUnchanged } = await indexAgain(following);
      await indexAgain(anew, true);
      const message = `seed ${seed} ${mode} told ${isWatched} old ${isOld}: ${done.join('; ')}`;
      const [own, others] = [await everythingOf(following), await everythingOf(anew)];
      // What is no doc is counted with the next docs, when all files are looked at.
      const isCounted = !isWatched && !isUnchanged;
      assert.deepEqual(comparable(own, isCounted), comparable(others, isCounted), message);
      const stays = following.instance.catalog.repos[0]!.shards.some(({ shardId }) =>
        before.has(`${shardId}.shard`),
      );
      counts[isUnchanged ? 'same' : stays ? 'delta' : 'anew']++;
    }
    // A file too large to be read counts as changed until it is settled.
    const { isUnchanged: isSame } = await indexAgain(following);
    assert.ok(isSame || !isOld, `seed ${seed} ${mode}: nothing changed since`);
    assert.deepEqual(
      following.warnings.filter((one) => /shard|symbols|revision file/.test(one)),
      [],
    );
  }
  t.mock.restoreAll();
}

for (const mode of ['worktree', undefined] as const)
  void test(`edits of a ${mode ?? 'folder'}`, { timeout: 3_600_000 }, async (t) => {
    const counts = { delta: 0, anew: 0, same: 0 };
    for (let run = 0; run < RUNS; run += EDITS_PER_SOURCE) {
      const seed = SEED + run;
      const isWatched = (run / EDITS_PER_SOURCE) % 2 === 1;
      const source = {
        seed,
        mode,
        isWatched,
        isOld: seed % 2 === 0,
        findsSymbols: mode === 'worktree' && run === 0,
      };
      await follow(t, { ...source, editCount: EDITS_PER_SOURCE }, counts);
    }
    assert.ok(counts.delta > RUNS / 16, JSON.stringify(counts));
  });

const RULES: readonly RepoChange[] = [
  { noIgnore: true },
  { ignore: ['docs', '*.h', 'lib/**', '!lib/x.h', 'nested'] },
  { reposApart: true, ignore: ['src/*.go'] },
];

for (const mode of ['worktree', undefined] as const)
  void test(
    `edits of a ${mode ?? 'folder'} with its own rules`,
    { timeout: 3_600_000 },
    async (t) => {
      const counts = { delta: 0, anew: 0, same: 0 };
      for (const [index, rules] of RULES.entries()) {
        // What is in it lies apart in a folder alone.
        if (mode === 'worktree' && rules.reposApart === true) continue;
        const source = { seed: SEED + 104 + index, mode, isWatched: index % 2 === 0, isOld: true };
        await follow(t, { ...source, editCount: EDITS_UNDER_RULES, rules }, counts);
      }
      assert.ok(counts.delta > 1, JSON.stringify(counts));
    },
  );

void test('a work tree of SHA-256 is tracked by its ids, saved file by saved file', async () => {
  const repo = makeRepo({ 'a.txt': 'plum a\n', 'sub/b.txt': 'plum b\n', empty: '' }, 'sha256');
  git(repo, 'tag', 'old');
  git(repo, 'branch', 'dev');
  await using index = await openIndexOf(temporaryFolder(), {
    onDemand: { repos: 20, docs: 100, timeoutMs: 60_000, diskBytes: 2 ** 32 },
  });
  for (const selection of [{}, { branches: ['**'] }]) {
    const [result] = await index.index([repo], selection, 'worktree');
    assert.equal(result!.error, undefined);
    // The docs of the commit are those on disk.
    assert.deepEqual(displayed(await index.search('file:. (rev:old or rev:HEAD)')), [
      `a.txt HEAD,old`,
      `empty HEAD,old`,
      `sub/b.txt HEAD,old`,
    ]);
    for (const edit of ['plum c\n', 'plum d\n']) {
      writeFiles(repo, { 'sub/b.txt': edit, 'new.txt': edit });
      const [saved] = await index.index([repo], selection, 'worktree');
      assert.equal(saved!.error, undefined);
      assert.deepEqual(displayed(await index.search(`plum "${edit.trim()}"`)), [
        'new.txt HEAD',
        'sub/b.txt HEAD',
      ]);
      assert.deepEqual(displayed(await index.search('plum rev:old')), [
        'a.txt old',
        'sub/b.txt old',
      ]);
    }
    writeFiles(repo, { 'sub/b.txt': 'plum b\n' });
    rmSync(path.join(repo, 'new.txt'));
  }
  assert.deepEqual(index.warnings, []);
});

void test('a branch moved to a commit with the same docs gets that commit', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  git(repo, 'branch', 'dev');
  await using index = await openIndexOf(temporaryFolder());
  const commits = async (): Promise<unknown> => {
    const [result] = await index.index([repo], { branches: ['**'] }, 'worktree');
    assert.equal(result!.error, undefined);
    return index.instance.catalog.repos[0]!.commits;
  };
  const heads = (): unknown => [null, ...['dev', 'main'].map((one) => git(repo, 'rev-parse', one))];
  assert.deepEqual(await commits(), heads());
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'more');
  git(repo, 'branch', '-f', 'dev');
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'still more');
  assert.deepEqual(await commits(), heads());
});

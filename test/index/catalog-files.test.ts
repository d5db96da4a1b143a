// The files of a catalog against a map in memory: what was kept is read again, whatever is cut, damaged or left behind by
// a process that was killed, and a change writes what it changes.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { CatalogFiles } from '../../daemon/index/catalog/catalog-files.ts';
import {
  applyChange,
  type CatalogChange,
  type CatalogRepo,
} from '../../daemon/index/catalog/catalog-records.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

function repoOf(repoId: number, note: number): CatalogRepo {
  return {
    record: {
      repoId,
      name: `host/repo-${repoId}`,
      codeHostType: 'genericGitHost',
      isFork: false,
      isArchived: false,
      visibility: 'unknown',
      source: { kind: 'commits', path: `/repos/${repoId}` },
      defaultRevision: 'refs/heads/main',
    },
    fingerprint: `print ${note}`,
    shards: [],
    skipped: { binary: note },
  };
}

/** A number below a bound, at random and the same in each run. */
function randomOf(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** A catalog that was changed some hundred times, and its state behind each change. */
class Changed {
  readonly dataDir = temporaryFolder();
  readonly #files = new CatalogFiles(this.dataDir);
  readonly #repos = new Map<number, CatalogRepo>();
  /** JSON of the repos. */
  readonly states: string[] = ['[]'];

  async change(change: CatalogChange): Promise<void> {
    await this.#files.keep(change, () => {
      const next = new Map(this.#repos);
      applyChange(next, change);
      return [...next.values()];
    });
    applyChange(this.#repos, change);
    this.states.push(this.now);
  }

  get now(): string {
    return JSON.stringify([...this.#repos.values()]);
  }

  place(name: string): string {
    return path.join(this.dataDir, name);
  }
}

async function read(dataDir: string): Promise<{ repos: string; damage: string | undefined }> {
  const { state, damage } = await new CatalogFiles(dataDir).load();
  return { repos: JSON.stringify(state.repos), damage };
}

/** A catalog of 60 repos that has become a state and some lines. */
async function withLines(lineCount: number): Promise<Changed> {
  const changed = new Changed();
  await changed.change({ put: Array.from({ length: 60 }, (_, i) => repoOf(i + 1, 0)) });
  for (let i = 0; i < lineCount; i++) await changed.change({ put: [repoOf((i % 60) + 1, i + 1)] });
  return changed;
}

void test('random changes are read again, in their order, by whoever opens the files', async () => {
  const random = randomOf(7);
  const changed = new Changed();
  let nextId = 1;
  for (let i = 0; i < 400; i++) {
    const known = Math.max(1, nextId - 1);
    const put = Array.from({ length: random(3) }, () =>
      repoOf(random(3) === 0 ? nextId++ : 1 + random(known), i),
    );
    const distinct = [...new Map(put.map((repo) => [repo.record.repoId, repo])).values()];
    const removed = random(8) === 0 ? [1 + random(known)] : [];
    await changed.change({ put: distinct, removed });
    if (random(5) > 0) continue;
    assert.deepEqual(await read(changed.dataDir), { repos: changed.now, damage: undefined });
  }
});

void test('a change writes what it changes', async () => {
  const changed = await withLines(3);
  const state = readFileSync(changed.place('catalog.json'));
  const before = statSync(changed.place('catalog.changes')).size;
  await changed.change({ put: [repoOf(7, 99)] });
  assert.deepEqual(readFileSync(changed.place('catalog.json')), state);
  const { size } = statSync(changed.place('catalog.changes'));
  assert.ok(size - before < 1000, `${size - before} bytes`);
});

void test('lines cut anywhere: the last change that is whole', async () => {
  const changed = await withLines(6);
  const file = changed.place('catalog.changes');
  const whole = readFileSync(file);
  for (let size = whole.length; size >= 0; size -= 7) {
    truncateSync(file, size);
    const lineCount = whole.subarray(0, size).filter((byte) => byte === 10).length;
    const expected = { repos: changed.states[2 - 1 + lineCount]!, damage: undefined };
    assert.deepEqual(await read(changed.dataDir), expected, `${size} bytes`);
  }
});

void test('a change behind lines that were cut is not lost', async () => {
  const changed = await withLines(6);
  truncateSync(
    changed.place('catalog.changes'),
    statSync(changed.place('catalog.changes')).size - 20,
  );
  const files = new CatalogFiles(changed.dataDir);
  const { state } = await files.load();
  const repos = new Map(state.repos.map((repo) => [repo.record.repoId, repo]));
  for (const note of [500, 501]) {
    const change = { put: [repoOf(3, note)] };
    applyChange(repos, change);
    await files.keep(change, () => [...repos.values()]);
    const expected = { repos: JSON.stringify([...repos.values()]), damage: undefined };
    assert.deepEqual(await read(changed.dataDir), expected);
  }
});

void test('whatever bit of the lines is turned over: a state that was, and damage is told', async () => {
  const changed = await withLines(5);
  const file = changed.place('catalog.changes');
  const whole = readFileSync(file);
  const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
  const firstEnd = whole.indexOf(10) + 1;
  for (let bit = 0; bit < whole.length * 8; bit += 11) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, damaged);
    const { repos, damage } = await read(changed.dataDir);
    assert.ok(changed.states.includes(repos), `bit ${bit}`);
    const isBetween = bit >> 3 >= firstEnd && bit >> 3 < lastLine;
    if (isBetween) assert.match(damage ?? '', /catalog\.changes is damaged: line \d/, `bit ${bit}`);
  }
});

void test('a state that is damaged or gone: that before with all lines is the same', async () => {
  // Lines that are longer than the state make a new one.
  const changed = await withLines(90);
  const file = changed.place('catalog.json');
  assert.ok(statSync(changed.place('catalog.last.changes')).size > 0);
  assert.ok(statSync(changed.place('catalog.changes')).size > 0);
  writeFileSync(file, readFileSync(file, 'utf8').replace('repo-9', 'repo-8'));
  const { repos, damage } = await read(changed.dataDir);
  assert.ok(repos === changed.now);
  assert.match(damage ?? '', /catalog\.json is damaged: its checksum is wrong/);
  rmSync(file);
  assert.ok((await read(changed.dataDir)).repos === changed.now);
});

void test('lines of another state count for nothing', async () => {
  const [changed, other] = [await withLines(5), await withLines(9)];
  copyFileSync(other.place('catalog.changes'), changed.place('catalog.changes'));
  // The two states are the same, so the lines are those of both.
  assert.ok((await read(changed.dataDir)).repos === other.now);
  const third = new Changed();
  await third.change({ put: Array.from({ length: 61 }, (_, i) => repoOf(i + 1, 0)) });
  copyFileSync(other.place('catalog.changes'), third.place('catalog.changes'));
  assert.deepEqual(await read(third.dataDir), { repos: third.now, damage: undefined });
});

void test('a folder in place of the lines is damage', async () => {
  const changed = await withLines(2);
  rmSync(changed.place('catalog.changes'));
  mkdirSync(changed.place('catalog.changes'));
  const { repos, damage } = await read(changed.dataDir);
  assert.ok(repos === changed.states[1]);
  assert.match(damage ?? '', /catalog\.changes/);
});

void test('who reads while another writes sees a state that was', async () => {
  const changed = await withLines(1);
  const writer = { isDone: false };
  const writing = (async () => {
    for (let i = 0; i < 300; i++) await changed.change({ put: [repoOf((i % 60) + 1, 1000 + i)] });
    writer.isDone = true;
  })();
  let last = 0;
  while (!writer.isDone) {
    const { repos } = await read(changed.dataDir);
    // Not yet among the states: the change is on disk, and its writer has not been told.
    const index = changed.states.indexOf(repos);
    if (index >= 0) {
      assert.ok(index >= last, 'a reader went back in time');
      last = index;
    } else {
      for (let i = 0; i < 12_000 && !changed.states.includes(repos); i++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(changed.states.includes(repos), 'a state that never was');
    }
  }
  await writing;
  assert.ok((await read(changed.dataDir)).repos === changed.now);
});

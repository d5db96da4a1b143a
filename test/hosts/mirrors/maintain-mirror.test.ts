// Maintenance of mirrors: few packs, a commit graph, nothing lost; no work where none is needed.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { maintainMirror } from '../../../daemon/hosts/mirrors/maintain-mirror.ts';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { assertMirrors, fetchInto, log, mirrorFolder } from './fetched.ts';

const protocols = ['file'] as const;

interface Mirrored {
  readonly tree: string;
  readonly folder: string;
  readonly repo: string;
  readonly fetch: () => Promise<unknown>;
}

async function mirrored(): Promise<Mirrored> {
  const tree = makeRepo({ 'a.txt': 'plum\n'.repeat(100) });
  const repo = path.join(temporaryFolder(), 'one.git');
  git(tree, 'clone', '-q', '--bare', tree, repo);
  const folder = mirrorFolder();
  const fetch = (): Promise<unknown> => fetchInto(folder, `file://${repo}`, { protocols });
  await fetch();
  return { tree, folder, repo, fetch };
}

function maintain(folder: string): Promise<boolean> {
  return maintainMirror({ folder, log, timeoutMs: 30_000, signal: new AbortController().signal });
}

/** Files with this ending among the packs. */
function packs(folder: string, ending = '.pack'): string[] {
  return readdirSync(path.join(folder, 'objects/pack')).filter((name) => name.endsWith(ending));
}

function hasGraph(folder: string): boolean {
  return readdirSync(path.join(folder, 'objects/info/commit-graphs')).includes(
    'commit-graph-chain',
  );
}

async function commits({ tree, repo, fetch }: Mirrored, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    writeFiles(tree, { [`f${i}.txt`]: `${i} `.repeat(500) });
    commitAll(tree);
    git(tree, 'push', '-q', '--force', repo, 'main');
    await fetch();
  }
}

test('packs are merged, a commit graph is written, and no ref moves', async () => {
  const one = await mirrored();
  await commits(one, 14);
  assert.equal(packs(one.folder).length, 15);
  assert.equal(await maintain(one.folder), true);
  assert.ok(packs(one.folder).length <= 2, packs(one.folder).join());
  assert.ok(hasGraph(one.folder));
  assertMirrors(one.folder, one.repo);
  git(one.folder, 'commit-graph', 'verify');
  assert.equal(await maintain(one.folder), false);
  // Nothing is fetched because of it.
  assert.deepEqual(await one.fetch(), {
    isNew: false,
    isChanged: false,
    defaultBranch: 'refs/heads/main',
  });
});

test('a few packs stay, with an updated commit graph', async () => {
  const one = await mirrored();
  assert.equal(await maintain(one.folder), true);
  assert.equal(await maintain(one.folder), false);
  await commits(one, 2);
  assert.equal(await maintain(one.folder), true);
  assert.equal(packs(one.folder).length, 3);
  git(one.folder, 'commit-graph', 'verify');
});

test('unreachable objects stay for a while, and are then removed', async () => {
  const one = await mirrored();
  const lost = await rewriteOften(one);
  assert.equal(await maintain(one.folder), true);
  for (const id of lost) git(one.folder, 'cat-file', '-e', id);
  const other = await mirrored();
  const gone = await rewriteOften(other);
  // As if the fetches had been three weeks ago.
  const folder = path.join(other.folder, 'objects/pack');
  const then = new Date(Date.now() - 21 * 86_400_000);
  for (const name of readdirSync(folder)) utimesSync(path.join(folder, name), then, then);
  assert.equal(await maintain(other.folder), true);
  for (const id of gone) assert.throws(() => git(other.folder, 'cat-file', '-e', id), id);
  assert.equal(packs(other.folder).length, 1);
  assertMirrors(other.folder, other.repo);
  git(other.folder, 'commit-graph', 'verify');
});

/** Returns the commits that were there for a time. */
async function rewriteOften(one: Mirrored): Promise<string[]> {
  const lost: string[] = [];
  for (let round = 0; round < 14; round++) {
    writeFiles(one.tree, { 'a.txt': `${round} `.repeat(2000) });
    git(one.tree, 'commit', '-q', '-a', '--amend', '-m', `round ${round}`);
    git(one.tree, 'push', '-q', '--force', one.repo, 'main');
    await one.fetch();
    lost.push(git(one.tree, 'rev-parse', 'main'));
  }
  return lost.slice(0, -1);
}

test('other folders, and empty mirrors, are left alone', async () => {
  const folder = temporaryFolder();
  assert.equal(await maintain(folder), false);
  assert.deepEqual(readdirSync(folder), []);
  const repo = path.join(temporaryFolder(), 'empty.git');
  git(temporaryFolder(), 'init', '-q', '--bare', repo);
  const target = mirrorFolder();
  await fetchInto(target, `file://${repo}`, { protocols });
  assert.equal(await maintain(target), false);
});

test('parts of packs left by a killed git are removed', async () => {
  const one = await mirrored();
  const leftover = path.join(one.folder, 'objects/pack/.tmp-77-pack-x.pack');
  writeFileSync(leftover, 'x');
  assert.equal(await maintain(one.folder), true);
  assert.deepEqual(
    packs(one.folder).filter((name) => name.startsWith('.tmp')),
    [],
  );
});

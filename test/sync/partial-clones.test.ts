// Repositories that lack objects: partial clones, and one with removed objects. Existing content is searched, missing
// parts are named, and nothing else fails.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';

import { objectPool } from '../../daemon/sources/git/object-pool.ts';
import { readSource } from '../../daemon/sources/reading/source-reader.ts';
import {
  commitAll,
  commitFiles,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf, type RevisionAnswer, displayed } from './index-of.ts';

const LIMITS = { repos: 20, docs: 50_000, timeoutMs: 60_000, diskBytes: 2 ** 32 };
/** What every commit has. */
const HERE = ['a.txt', 'd/e/b.txt', 'same.txt'];
const ALL = { branches: ['**'] };

/** Three commits, with the branches one, two and main; `same.txt` is that of the first. */
function makeSource(): string {
  const repo = makeRepo({ 'same.txt': 'plum same\n' });
  for (const name of ['one', 'two', 'main']) {
    commitFiles(repo, { 'a.txt': `plum ${name}\n`, 'd/e/b.txt': `plum deep ${name}\n` });
    if (name !== 'main') git(repo, 'branch', name);
  }
  git(repo, 'config', 'uploadpack.allowFilter', 'true');
  return repo;
}

function cloneOf(source: string, ...options: readonly string[]): string {
  const clone = path.join(temporaryFolder(), 'clone');
  git(source, 'clone', '-q', ...options, `file://${source}`, clone);
  if (!options.includes('--bare'))
    for (const name of ['one', 'two']) git(clone, 'branch', name, `origin/${name}`);
  return clone;
}

function objectFile(repo: string, name: string): string {
  const id = git(repo, 'rev-parse', name);
  return path.join(repo, '.git/objects', id.slice(0, 2), id.slice(2));
}

function removeObject(repo: string, name: string): void {
  rmSync(objectFile(repo, name));
}

/** Leaves the first half of an object: git begins to write it, and fails. */
function cutObject(repo: string, name: string): void {
  const file = objectFile(repo, name);
  chmodSync(file, 0o600);
  truncateSync(file, Math.floor(statSync(file).size / 2));
}

async function indexed(
  t: TestContext,
  repos: readonly string[],
  selection: object,
  mode: 'commits' | 'worktree',
): Promise<IndexOf> {
  const index = await openIndexOf(temporaryFolder(), { onDemand: LIMITS });
  t.after(() => index.close());
  for (const { error } of await index.index(repos, selection, mode)) assert.equal(error, undefined);
  return index;
}

/** Paths that were left out, as the log names them. */
function excludedWarnings({ warningLines }: IndexOf): string[] {
  const lines = warningLines.map((line): { path?: string; reason?: string } => JSON.parse(line));
  return lines
    .filter(({ reason }) => reason === 'unreadable: object missing')
    .map((line) => line.path!)
    .sort();
}

void test('a clone without blobs: files on disk, and unchanged committed ones', async (t) => {
  const repo = cloneOf(makeSource(), '--filter=blob:none');
  const index = await indexed(t, [repo], ALL, 'worktree');
  assert.deepEqual(
    displayed(await index.search('plum')),
    HERE.map((file) => `${file} HEAD`),
  );
  assert.deepEqual(displayed(await index.search('plum rev:one')), ['same.txt heads/one']);
  assert.deepEqual(excludedWarnings(index), ['a.txt', 'a.txt', 'd/e/b.txt', 'd/e/b.txt']);
});

void test('a bare clone without any blob', async (t) => {
  const repo = cloneOf(makeSource(), '--bare', '--filter=blob:none');
  const index = await indexed(t, [repo], ALL, 'commits');
  assert.equal((await index.search('plum')).files.length, 0);
  assert.equal(excludedWarnings(index).length, 7);
});

void test('a clone without trees: missing revisions are named', async (t) => {
  const repo = cloneOf(makeSource(), '--filter=tree:0');
  const index = await indexed(t, [repo], ALL, 'commits');
  assert.deepEqual(
    displayed(await index.search('plum')),
    HERE.map((file) => `${file} heads/main`),
  );
  const commits = ['one', 'two'].map((name) => git(repo, 'rev-parse', name)).sort();
  assert.deepEqual(excludedWarnings(index), commits);
});

void test('a missing tree: everything else is searched, later commits too', async (t) => {
  const repo = makeSource();
  removeObject(repo, 'one:d');
  removeObject(repo, 'main:d/e');
  const index = await indexed(t, [repo], ALL, 'commits');
  const found = async (revision: string): Promise<string[]> =>
    displayed(await index.search(`plum rev:refs/heads/${revision}`));
  assert.deepEqual(await found('one'), ['a.txt heads/one', 'same.txt heads/one']);
  assert.deepEqual(
    await found('two'),
    HERE.map((file) => `${file} heads/two`),
  );
  assert.deepEqual(await found('main'), ['a.txt heads/main', 'same.txt heads/main']);
  assert.deepEqual(excludedWarnings(index), ['d/', 'd/e/']);
  git(repo, 'read-tree', '--empty');
  writeFiles(repo, { 'new.txt': 'plum new\n' });
  git(repo, 'add', 'new.txt', 'same.txt');
  git(repo, 'commit', '-q', '-m', 'later');
  await index.index([repo], ALL, 'commits');
  assert.deepEqual(await found('main'), ['new.txt heads/main', 'same.txt heads/main']);
  assert.deepEqual(await found('one'), ['a.txt heads/one', 'same.txt heads/one']);
});

void test('a truncated object fails no search', async (t) => {
  const repos = [makeSource(), makeSource()] as const;
  const [cut] = repos;
  const digests = Array.from({ length: 30 }, (_, line) => hash('sha512', `${line}`));
  for (const repo of repos) {
    writeFiles(repo, { 'long.txt': ['plum', ...digests].join('\n') });
    git(repo, 'checkout', '-q', '-b', 'long');
    commitAll(repo);
    git(repo, 'checkout', '-q', 'main');
  }
  const index = await indexed(t, repos, {}, 'commits');
  cutObject(cut, 'long:long.txt');
  const answer = await index.search('plum file:long rev:long');
  assert.deepEqual(displayed(answer), ['long.txt long']);
  const [, reasons, message] = reported(answer);
  assert.deepEqual(reasons, ['revision_unreadable']);
  assert.match(String(message), /: The git object \w+ is missing or damaged/);
});

void test('a repository that git refuses: the revision is not unknown', async (t) => {
  const repo = makeSource();
  const index = await indexed(t, [repo], {}, 'commits');
  writeFileSync(path.join(repo, '.git/config'), '[core]\n\trepositoryformatversion = 9\n');
  const [, reasons, message] = reported(await index.search('plum rev:two'));
  assert.deepEqual(reasons, ['revision_unreadable']);
  assert.match(
    String(message),
    /: The repository cannot be read: git refuses a setting of its configuration\.$/,
  );
});

/** What an answer says of revisions that could not be read. */
function reported({ hints = [], ...answer }: RevisionAnswer): readonly unknown[] {
  return [answer.isSearchExhaustive, answer.incompleteReasons, ...hints.map((one) => one.message)];
}

void test('on-demand revisions that git cannot read completely are named', async (t) => {
  const [whole, part, gone, cut] = [1, 2, 3, 4].map(() => makeSource()) as [
    string,
    string,
    string,
    string,
  ];
  const index = await indexed(t, [whole, part, gone, cut], {}, 'commits');
  const names = index.instance.served.records.map(({ name }) => name);
  const all = await index.search('plum rev:one');
  assert.deepEqual([all.files.length, all.isSearchExhaustive], [12, true]);

  removeObject(part, 'two:d/e/b.txt');
  removeObject(cut, 'two:d');
  renameSync(path.join(gone, '.git'), path.join(gone, 'git'));
  const some = await index.search('plum rev:two');
  assert.equal(some.files.length, 3 + 2 + 2);
  assert.deepEqual(reported(some), [
    false,
    ['revision_unreadable'],
    `The revision "two" could not be read completely in ${names[2]}, ${names[1]}, ${names[3]}: ` +
      `Repository "${names[2]}" is not cloned: nothing exists at its path on disk.`,
  ]);
  // Kept docs say so again, and where nothing is found too.
  const again = await index.search(`nothing repo:${names[3]}$ rev:two`);
  assert.deepEqual(reported(again), [
    false,
    ['revision_unreadable'],
    `The revision "two" could not be read completely in ${names[3]}: ` +
      'git cannot read d/: the repository is a partial clone, or damaged.',
  ]);

  removeObject(cut, 'one');
  const [reason] = reported(await index.search(`plum repo:${names[3]}$ rev:one`)).slice(1);
  assert.deepEqual(reason, ['revision_unreadable']);
  const unknown = await index.search(`plum repo:${names[0]}$ rev:nowhere`);
  assert.deepEqual(unknown.isSearchExhaustive, true);
});

void test('a damaged commit is named, an id that does not exist is unknown', async (t) => {
  const repo = makeSource();
  const index = await indexed(t, [repo], {}, 'commits');
  const id = git(repo, 'rev-parse', 'one');
  const file = objectFile(repo, 'one');
  chmodSync(file, 0o600);
  writeFileSync(file, 'no object');
  for (const revision of [id, id.slice(0, 12)])
    assert.deepEqual(reported(await index.search(`plum rev:${revision}`)).slice(0, 2), [
      false,
      ['revision_unreadable'],
    ]);
  const other = id.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
  for (const revision of [other, other.slice(0, 12)])
    assert.deepEqual(reported(await index.search(`plum rev:${revision}`)).slice(0, 2), [
      true,
      undefined,
    ]);
});

void test('files of such revisions: not found, and the object is named', async () => {
  const clone = cloneOf(makeSource(), '--filter=blob:none');
  const damaged = makeSource();
  const lost = (name: string): string => git(damaged, 'rev-parse', name);
  const ids = { blob: lost('one:a.txt'), tree: lost('one:d'), root: lost('two^{tree}') };
  for (const name of ['one:a.txt', 'one:d', 'two^{tree}']) removeObject(damaged, name);
  const read = (repo: string, file: string, ref: string): Promise<unknown> => {
    const source = { kind: 'commits', path: repo } as const;
    const options = { sizeMax: 1000, signal: new AbortController().signal };
    return readSource({ name: 'r', source, defaultRevision: 'HEAD' }, file, ref, options);
  };
  const refusal = (id: string): object => ({
    errorCode: 'NOT_FOUND',
    message: `The git object ${id} is missing or damaged: the repository is a partial clone, or damaged.`,
  });
  await assert.rejects(read(clone, 'a.txt', 'one'), refusal(ids.blob));
  await assert.rejects(read(damaged, 'a.txt', 'one'), refusal(ids.blob));
  await assert.rejects(read(damaged, 'd/e/b.txt', 'one'), refusal(ids.tree));
  await assert.rejects(read(damaged, 'a.txt', 'two'), { errorCode: 'NOT_FOUND' });
  await objectPool.close();
});

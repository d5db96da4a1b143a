// Changes of branches, tags, or of the selection: what is rebuilt, what only gets other sets of docs, and what
// searches see afterwards.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  commitAll,
  commitFiles,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../sources/git/fixture.ts';
import { filesOf, type IndexOf, indexOf, openIndexOf, displayed } from './index-of.ts';

const ALL = { branches: ['**'], tags: ['**'] };

/** main: a.txt "plum two"; branch old: a.txt "plum one", gone.txt; tag v1 as old. */
function makePlum(): string {
  const repo = makeRepo({ 'a.txt': 'plum one\n', 'gone.txt': 'plum gone\n', 'bin/b': 'plum\0' });
  git(repo, 'branch', 'old');
  git(repo, 'tag', '-a', '-m', 'x', 'v1');
  writeFiles(repo, { 'a.txt': 'plum two\n', 'bin/b': 'plum\0plum' });
  rmSync(path.join(repo, 'gone.txt'));
  commitAll(repo);
  return repo;
}

void test('only sets of docs change while the shards have all docs', async () => {
  const repo = makePlum();
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  const step = async (query: string, expected: string[], isSameShards: boolean): Promise<void> => {
    const before = filesOf(dataDir);
    const [result] = await index.index([repo], ALL, 'commits');
    assert.equal(result?.state, 'COMPLETED', result?.error);
    const after = filesOf(dataDir);
    assert.equal(String(after.shards) === String(before.shards), isSameShards, query);
    assert.deepEqual(displayed(await index.search(query)), expected);
    assert.equal(after.revisions.length, 1);
  };
  await index.index([repo], ALL, 'commits');
  assert.deepEqual(displayed(await index.search('plum')), ['a.txt heads/main']);
  assert.deepEqual(displayed(await index.search('plum rev:*')), [
    'a.txt heads/main',
    'a.txt heads/old,tags/v1',
    'gone.txt heads/old,tags/v1',
  ]);
  assert.deepEqual(displayed(await index.search('file:bin rev:*')), [
    'bin/b heads/main',
    'bin/b heads/old,tags/v1',
  ]);

  git(repo, 'tag', 'v2');
  await step('plum rev:v2', ['a.txt tags/v2'], true);
  git(repo, 'branch', '-D', 'old');
  await step('gone rev:*', ['gone.txt tags/v1'], true);
  git(repo, 'branch', 'back', 'v1');
  await step('file:bin rev:back', ['bin/b heads/back'], true);
  git(repo, 'branch', '-f', 'back', 'main');
  await step('rev:back', ['a.txt heads/back', 'bin/b heads/back'], true);
  git(repo, 'tag', '-d', 'v1');
  git(repo, 'tag', '-d', 'v2');
  // Three of five docs are in no revision any more.
  await step('plum rev:*', ['a.txt heads/main,heads/back'], false);

  git(repo, 'checkout', '-q', 'back');
  commitFiles(repo, { 'new.txt': 'plum new\n' });
  git(repo, 'checkout', '-q', 'main');
  await step('plum rev:*', ['a.txt heads/main,heads/back', 'new.txt heads/back'], false);
  git(repo, 'reset', '-q', '--hard', 'back');
  await step('plum', ['a.txt heads/main', 'new.txt heads/main'], true);
});

void test('results name the blobs of empty, binary and too large files', async () => {
  const repo = makeRepo({
    'bin/b': Buffer.of(0, 1, 2),
    'empty.txt': '',
    'large.txt': 'plum large\n'.repeat(600),
    'same/large.txt': 'plum large\n'.repeat(600),
    'text.txt': 'plum\n',
  });
  const dataDir = temporaryFolder();
  const check = async (index: IndexOf): Promise<void> => {
    for (const query of ['file:.', 'file:. rev:*']) {
      const { files } = await index.search(query);
      assert.equal(files.length, 5, query);
      for (const { path: file, blobSha } of files)
        assert.equal(blobSha, git(repo, 'rev-parse', `HEAD:${file}`), `${query}: ${file}`);
    }
  };
  await using index = await indexOf(dataDir, repo, {});
  await check(index);
  commitFiles(repo, { 'bin/b': Buffer.of(0, 3), 'text.txt': 'plum new\n' });
  await index.index([repo], {}, 'commits');
  await check(index);
  await index.close();
  await using again = await openIndexOf(dataDir);
  await check(again);
});

void test('docs without a revision are in no answer and no count', async () => {
  const repo = makePlum();
  const dataDir = temporaryFolder();
  await using index = await indexOf(dataDir, repo, { branches: ['old'] });
  git(repo, 'branch', '-D', 'old');
  git(repo, 'branch', 'older', 'v1~0');
  const [kept] = await index.index([repo], { branches: ['none-such'] }, 'commits');
  assert.equal(kept?.revisionCount, 1);
  assert.ok(index.warnings.some((line) => line.startsWith('no branch matches')));
  for (const query of ['plum', 'plum rev:*', 'plum -rev:x', '-file:zzz', 'rev:main']) {
    const answer = await index.search(query);
    assert.ok(!answer.files.some((file) => file.path === 'gone.txt'), query);
    assert.equal(answer.stats['shardFilesConsidered'], 2, query);
  }
});

void test('the selection is kept, replaced option by option, and emptied', async () => {
  const repo = makePlum();
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  const count = async (selection: object): Promise<number | undefined> =>
    (await index.index([repo], selection, 'commits'))[0]?.revisionCount;
  assert.equal(await count({ branches: ['o*'], tags: ['v?'] }), 3);
  assert.equal(await count({}), 3);
  assert.equal(await count({ tags: [] }), 2);
  assert.equal(await count({ branches: ['{old,main}'], tags: ['v[0-9]'] }), 3);
  assert.equal(await count({ branches: ['x/**'], tags: ['*/v1'] }), 1);
  assert.equal(await count({ branches: [], tags: [] }), 1);
  assert.deepEqual(index.instance.served.records[0]?.selection, undefined);
});

void test('a branch whose name is not UTF-8 is excluded, with this reason', async () => {
  const repo = makePlum();
  const name = Buffer.from(`${repo}/.git/refs/heads/l\xe9`, 'latin1');
  writeFileSync(name, readFileSync(path.join(repo, '.git/refs/heads/main')));
  await using index = await openIndexOf(temporaryFolder());
  const [result] = await index.index([repo], ALL, 'commits');
  assert.equal(result?.revisionCount, 3);
  assert.deepEqual(
    index.warnings.filter((line) => line.startsWith('revision left out')),
    ['revision left out: its name is not UTF-8: refs/heads/l\uFFFD'],
  );
});

void test('tags without a commit are excluded and named', async () => {
  const repo = makePlum();
  git(repo, 'tag', 'tree', 'main^{tree}');
  git(repo, 'tag', 'blob', 'main:a.txt');
  git(repo, 'tag', '-a', '-m', 'x', 'nested', 'v1');
  await using index = await openIndexOf(temporaryFolder());
  const [result] = await index.index([repo], { tags: ['*'] }, 'commits');
  assert.equal(result?.revisionCount, 3);
  assert.equal(index.warnings.filter((line) => line.startsWith('revision left out')).length, 2);
  assert.deepEqual(displayed(await index.search('gone rev:nested')), ['gone.txt tags/nested']);
});

void test('a work tree: the files on disk are HEAD, branches come from commits', async () => {
  const repo = makePlum();
  writeFiles(repo, { 'a.txt': 'plum edited\n', 'untracked.txt': 'plum untracked\n' });
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  const [result] = await index.index([repo], { branches: ['*'] }, 'worktree');
  assert.equal(result?.revisionCount, 3);
  assert.deepEqual(displayed(await index.search('plum')), ['a.txt HEAD', 'untracked.txt HEAD']);
  assert.deepEqual(displayed(await index.search('plum rev:*')), [
    'a.txt HEAD',
    'a.txt heads/main',
    'a.txt heads/old',
    'gone.txt heads/old',
    'untracked.txt HEAD',
  ]);
  assert.deepEqual(displayed(await index.search('file:bin rev:*')), [
    'bin/b HEAD,heads/main',
    'bin/b heads/old',
  ]);
  const shards = filesOf(dataDir).shards;
  git(repo, 'branch', 'more');
  await index.index([repo], {}, 'worktree');
  assert.deepEqual(filesOf(dataDir).shards, shards);
  assert.deepEqual(displayed(await index.search('two rev:*')), ['a.txt heads/main,heads/more']);
  assert.equal((await index.index([repo], {}, 'worktree'))[0]?.isUnchanged, true);
});

void test('a folder without git has one revision, and says so', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a.txt': 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  const [result] = await index.index([folder], ALL);
  assert.equal(result?.revisionCount, 1);
  assert.ok(index.warnings.some((line) => line.startsWith('a folder without git')));
  assert.deepEqual(displayed(await index.search('plum rev:*')), ['a.txt HEAD']);
  assert.deepEqual(displayed(await index.search('plum rev:main')), []);
});

void test('languages are those of the default revision', async () => {
  const repo = makeRepo({ '.gitattributes': '*.x linguist-language=Python\n', 'a.x': 'plum\n' });
  git(repo, 'branch', 'ruby');
  git(repo, 'checkout', '-q', 'ruby');
  commitFiles(repo, { '.gitattributes': '*.x linguist-language=Ruby\n', 'b.x': 'plum\n' });
  git(repo, 'checkout', '-q', 'main');
  await using index = await indexOf(temporaryFolder(), repo, ALL);
  const { files } = await index.search('plum rev:*');
  assert.deepEqual(
    files.map((file) => file.language),
    ['Python', 'Python'],
  );
});

void test('a missing commit, and a repository without commits', async () => {
  const repo = makePlum();
  await using index = await indexOf(temporaryFolder(), repo, { branches: ['**'] });
  git(repo, 'branch', '-D', 'old');
  git(repo, 'tag', '-d', 'v1');
  git(repo, 'commit', '-q', '--amend', '--allow-empty', '-m', 'another');
  writeFiles(repo, { 'new.txt': 'plum\n' });
  git(repo, 'add', '-A');
  git(repo, 'commit', '-q', '--amend', '-m', 'another');
  git(repo, 'reflog', 'expire', '--expire=now', '--all');
  git(repo, 'gc', '-q', '--prune=now');
  const [result] = await index.index([repo], {}, 'commits');
  assert.equal(result?.error, undefined);
  assert.deepEqual(displayed(await index.search('plum')), [
    'a.txt heads/main',
    'new.txt heads/main',
  ]);
  git(repo, 'update-ref', '-d', 'refs/heads/main');
  const [empty] = await index.index([repo], {}, 'commits');
  assert.equal(empty?.error, undefined);
  assert.deepEqual(displayed(await index.search('file:. rev:*')), []);
});

/** A repository whose index has a shard that changes leave alone. */
function makeMany(more: Record<string, string> = {}): string {
  const files = Array.from({ length: 40 }, (_, i) => [`f${i}.txt`, `pear ${i}\n`]);
  return makeRepo({ ...Object.fromEntries(files), ...more });
}

void test('a new commit is in answers that stop at a limit', async () => {
  const repo = makeMany();
  await using index = await indexOf(temporaryFolder(), repo, {});
  commitFiles(repo, { 'a.txt': 'pear\n' });
  await index.index([repo], {}, 'commits');
  for (const matches of [1, 5, 30])
    assert.equal((await index.search('pear', { matches })).files[0]?.path, 'a.txt');
});

void test('a symbolic link is not an attribute file, at any time', async () => {
  const repo = makeMany();
  const rules = 'f1.txt linguist-language=Rust';
  commitFiles(repo, { '.gitattributes': rules });
  await using index = await indexOf(temporaryFolder(), repo, {});
  const languages = async (): Promise<string[]> =>
    (await index.search('lang:rust')).files.map(({ path: file }) => file);
  assert.deepEqual(await languages(), ['f1.txt']);
  const oid = git(repo, 'rev-parse', 'HEAD:.gitattributes');
  for (const [mode, expected] of [
    ['120000', []],
    ['100644', ['f1.txt']],
  ] as const) {
    git(repo, 'update-index', '--cacheinfo', `${mode},${oid},.gitattributes`);
    git(repo, 'commit', '-q', '-m', mode);
    await index.index([repo], {}, 'commits');
    assert.deepEqual(await languages(), expected, mode);
  }
});

void test('content removed from the history is removed from index files by a forced build', async () => {
  const repo = makeRepo({ 'secret.txt': 'hunter2plum\n' });
  for (let i = 0; i < 6; i++) writeFiles(repo, { [`f${i}.txt`]: `plum ${i}\n` });
  git(repo, 'add', '-A');
  git(repo, 'commit', '-q', '--amend', '-m', 'all');
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  await index.index([repo], {}, 'commits');
  git(repo, 'rm', '-q', 'secret.txt');
  git(repo, 'commit', '-q', '--amend', '-m', 'all');
  await index.index([repo], {}, 'commits');
  assert.deepEqual(displayed(await index.search('hunter2plum')), []);
  const shardsWith = (): string[] => {
    const folder = path.join(dataDir, 'shards');
    return readdirSync(folder).filter((name) =>
      readFileSync(path.join(folder, name)).includes('hunter2plum'),
    );
  };
  assert.equal(
    shardsWith().length,
    1,
    'the documents say so: it stays in the shard that it was in',
  );
  await index.instance.indexer.jobs.indexAll(index.instance.served.records, true);
  assert.deepEqual(shardsWith(), []);
});

// Reading one file for users: refs, paths, links, hidden files, languages.

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { readSource, type SourceContent } from '../../../daemon/sources/reading/source-reader.ts';
import type { SourceKind } from '../../../daemon/repos/records.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';

const OPTIONS = { sizeMax: 1000, signal: new AbortController().signal };

function read(kind: SourceKind, repo: string, file: string, ref?: string): Promise<SourceContent> {
  const defaultRevision = kind === 'commits' ? 'refs/heads/main' : 'HEAD';
  const source = { kind, path: repo };
  return readSource({ name: 'repo', source, defaultRevision }, file, ref, OPTIONS);
}

async function textOf(promise: Promise<SourceContent>): Promise<string> {
  return Buffer.from((await promise).bytes).toString();
}

/** Code for the caller that a read must end with. */
async function codeOf(promise: Promise<SourceContent>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error && 'errorCode' in error, `unexpected: ${String(error)}`);
  return String(error.errorCode);
}

/** Every source kind over the same files. */
function makeRepos(): [SourceKind, string][] {
  const repo = makeRepo({
    'a.ts': 'let a',
    'dir/new\nline.c': 'int a;',
    'dir/x': 'x',
    big: 'x'.repeat(1001),
  });
  symlinkSync('dir/x', path.join(repo, 'link'));
  symlinkSync('/etc/passwd', path.join(repo, 'outlink'));
  symlinkSync('/etc', path.join(repo, 'outdir'));
  symlinkSync('dir', path.join(repo, 'dirlink'));
  writeFileSync(Buffer.concat([Buffer.from(`${repo}/bad`), Buffer.of(0xff)]), 'raw');
  commitAll(repo);
  return (['commits', 'worktree', 'folder'] as const).map((kind) => [kind, repo]);
}

test('ids of files on disk equal those of git, with either hash', async () => {
  for (const format of ['sha1', 'sha256'] as const) {
    const repo = makeRepo({ 'a.ts': 'let a', empty: '' }, format);
    for (const name of ['a.ts', 'empty']) {
      const { blobSha } = await read('worktree', repo, name);
      assert.equal(blobSha, git(repo, 'hash-object', name));
    }
  }
});

test('the same answers from git and from disk', async () => {
  for (const [kind, repo] of makeRepos()) {
    const found = await read(kind, repo, 'a.ts');
    assert.equal(Buffer.from(found.bytes).toString(), 'let a');
    assert.equal(found.language, 'TypeScript');
    assert.equal(found.blobSha, git(repo, 'rev-parse', 'HEAD:a.ts'));
    assert.equal(await textOf(read(kind, repo, 'dir/new\nline.c', 'HEAD')), 'int a;');
    assert.equal(await textOf(read(kind, repo, 'link')), 'dir/x');
    assert.equal(await textOf(read(kind, repo, 'outlink')), '/etc/passwd');
    assert.equal(await textOf(read(kind, repo, 'bad\uFFFD')), 'raw');
    assert.equal(await codeOf(read(kind, repo, 'big')), 'UNEXPECTED_ERROR');
    const absent = [
      '',
      'a\0',
      ...'nosuch dir dir/ /a.ts ../a.ts dir/../a.ts ./a.ts dir//x bad2\uFFFD'.split(' '),
    ];
    const hidden = ['.git/config', '.git/HEAD', 'dirlink/x', 'outdir/passwd', 'a.ts/below', '*'];
    for (const name of [...absent, ...hidden])
      assert.equal(await codeOf(read(kind, repo, name)), 'FILE_NOT_FOUND', `${kind} ${name}`);
  }
});

test('refs', async () => {
  const repo = makeRepo({ a: 'one' });
  const first = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'tag', '-a', '-m', 't', 'v1');
  writeFiles(repo, { a: 'two' });
  commitAll(repo);
  writeFiles(repo, { a: 'three' });
  for (const ref of [first, first.slice(0, 8), 'v1', 'main~1', 'refs/tags/v1', 'HEAD^']) {
    assert.equal(await textOf(read('commits', repo, 'a', ref)), 'one', ref);
    assert.equal(await textOf(read('worktree', repo, 'a', ref)), 'one', ref);
    assert.equal(await codeOf(read('folder', repo, 'a', ref)), 'INVALID_GIT_REF');
  }
  assert.equal(await textOf(read('commits', repo, 'a', 'HEAD')), 'two');
  assert.equal(await textOf(read('worktree', repo, 'a', 'main')), 'two');
  for (const ref of ['HEAD', undefined])
    assert.equal(await textOf(read('worktree', repo, 'a', ref)), 'three');
  const bad = ['nosuch', 'HEAD:a', '^main', 'f'.repeat(40)];
  for (const ref of bad)
    assert.equal(await codeOf(read('commits', repo, 'a', ref)), 'INVALID_GIT_REF', ref);
  assert.equal(await codeOf(read('commits', repo, '../a', 'nosuch')), 'FILE_NOT_FOUND');
});

test('an empty repository, a submodule', async () => {
  const empty = temporaryFolder();
  git(empty, 'init', '-q', '-b', 'main');
  for (const ref of [undefined, 'main'])
    assert.equal(await codeOf(read('commits', empty, 'a', ref)), 'INVALID_GIT_REF');
  const inner = makeRepo({ a: 'a' });
  const outer = makeRepo({ b: 'b' });
  git(outer, 'submodule', '--quiet', 'add', inner, 'mod');
  commitAll(outer);
  for (const kind of ['commits', 'worktree'] as const)
    assert.equal(await codeOf(read(kind, outer, 'mod')), 'FILE_NOT_FOUND', kind);
});

test('files ignored by git stay hidden, untracked files do not', async () => {
  const repo = makeRepo({ '.gitignore': '.env\n/out/\n', 'sub/.gitignore': '!.env\n*.log\n' });
  writeFiles(repo, { '.env': 'KEY', 'out/a': 'a', new: 'n', 'sub/.env': 'e', 'sub/x.log': 'l' });
  for (const kind of ['worktree', 'folder'] as const) {
    for (const name of ['.env', 'out/a', 'sub/x.log'])
      assert.equal(await codeOf(read(kind, repo, name)), 'FILE_NOT_FOUND', `${kind} ${name}`);
    assert.equal(await textOf(read(kind, repo, 'new')), 'n');
    assert.equal(await textOf(read(kind, repo, 'sub/.env')), 'e');
  }
  rmSync(path.join(repo, 'new'));
  assert.equal(await codeOf(read('worktree', repo, 'new')), 'FILE_NOT_FOUND');
});

test('languages by attributes and by the files beside a header', async () => {
  const repo = makeRepo({
    '.gitattributes': '*.x linguist-language=Go\n',
    'sub/.gitattributes': 'a.x linguist-language=Rust\n',
    'a.x': '',
    'sub/a.x': '',
    'p/a.h': 'int a;',
    'p/a.cpp': '',
    'c/a.h': 'int a;',
  });
  for (const kind of ['commits', 'worktree', 'folder'] as const) {
    const languages: string[] = [];
    for (const name of ['a.x', 'sub/a.x', 'p/a.h', 'c/a.h'])
      languages.push((await read(kind, repo, name)).language);
    assert.deepEqual(languages, ['Go', 'Rust', 'C++', 'C'], kind);
  }
});

test('below many folders: one walk, with all attributes', async () => {
  const depth = 300;
  const folder = Array.from({ length: depth }, () => 'd').join('/');
  const repo = makeRepo({
    '.gitattributes': '*.x linguist-language=Go\n',
    [`${folder}/.gitattributes`]: 'b.x linguist-language=Rust\n',
    [`${folder}/a.x`]: 'a',
    [`${folder}/b.x`]: 'b',
  });
  for (const kind of ['commits', 'worktree', 'folder'] as const) {
    assert.equal((await read(kind, repo, `${folder}/a.x`)).language, 'Go', kind);
    assert.equal((await read(kind, repo, `${folder}/b.x`)).language, 'Rust', kind);
  }
  const gone = new AbortController();
  const source = { kind: 'commits', path: repo } as const;
  const reading = readSource(
    { name: 'repo', source, defaultRevision: 'refs/heads/main' },
    `${folder}/a.x`,
    undefined,
    { ...OPTIONS, signal: gone.signal },
  );
  gone.abort();
  await assert.rejects(reading, { name: 'AbortError' });
});

test('readers of the same file share its bytes, counted until the last one ends', async () => {
  const repo = makeRepo({ big: 'x'.repeat(100_000) });
  // A file that was changed just now cannot be told from its next version.
  await new Promise((resolve) => void setTimeout(resolve, 2200));
  for (const kind of ['commits', 'worktree', 'folder'] as const) {
    let used = 0;
    const ends: (() => void)[] = [];
    const memoryOf = (capacity: number) => ({
      tryTake(size: number) {
        if (used + size > capacity) return undefined;
        used += size;
        return { release: () => void (used -= size) };
      },
      onOver: (end: () => void) => void ends.push(end),
    });
    const open = (capacity: number): Promise<SourceContent> => {
      const defaultRevision = kind === 'commits' ? 'refs/heads/main' : 'HEAD';
      const source = { kind, path: repo };
      const options = { ...OPTIONS, sizeMax: 1_000_000, memory: memoryOf(capacity) };
      return readSource({ name: 'repo', source, defaultRevision }, 'big', undefined, options);
    };
    assert.equal(await codeOf(open(1000)), 'SERVER_OVERLOADED');
    const [one, two] = await Promise.all([open(1_000_000), open(1_000_000)]);
    assert.equal(one.blobSha, git(repo, 'rev-parse', 'HEAD:big'));
    assert.equal(one.bytes, two.bytes);
    assert.equal(used, 100_000);
    for (const end of ends) end();
    assert.equal(used, 0);
  }
});

test('a file over the memory limit is not read', async () => {
  const repo = makeRepo({ big: randomBytes(200_000).toString('base64') });
  const oid = git(repo, 'rev-parse', 'HEAD:big');
  // Its size can be told, its end is missing.
  const file = path.join(repo, '.git/objects', oid.slice(0, 2), oid.slice(2));
  chmodSync(file, 0o600);
  writeFileSync(file, readFileSync(file).subarray(0, 50_000));
  const source = { kind: 'commits', path: repo } as const;
  const record = { name: 'repo', source, defaultRevision: 'refs/heads/main' };
  const memory = { tryTake: () => undefined, onOver: () => {} };
  const options = { ...OPTIONS, sizeMax: 1_000_000, memory };
  assert.equal(await codeOf(readSource(record, 'big', undefined, options)), 'SERVER_OVERLOADED');
});

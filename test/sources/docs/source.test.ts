// One suite for the three sources: what they list and read, and when their fingerprints change. Git itself is the
// oracle for ignore rules.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { DocReader } from '../../../daemon/sources/docs/doc-reader.ts';
import { fingerprintOfSource, listSource } from '../../../daemon/sources/docs/list-source.ts';
import type { SourceFile } from '../../../daemon/sources/docs/file-list.ts';
import type { ReadFailure, SourceSpec } from '../../../daemon/sources/docs/source.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';

const FILES = {
  'a.txt': 'alpha\n',
  empty: '',
  'dir/new\nline': 'x',
  'dir/-dash': 'y',
  'dir/sub/big': Buffer.alloc(3 << 20, 'z'),
  'dir/same': 'alpha\n',
};

function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

test('files on disk have the ids of git, with either hash', async () => {
  const contents = { 'a.txt': 'alpha\n', empty: '', 'dir/raw': Buffer.from('\xff\xfe', 'latin1') };
  for (const format of ['sha1', 'sha256'] as const) {
    const repo = makeRepo(contents, format);
    symlinkSync('a.txt', path.join(repo, 'link'));
    commitAll(repo);
    const linked = path.join(temporaryFolder(), 'linked');
    git(repo, 'worktree', 'add', '-q', '--detach', linked);
    for (const root of [repo, linked]) {
      const spec = { kind: 'worktree', path: root } as const;
      const read = await readAll(spec, (await listSource(spec)).files);
      assert.deepEqual([...read.contents.keys()].sort(), ['a.txt', 'dir/raw', 'empty', 'link']);
      for (const [name, content] of read.contents)
        assert.equal(content?.oid, git(root, 'rev-parse', `HEAD:${name}`), `${format} ${name}`);
    }
  }
});

async function listPaths(spec: SourceSpec): Promise<string[]> {
  return [...(await listSource(spec)).files].map((file) => file.path);
}

async function readAll(
  spec: SourceSpec,
  listed: Iterable<SourceFile>,
): Promise<{
  contents: Map<string, { text: string; oid: string } | undefined>;
  failures: ReadFailure[];
}> {
  const files = [...listed];
  const reader = new DocReader(spec.path);
  const contents = new Map<string, { text: string; oid: string } | undefined>();
  const failures = await reader.read(files, (index, bytes, oid) => {
    const content =
      bytes === undefined ? undefined : { text: Buffer.from(bytes).toString('latin1'), oid };
    contents.set(files[index]?.path ?? '', content);
  });
  await reader.close();
  return { contents, failures };
}

/** The same files as the three kinds of source. */
function makeSources(): SourceSpec[] {
  const repo = makeRepo(FILES);
  symlinkSync('../../etc/passwd', path.join(repo, 'link'));
  symlinkSync('dir', path.join(repo, 'dirlink'));
  writeFileSync(Buffer.concat([Buffer.from(`${repo}/bad`), Buffer.of(0xfe)]), 'raw');
  const commit = commitAll(repo);
  const folder = temporaryFolder();
  cpSync(repo, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (name) => !name.includes('bad'),
  });
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.of(0xfe)]), 'raw');
  return [
    { kind: 'commits', path: repo, commit },
    { kind: 'worktree', path: repo },
    { kind: 'folder', path: folder },
  ];
}

/** From now on files that are there count as settled. */
function settle(t: TestContext): void {
  const now = Date.now.bind(Date);
  t.mock.method(Date, 'now', () => now() + 10_000);
}

test('the three sources list and read the same docs', async (t) => {
  settle(t);
  for (const spec of makeSources()) {
    const { files, excluded, fingerprint } = await listSource(spec);
    assert.deepEqual(excluded, [], spec.kind);
    assert.equal(fingerprint, await fingerprintOfSource(spec));
    const { contents, failures } = await readAll(spec, files);
    assert.deepEqual(failures, []);
    const expected = new Map(
      Object.entries({
        ...FILES,
        link: '../../etc/passwd',
        dirlink: 'dir',
        'bad\uFFFD': 'raw',
      }).map(([name, content]): [string, { text: string; oid: string }] => {
        const bytes = Buffer.from(content);
        return [name, { text: bytes.toString('latin1'), oid: blobId(bytes) }];
      }),
    );
    assert.deepEqual(
      [...files].map((file) => file.path),
      [...expected.keys()].sort(),
      spec.kind,
    );
    for (const file of files) {
      assert.deepEqual(
        contents.get(file.path),
        expected.get(file.path),
        `${spec.kind} ${file.path}`,
      );
      assert.equal(file.size, expected.get(file.path)?.text.length);
      assert.equal(file.isSymlink, file.path.endsWith('link'));
    }
  }
});

test('a repository without commits has no docs', async () => {
  const repo = temporaryFolder();
  git(repo, 'init', '-q');
  assert.deepEqual(await listPaths({ kind: 'commits', path: repo }), []);
  assert.deepEqual(await listPaths({ kind: 'worktree', path: repo }), []);
  assert.deepEqual(await readAll({ kind: 'commits', path: repo }, []), {
    contents: new Map(),
    failures: [],
  });
});

test('fingerprints follow the files', async (t) => {
  settle(t);
  const repo = makeRepo(FILES);
  for (const kind of ['worktree', 'folder'] as const) {
    const source = { kind, path: repo } as const;
    const fingerprints = new Set<string>();
    const checkNew = async (): Promise<void> => {
      const fingerprint = await fingerprintOfSource(source);
      assert.equal(fingerprint, await fingerprintOfSource(source));
      assert.ok(!fingerprints.has(fingerprint));
      fingerprints.add(fingerprint);
    };
    await checkNew();
    writeFileSync(path.join(repo, 'a.txt'), 'ALPHA\n');
    utimesSync(path.join(repo, 'a.txt'), 1, 1);
    await checkNew();
    writeFileSync(path.join(repo, 'new'), '');
    await checkNew();
    chmodSync(path.join(repo, 'new'), 0o755);
    await checkNew();
    const after = await fingerprintOfSource(source);
    rmSync(path.join(repo, 'new'));
    assert.notEqual(await fingerprintOfSource(source), after);
  }
});

test('files that may change unnoticed have a unique fingerprint', async (t) => {
  const repo = makeRepo(FILES);
  // They do not settle while this takes long.
  const now = Date.now.bind(Date);
  const clock = t.mock.method(Date, 'now', () => now() - 3_600_000);
  for (const kind of ['worktree', 'folder'] as const) {
    const source = { kind, path: repo } as const;
    const before = await fingerprintOfSource(source);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.notEqual(await fingerprintOfSource(source), before);
  }
  clock.mock.restore();
  settle(t);
  const source = { kind: 'worktree', path: repo } as const;
  assert.equal(await fingerprintOfSource(source), await fingerprintOfSource(source));
});

test('submodules, nested repositories, pipes and deleted files are not docs', async () => {
  const inner = makeRepo({ a: 'a' });
  const repo = makeRepo({ kept: '', gone: '', 'old/x': '' });
  git(repo, 'submodule', '--quiet', 'add', inner, 'mod');
  commitAll(repo);
  cpSync(inner, path.join(repo, 'nested'), { recursive: true });
  spawnSync('mkfifo', [path.join(repo, 'pipe')]);
  rmSync(path.join(repo, 'gone'));
  const { files, excluded } = await listSource({ kind: 'worktree', path: repo });
  assert.deepEqual(
    [...files].map((file) => file.path),
    ['.gitmodules', 'kept', 'old/x'],
  );
  assert.deepEqual(excluded, [
    { path: 'mod', reason: 'submodule' },
    { path: 'nested', reason: 'nested_repository' },
  ]);
  const folder = await listSource({ kind: 'folder', path: repo });
  assert.deepEqual(folder.excluded, [{ path: 'pipe', reason: 'special_file' }]);
  assert.deepEqual(
    [...folder.files].map((file) => file.path),
    ['.gitmodules', 'kept', 'mod/a', 'nested/a', 'old/x'],
  );
  const commit = git(repo, 'rev-parse', 'HEAD');
  const committed = await listSource({ kind: 'commits', path: repo, commit });
  assert.deepEqual(committed.excluded, [{ path: 'mod', reason: 'submodule' }]);
});

test('nothing is read through a folder that became a link', async () => {
  const outside = temporaryFolder();
  writeFiles(outside, { secret: 'secret', 'deep/secret': 'secret' });
  const repo = makeRepo({ 'dir/secret': 'mine', 'dir/deep/secret': 'mine', other: '' });
  const spec: SourceSpec = { kind: 'worktree', path: repo };
  const before = await listSource(spec);
  rmSync(path.join(repo, 'dir'), { recursive: true });
  symlinkSync(outside, path.join(repo, 'dir'));
  const { contents, failures } = await readAll(spec, before.files);
  assert.equal(contents.get('dir/secret'), undefined);
  assert.deepEqual(failures, [
    { path: 'dir/deep/secret', reason: 'vanished' },
    { path: 'dir/secret', reason: 'vanished' },
  ]);
  const after = await listSource(spec);
  assert.deepEqual(
    [...after.files].map((file) => file.path),
    ['dir', 'other'],
  );
  assert.deepEqual(
    after.excluded.map(({ reason }) => reason),
    ['behind_symlink', 'behind_symlink'],
  );
});

test('files that change between listing and reading', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { a: 'a', b: 'bbbb', c: 'c', d: 'd', e: 'e', f: 'f' });
  const spec: SourceSpec = { kind: 'folder', path: folder };
  const { files } = await listSource(spec);
  writeFileSync(path.join(folder, 'a'), 'A'.repeat(5_000_000));
  writeFileSync(path.join(folder, 'b'), 'B');
  for (const name of ['c', 'd', 'e']) rmSync(path.join(folder, name));
  mkdirSync(path.join(folder, 'd'));
  symlinkSync('a', path.join(folder, 'e'));
  rmSync(path.join(folder, 'f'));
  spawnSync('mkfifo', [path.join(folder, 'f')]);
  const { contents, failures } = await readAll(spec, files);
  assert.equal(contents.get('a')?.text, 'A'.repeat(5_000_000));
  assert.equal(contents.get('a')?.oid, blobId(Buffer.alloc(5_000_000, 'A')));
  assert.equal(contents.get('b')?.text, 'B');
  assert.deepEqual(
    failures,
    ['c', 'd', 'e'].map((name) => ({ path: name, reason: 'vanished' })),
  );
});

test('unreadable files are reported, and the root must be readable', async () => {
  const folder = temporaryFolder();
  await assert.rejects(listSource({ kind: 'folder', path: path.join(folder, 'no') }), /ENOENT/);
  const repo = makeRepo({ a: 'a' });
  const missing = { path: 'a', size: 1, isSymlink: false, oid: '1'.repeat(40) };
  const { contents, failures } = await readAll({ kind: 'commits', path: repo }, [missing]);
  assert.deepEqual(contents, new Map([['a', undefined]]));
  assert.deepEqual(failures, [{ path: 'a', reason: 'unreadable: object missing' }]);
});

test('unreadable files and folders are reported', { skip: process.getuid?.() === 0 }, async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'closed/a': '', secret: 's', open: 'o' });
  chmodSync(path.join(folder, 'closed'), 0);
  chmodSync(path.join(folder, 'secret'), 0);
  const spec: SourceSpec = { kind: 'folder', path: folder };
  const { files, excluded } = await listSource(spec);
  chmodSync(path.join(folder, 'closed'), 0o755);
  assert.deepEqual(excluded, [{ path: 'closed', reason: 'unreadable: EACCES' }]);
  const { failures } = await readAll(spec, files);
  assert.deepEqual(failures, [{ path: 'secret', reason: 'unreadable: EACCES' }]);
});

test('ignore rules agree with git', async () => {
  const pattern = fc
    .tuple(
      fc.constantFrom('', '!', '/', '!/'),
      fc.constantFrom(
        'x y',
        ...String.raw`a b * *.c a* [ab] **/a a/** a/b */b a/**/b \#x #x`.split(' '),
      ),
      fc.constantFrom('', '/', ' '),
    )
    .map((parts) => parts.join(''));
  const rules = fc.array(pattern, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);
  const folders = ['', 'a/', 'a/b/', 'x y/', 'x y/a/', '[ab]/'];
  await fc.assert(
    fc.asyncProperty(fc.tuple(...folders.map(() => fc.option(rules))), async (texts) => {
      const repo = temporaryFolder();
      git(repo, 'init', '-q');
      for (const [index, folder] of folders.entries()) {
        for (const name of ['a.c', 'b.d', '#x', 'q/b', 'q/a/f'])
          writeFiles(repo, { [`${folder}${name}`]: '' });
        const text = texts[index];
        if (text !== null && text !== undefined)
          writeFiles(repo, { [`${folder}.gitignore`]: text });
      }
      const [walked, listed] = await Promise.all(
        (['folder', 'worktree'] as const).map((kind) => listPaths({ kind, path: repo })),
      );
      assert.deepEqual(walked, listed);
    }),
    { numRuns: 60 },
  );
});

test('a path too long for the system is excluded with its reason', async () => {
  const root = temporaryFolder();
  // Made from within: no call takes the whole path.
  const script = 'for i in $(seq 20); do mkdir "$1" && cd "$1" || exit 1; done; echo x > end';
  const { status } = spawnSync('bash', ['-c', script, 'bash', 'd'.repeat(250)], { cwd: root });
  assert.equal(status, 0);
  const { files, excluded } = await listSource({ kind: 'folder', path: root });
  assert.equal(files.length, 0);
  assert.deepEqual(
    excluded.map(({ reason }) => reason),
    ['unreadable: ENAMETOOLONG'],
  );
  spawnSync('rm', ['-rf', root]);
});

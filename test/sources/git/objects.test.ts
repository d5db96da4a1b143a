// Listings of trees and work trees with names that are hard to parse, and bulk reading of blobs.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BlobReader } from '../../../daemon/sources/git/blob-reader.ts';
import { CatFileParser, parseObjectLine } from '../../../daemon/sources/git/cat-file-parser.ts';
import { GitError } from '../../../daemon/sources/git/git.ts';
import {
  findObjects,
  listTree,
  listWorktree,
  type TreeEntry,
} from '../../../daemon/sources/git/objects.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

const HARD_NAMES = [
  '-dash',
  '--help',
  'sp ace',
  'new\nline',
  'tab\there',
  '"quote"',
  'ünï/日本',
  'a:b',
  '*glob?[x]',
];

function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

async function readAll(repo: string, ids: readonly string[]): Promise<(Buffer | undefined)[]> {
  const reader = await BlobReader.open(repo);
  try {
    const found: (Buffer | undefined)[] = [];
    await reader.readBlobs(ids, (index, bytes) => {
      assert.equal(index, found.length);
      found.push(bytes === undefined ? undefined : Buffer.from(bytes));
    });
    return found;
  } finally {
    await reader.close();
  }
}

test('a tree with difficult names, a link, a submodule and a path that is not UTF-8', async () => {
  const inner = makeRepo({ a: 'a' });
  const repo = makeRepo(Object.fromEntries(HARD_NAMES.map((name) => [name, name])));
  git(repo, 'submodule', '--quiet', 'add', inner, 'mod');
  symlinkSync('../elsewhere', path.join(repo, 'link'));
  writeFileSync(
    Buffer.concat([Buffer.from(`${repo}/bad`), Buffer.of(0xff), Buffer.from('.c')]),
    'raw',
  );
  const commit = commitAll(repo);

  const entries: TreeEntry[] = [];
  const { submodulePaths } = await listTree(repo, commit, {}, (entry) => entries.push(entry));
  assert.deepEqual(submodulePaths, ['mod']);
  const expected = [...HARD_NAMES, '.gitmodules', 'bad\uFFFD.c', 'link'];
  assert.deepEqual(entries.map((entry) => entry.path).sort(), expected.sort());
  const raw = entries.find((entry) => entry.path.startsWith('bad'));
  assert.deepEqual(Buffer.from(raw?.rawPath ?? []), Buffer.from('bad\xff.c', 'latin1'));
  assert.ok(entries.every((entry) => entry === raw || entry.rawPath === undefined));
  const link = entries.find((entry) => entry.path === 'link');
  assert.equal(link?.isSymlink, true);

  const blobs = await readAll(
    repo,
    entries.map((entry) => entry.oid),
  );
  for (const [index, entry] of entries.entries()) {
    assert.equal(blobs[index]?.length, entry.size);
    if (HARD_NAMES.includes(entry.path)) assert.equal(blobs[index]?.toString(), entry.path);
  }
  assert.equal(
    blobs[entries.findIndex((entry) => entry.path === 'link')]?.toString(),
    '../elsewhere',
  );
});

test('a work tree lists tracked and untracked files, not ignored ones, each once', async () => {
  const repo = makeRepo({
    '.gitignore': 'out/\n*.log\n',
    'kept.log': 'tracked',
    a: 'a',
    gone: 'x',
  });
  writeFiles(repo, { 'out/b': 'b', 'x.log': 'l', 'new\nfile': 'n', 'sub/-c': 'c' });
  git(repo, 'rm', '-q', '--cached', 'gone');
  const paths = (await listWorktree(repo)).map((file) => file.path).sort();
  assert.deepEqual(paths, ['.gitignore', 'a', 'gone', 'kept.log', 'new\nfile', 'sub/-c']);
  assert.deepEqual(await listWorktree(repo, { within: ['sub'] }), [{ path: 'sub/-c' }]);
  assert.deepEqual(await listWorktree(repo, { within: ['*'] }), []);
});

test('an unmerged path is listed once', async () => {
  const repo = makeRepo({ a: 'base\n' });
  git(repo, 'checkout', '-q', '-b', 'side');
  writeFiles(repo, { a: 'side\n' });
  commitAll(repo);
  git(repo, 'checkout', '-q', 'main');
  writeFiles(repo, { a: 'main\n' });
  commitAll(repo);
  assert.throws(() => git(repo, 'merge', '-q', 'side'));
  assert.deepEqual(await listWorktree(repo), [{ path: 'a' }]);
});

test('names of objects', async () => {
  const repo = makeRepo({ 'dir/new\nline': 'x', 'dir/sp ace': 'yy' });
  git(repo, 'tag', '-a', '-m', 't', 'v1');
  const names = [
    'v1^{commit}',
    'v1:dir',
    'v1:dir/new\nline',
    'v1:dir/sp ace',
    'v1:nosuch',
    'no\nsuch',
    'v1',
  ];
  const found = await findObjects(repo, names);
  assert.deepEqual(
    found.map((info) => info?.type),
    ['commit', 'tree', 'blob', 'blob', undefined, undefined, 'tag'],
  );
  assert.equal(found[3]?.size, 2);
});

test('2,000 small blobs and a large one, loose and packed, in any order', async () => {
  const repo = temporaryFolder();
  git(repo, 'init', '-q', '-b', 'main');
  const large = randomBytes(5 << 20);
  const files: Record<string, Uint8Array> = { large, empty: Buffer.alloc(0) };
  for (let i = 0; i < 2000; i++) files[`d${i % 10}/f${i}`] = Buffer.from(`${i}\n`.repeat(i % 40));
  writeFiles(repo, files);
  commitAll(repo);
  const contents = Object.values(files).reverse();
  const ids = contents.map(blobId);
  for (const state of ['loose', 'packed']) {
    if (state === 'packed') git(repo, 'repack', '-adq');
    const found = await readAll(repo, ids);
    assert.equal(found.length, ids.length);
    for (const [index, bytes] of found.entries())
      assert.ok(bytes?.equals(contents[index] ?? Buffer.of(1)), `${state} ${index}`);
  }
});

test('the stream may have any chunks', () => {
  const objects = [
    Buffer.from('abc'),
    undefined,
    Buffer.alloc(0),
    Buffer.from('\n\n'),
    Buffer.from(`${'0'.repeat(40)} blob 3\nabc\n missing\n`),
    randomBytes(100),
  ];
  const stream = Buffer.concat(
    objects.flatMap((bytes) =>
      bytes === undefined
        ? [Buffer.from(`${'1'.repeat(40)} missing\n`)]
        : [Buffer.from(`${blobId(bytes)} blob ${bytes.length}\n`), bytes, Buffer.from('\n')],
    ),
  );
  for (const isKept of [false, true])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length })), (cuts) => {
        const views: (Buffer | undefined)[] = [];
        const found: (Buffer | undefined)[] = [];
        const parser = new CatFileParser({
          isKept,
          hasContent: () => true,
          onObject: (info, bytes) => {
            assert.equal(info?.size, bytes?.length);
            views.push(bytes);
            found.push(bytes && Buffer.from(bytes));
          },
        });
        let start = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), stream.length]) {
          const chunk = Buffer.from(stream.subarray(start, cut));
          parser.push(chunk);
          chunk.fill(0);
          start = cut;
        }
        assert.deepEqual(found, objects);
        if (isKept) assert.deepEqual(views, objects);
      }),
    );
});

test('lines without content, and objects that git does not write', () => {
  const id = '1'.repeat(40);
  const lines = [`${id} commit 12`, 'no such thing missing', `${id} ambiguous`];
  assert.deepEqual(lines.map(parseObjectLine), [
    { oid: id, type: 'commit', size: 12 },
    undefined,
    undefined,
  ]);
  for (const line of ['', id, `${id} blob x`, `${id} blob 1234567890123456`, `${id} note 1`])
    assert.throws(() => parseObjectLine(line), /bad line/, line);
});

test('missing objects and trees give undefined; the reader continues', async () => {
  const repo = makeRepo({ 'd/a': 'a' });
  const tree = git(repo, 'rev-parse', 'HEAD^{tree}');
  const found = await readAll(repo, ['1'.repeat(40), tree, blobId(Buffer.from('a'))]);
  assert.deepEqual(found, [undefined, undefined, Buffer.from('a')]);
});

test('concurrent reads are separate', async () => {
  const repo = makeRepo({ a: 'a'.repeat(70_000), b: 'b' });
  const a = blobId(Buffer.from('a'.repeat(70_000)));
  const b = blobId(Buffer.from('b'));
  const reader = await BlobReader.open(repo);
  const sizes = await Promise.all(
    [[a, b], [b], [], [a]].map(async (ids) => {
      const found: (number | undefined)[] = [];
      await reader.readBlobs(ids, (_, bytes) => found.push(bytes?.length));
      return found;
    }),
  );
  assert.deepEqual(sizes, [[70_000, 1], [1], [], [70_000]]);
  await reader.close();
});

function stop(): never {
  throw new Error('stop');
}

test('errors of the callback, bad ids, a killed and a closed reader', async () => {
  const repo = makeRepo({ a: 'a' });
  const id = blobId(Buffer.from('a'));
  const reader = await BlobReader.open(repo);
  await assert.rejects(
    reader.readBlobs(['HEAD'], () => undefined),
    /not an object id: HEAD/,
  );
  await assert.rejects(reader.readBlobs([id, id], stop), /stop/);
  await assert.rejects(
    reader.readBlobs([id], () => undefined),
    /stop/,
  );
  await reader.close();

  const aborter = new AbortController();
  const aborted = await BlobReader.open(repo, { signal: aborter.signal });
  aborter.abort();
  await assert.rejects(
    aborted.readBlobs([id], () => undefined),
    GitError,
  );
  await aborted.close();

  const closed = await BlobReader.open(repo);
  await closed.close();
  await assert.rejects(closed.readBlobs([id], () => undefined));
});

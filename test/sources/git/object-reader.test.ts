// Reading single objects: caching, refusals, and repositories that change or break meanwhile.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import {
  LargeObjectError,
  findObject,
  readBlob,
  readTree,
  rootTreeOf,
} from '../../../daemon/sources/git/object-reader.ts';
import { allowGitPaths } from '../../../daemon/sources/git/git-paths.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import { findItems } from '../../../daemon/sources/git/tree-paths.ts';
import { LostObjectError } from '../../../daemon/sources/git/git.ts';
import { commitAll, git, makeRepo, writeFiles } from './fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());

const idOf = (repo: string, name: string): string => git(repo, 'rev-parse', name);

async function textOf(repo: string, oid: string): Promise<string> {
  return (await readBlob(repo, oid, 1000, signal)).toString();
}

test('trees and blobs, and other objects', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n', 'dir/b.txt': 'pear\n', big: 'x'.repeat(1001) });
  const root = await rootTreeOf(repo, idOf(repo, 'HEAD'), signal);
  assert.equal(root, idOf(repo, 'HEAD^{tree}'));
  const tree = await readTree(repo, root, signal);
  assert.deepEqual(
    tree.items.map((item) => [item.name, item.type, tree.oidOf(item)]),
    [
      ['a.txt', 'blob', idOf(repo, 'HEAD:a.txt')],
      ['big', 'blob', idOf(repo, 'HEAD:big')],
      ['dir', 'tree', idOf(repo, 'HEAD:dir')],
    ],
  );
  assert.equal(await readTree(repo, root, signal), tree);
  assert.equal(await textOf(repo, idOf(repo, 'HEAD:a.txt')), 'plum\n');
  assert.equal((await findObject(repo, 'HEAD:dir', signal))?.type, 'tree');
  assert.equal(await findObject(repo, 'nosuch', signal), undefined);
  await assert.rejects(textOf(repo, root), LostObjectError);
  await assert.rejects(textOf(repo, '1'.repeat(40)), LostObjectError);
  await assert.rejects(readTree(repo, idOf(repo, 'HEAD:a.txt'), signal), LostObjectError);
  await assert.rejects(rootTreeOf(repo, '1'.repeat(40), signal), LostObjectError);
  await assert.rejects(
    textOf(repo, idOf(repo, 'HEAD:big')),
    (error) => error instanceof LargeObjectError && error.size === 1001,
  );
});

test('the limit applies to cached objects too; objects of another repository are not returned', async () => {
  const repo = makeRepo({ a: 'secret' });
  const other = makeRepo({ b: 'b' });
  const id = idOf(repo, 'HEAD:a');
  assert.equal(await textOf(repo, id), 'secret');
  await assert.rejects(readBlob(repo, id, 5, signal), LargeObjectError);
  await assert.rejects(textOf(other, id), LostObjectError);
});

test('packed, collected and new objects under a running process', async () => {
  const repo = makeRepo({ a: 'one' });
  await findObject(repo, 'HEAD', signal);
  writeFiles(repo, { a: 'two', b: 'b' });
  commitAll(repo);
  assert.equal(await textOf(repo, idOf(repo, 'HEAD:a')), 'two');
  git(repo, 'gc', '-q', '--prune=now');
  assert.equal(await textOf(repo, idOf(repo, 'HEAD:b')), 'b');
  writeFiles(repo, { c: 'c' });
  commitAll(repo);
  git(repo, 'repack', '-a', '-d', '-q');
  git(repo, 'prune-packed', '-q');
  assert.equal(await textOf(repo, idOf(repo, 'HEAD:c')), 'c');
  assert.equal((await findObject(repo, 'main^{commit}', signal))?.oid, idOf(repo, 'HEAD'));
});

test('objects that only a new process can see', async () => {
  const repo = makeRepo({ a: 'a' });
  const other = makeRepo({ far: 'far away' });
  allowGitPaths([other]);
  await findObject(repo, 'HEAD', signal);
  const alternates = path.join(repo, '.git/objects/info/alternates');
  writeFileSync(alternates, `${other}/.git/objects\n`);
  const id = idOf(other, 'HEAD:far');
  assert.equal(await textOf(repo, id), 'far away');
});

test('damaged and missing objects are errors, and others can still be read', async () => {
  const repo = makeRepo({ a: 'a'.repeat(100), b: 'b', c: 'c' });
  const pathOf = (name: string): string => {
    const id = idOf(repo, name);
    return path.join(repo, '.git/objects', id.slice(0, 2), id.slice(2));
  };
  const [a, b, c] = [idOf(repo, 'HEAD:a'), idOf(repo, 'HEAD:b'), idOf(repo, 'HEAD:c')];
  chmodSync(pathOf('HEAD:a'), 0o600);
  truncateSync(pathOf('HEAD:a'), 12);
  rmSync(pathOf('HEAD:b'));
  await assert.rejects(textOf(repo, a));
  await assert.rejects(textOf(repo, b), LostObjectError);
  assert.equal(await textOf(repo, c), 'c');
});

test('a truncated pack', async () => {
  const repo = makeRepo({ a: randomBytes(5000) });
  const id = idOf(repo, 'HEAD:a');
  git(repo, 'gc', '-q');
  const folder = path.join(repo, '.git/objects/pack');
  const pack = readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '';
  chmodSync(path.join(folder, pack), 0o600);
  truncateSync(path.join(folder, pack), 200);
  await assert.rejects(readBlob(repo, id, 10_000, signal));
});

test('paths in a tree', async () => {
  const repo = makeRepo({
    'a/b/c.txt': 'c',
    'a/b.txt': 'b',
    'a-b/x': 'x',
    'new\nline/"q"': 'q',
    '-dash': 'd',
    ':colon:/y': 'y',
    'ä/ö': 'o',
  });
  const bad = Buffer.concat([Buffer.from(`${repo}/bad`), Buffer.of(0xff)]);
  writeFileSync(bad, 'bad');
  commitAll(repo);
  const root = idOf(repo, 'HEAD^{tree}');
  const find = async (name: string) => (await findItems(repo, root, name, signal))[0];
  for (const name of git(repo, 'ls-tree', '-r', '-z', '--name-only', 'HEAD').split('\0')) {
    if (name === '' || name.includes('\uFFFD')) continue;
    assert.equal((await find(name))?.oid, idOf(repo, `HEAD:${name}`), name);
  }
  assert.equal((await find('bad\uFFFD'))?.type, 'blob');
  assert.deepEqual((await find('a/b'))?.type, 'tree');
  for (const name of ['', 'nosuch', 'a/', '/a', 'a//b', 'a/b.txt/x', 'a/.', 'A', '*'])
    assert.equal(await find(name), undefined, name);
});

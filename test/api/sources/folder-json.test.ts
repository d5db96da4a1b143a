// Trees as JSON: equal to JSON.stringify, at any depth.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderJson, treeJson } from '../../../daemon/api/sources/folder-json.ts';
import { withFoldersAbove } from '../../../daemon/sources/git/tree-paths.ts';
import type { FolderChild, Folders } from '../../../daemon/sources/git/tree-paths.ts';

const { signal } = new AbortController();

interface Node {
  readonly type: string;
  readonly path: string;
  readonly name: string;
  readonly children: readonly Node[];
}

/** The slow twin. */
function nodeOf(folders: Folders, open: ReadonlySet<string>, path: string, child: object): object {
  const children = open.has(path) ? (folders.get(path) ?? []) : [];
  return {
    ...child,
    children: children.map(({ name, type }) => {
      const inner = path === '' ? name : `${path}/${name}`;
      return nodeOf(folders, open, type === 'tree' ? inner : '-', { type, path: inner, name });
    }),
  };
}

test('open and closed folders, files and submodules, names that need escapes in JSON', async () => {
  const tree = (name: string): FolderChild => ({ name, type: 'tree' });
  const folders: Folders = new Map<string, readonly FolderChild[]>([
    ['', [tree('a"b'), tree('c'), { name: 'x', type: 'blob' }]],
    ['a"b', [tree('d'), { name: 'm', type: 'commit' }, { name: 'é\n', type: 'blob' }]],
    ['a"b/d', []],
    ['c', [{ name: 'y', type: 'blob' }]],
  ]);
  for (const requested of [[], ['a"b'], ['c'], ['a"b/d', 'c'], ['a"b/d']]) {
    const open = withFoldersAbove(requested);
    const json = await treeJson(folders, open, { signal, clientKey: '' });
    const root = { type: 'tree', path: '', name: 'root' };
    assert.deepEqual(JSON.parse(json), nodeOf(folders, open, '', root), requested.join());
  }
});

test('folders of any depth', async () => {
  const depth = 3000;
  const folders = new Map<string, readonly FolderChild[]>();
  let path = '';
  for (let level = 0; level < depth; level++) {
    folders.set(path, [{ name: 'd', type: 'tree' }]);
    path = path === '' ? 'd' : `${path}/d`;
  }
  folders.set(path, [{ name: 'file', type: 'blob' }]);
  const json = await treeJson(folders, withFoldersAbove([path]), { signal, clientKey: '' });
  let node = JSON.parse(json) as Node;
  for (let level = 0; level <= depth; level++) node = node.children[0]!;
  assert.deepEqual(node, { type: 'blob', path: `${path}/file`, name: 'file', children: [] });
});

test('many children are written in time slices, and not for a disconnected client', async () => {
  const children = Array.from({ length: 20 }, (_, i): FolderChild => ({
    name: `d${i}`,
    type: 'tree',
  }));
  const folders = new Map<string, readonly FolderChild[]>([['', children]]);
  for (const { name } of children)
    folders.set(
      name,
      Array.from({ length: 1000 }, (_, i) => ({ name: `f${i}`, type: 'blob' })),
    );
  const open = withFoldersAbove(children.map(({ name }) => name));
  let timeSliceCount = 0;
  const count = (): void => {
    timeSliceCount++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await treeJson(folders, open, { signal, clientKey: '' });
  clearImmediate(next);
  assert.ok(timeSliceCount >= 4, `${timeSliceCount} turns`);
  await assert.rejects(treeJson(folders, open, { signal: AbortSignal.abort(), clientKey: '' }), {
    name: 'AbortError',
  });
});

test('one folder with many children is written in time slices, once for all requests', async () => {
  const children = Array.from({ length: 100_000 }, (_, i): FolderChild => ({
    name: `f${i}`,
    type: 'blob',
  }));
  let timeSliceCount = 0;
  const count = (): void => {
    timeSliceCount++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const texts = await Promise.all(['a', 'b', 'c'].map((one) => folderJson('x', children, one)));
  clearImmediate(next);
  assert.ok(timeSliceCount >= 20 && timeSliceCount < 40, `${timeSliceCount} turns`);
  assert.equal(new Set(texts).size, 1);
  const expected = children.map(({ name, type }) => ({ type, path: `x/${name}`, name }));
  assert.equal(texts[0], JSON.stringify(expected));
});

// Which repo a source is: rules by which it keeps an existing id, and those by which it must not.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredRepo } from '../../daemon/store/repos.ts';
import {
  displaced,
  possibleRepos,
  type SourceLocation,
} from '../../daemon/index/register/which-repo.ts';

function repo(repoId: number, more: Partial<StoredRepo> = {}): StoredRepo {
  return { repoId, name: `r${repoId}`, visibility: 'private', enforcement: 'none', ...more };
}

function locationOf(path: string, fileId?: string) {
  return { kind: 'commits', path, realPath: path, ...(fileId && { fileId }) } as const;
}

function observed(path: string, fileId: string, remote?: string): SourceLocation {
  return { kind: 'worktree', path, realPath: path, fileId, remote };
}

const A = repo(1, { location: locationOf('/a', 'A') });
const B = repo(2, { location: locationOf('/b', 'B'), remote: 'host/b' });
const TWIN = repo(3, { location: locationOf('/twin', 'T'), remote: 'host/b' });

const cases: readonly [
  string,
  SourceLocation,
  readonly StoredRepo[],
  readonly string[],
  number[],
][] = [
  ['the same place, in another mode', observed('/a', 'A'), [A, B], [], [1]],
  ['moved', observed('/else/x', 'A'), [A, B], ['/a'], [1]],
  ['the same folder under two paths', observed('/mount/a', 'A'), [A, B], [], [1]],
  ['made anew at its path', observed('/b', 'new', 'host/b'), [A, B], [], [2]],
  ['made anew without git', observed('/a', 'new'), [A, B], [], [1]],
  ['its remote renamed', observed('/b', 'B', 'host/other'), [A, B], [], [2]],
  ['cloned elsewhere, the old one gone', observed('/c', 'new', 'host/b'), [A, B], ['/b'], [2]],
  ['a second clone', observed('/c', 'new', 'host/b'), [A, B], [], []],
  ['another repository at its path', observed('/b', 'new', 'host/evil'), [A, B], [], []],
  ['a repository where a folder was', observed('/a', 'new', 'host/b'), [A, B], [], []],
  ['a copy without remote', observed('/c', 'new'), [A, B], ['/a', '/b'], []],
  ['moved onto the path of another', observed('/a', 'B'), [A, B], ['/b'], [1, 2]],
  ['two that are gone', observed('/c', 'new', 'host/b'), [B, TWIN], ['/b', '/twin'], [2, 3]],
  [
    'never looked at',
    observed('/z', 'Z', 'host/z'),
    [repo(9, { location: locationOf('/z') })],
    [],
    [9],
  ],
  [
    'another is in its place',
    observed('/q', 'Q', 'host/b'),
    [repo(2, { remote: 'host/b' })],
    [],
    [2],
  ],
];

for (const [name, source, repos, gone, expected] of cases)
  void test(name, () => {
    const found = possibleRepos(repos, source, (path) => gone.includes(path));
    assert.deepEqual(
      found.map(({ repoId }) => repoId),
      expected,
    );
  });

void test('a symbolic link with a new target is still the given path', () => {
  const location = { kind: 'commits', path: '/current', realPath: '/v1', fileId: 'V1' } as const;
  const existing = repo(5, { location });
  const now = { ...observed('/current', 'V2'), realPath: '/v2' };
  assert.deepEqual(
    possibleRepos([existing], now, () => false),
    [existing],
  );
});

void test('a repo moved to the location of another one is not mistaken for it', () => {
  const made = repo(7);
  const [lost, ...others] = displaced([A, B, made], made, observed('/a', 'new'));
  assert.equal(lost?.repoId, 1);
  assert.equal(lost.location, undefined);
  assert.deepEqual(others, []);
});

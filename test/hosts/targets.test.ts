// Listings over several targets, with invented targets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostError, type HostRepo, type ListingPage } from '../../daemon/hosts/host.ts';
import { listTargets, onePage, type Target } from '../../daemon/hosts/targets.ts';
import { collect, SIGNAL } from './opened.ts';

function repoOf(hostId: string): HostRepo {
  return {
    hostId,
    path: `owner/${hostId}`,
    cloneUrl: `https://git.example.com/owner/${hostId}`,
    isFork: false,
    isArchived: false,
    visibility: 'private',
    topics: [],
  };
}

/** A target with pages of these ids. */
function targetOf(name: string, pages: readonly (readonly string[])[]): Target {
  return {
    name,
    async *pages() {
      for (const page of pages) yield page.map((hostId) => ({ hostId, repo: repoOf(hostId) }));
    },
  };
}

function failing(name: string, code: string): Target {
  return {
    name,
    pages: () => onePage(() => Promise.reject(new HostError(code, `${name}: ${code}`))),
  };
}

const list = (targets: readonly Target[]): Promise<ListingPage[]> =>
  collect(listTargets({ targets, issues: [] }, SIGNAL));
const idsOf = (pages: readonly ListingPage[]): string[] =>
  pages.flatMap(({ repos }) => repos.map(({ hostId }) => hostId));
const codesOf = (pages: readonly ListingPage[]): string[] =>
  pages.flatMap(({ issues }) => issues.map(({ code, target }) => `${code} ${target}`));

test('repositories in two targets are listed once, excluded ones never', async () => {
  const half: Target = {
    name: 'c',
    pages: () => onePage(async () => [{ hostId: '9', repo: undefined }]),
  };
  const pages = await list([
    targetOf('a', [['1', '2'], ['3']]),
    half,
    targetOf('b', [['2', '4', '9']]),
  ]);
  assert.deepEqual(idsOf(pages), ['1', '2', '3', '4']);
});

test('a page names its target, and repositories already listed by another target', async () => {
  const pages = await list([targetOf('a', [['1', '2'], []]), targetOf('b', [['2', '3']])]);
  assert.deepEqual(
    pages.map(({ target }) => [
      target!.name,
      target!.listedCount,
      target!.again.map(({ hostId }) => hostId),
    ]),
    [
      ['a', 2, []],
      ['a', 0, []],
      ['b', 2, ['2']],
    ],
  );
});

test('a missing organization is a page of its own', async () => {
  const pages = await collect(listTargets({ targets: [], issues: [], foundCount: 0 }, SIGNAL));
  const target = { name: 'all', listedCount: 0, again: [] };
  assert.deepEqual(pages, [{ repos: [], issues: [], target }]);
});

test('a connection without targets has one empty page', async () => {
  assert.deepEqual(await list([]), [{ repos: [], issues: [] }]);
});

test('invalid targets are reported first, once', async () => {
  const issue = { code: 'X', target: 'all', effect: 'DISCOVERY_INCOMPLETE', message: 'm' } as const;
  const targets = { targets: [targetOf('a', [['1']])], issues: [issue] };
  const pages = await collect(listTargets(targets, SIGNAL));
  assert.deepEqual(codesOf(pages), ['X all']);
  assert.deepEqual(idsOf(pages), ['1']);
});

test('a host that does not answer for three targets in a row is not asked for the rest', async () => {
  for (const code of ['HOST_UNAVAILABLE', 'RATE_LIMITED']) {
    const down = ['a', 'b', 'c', 'd'].map((name) => failing(name, code));
    await assert.rejects(list(down), (error) => error instanceof HostError && error.code === code);
    const between = [down[0]!, down[1]!, targetOf('ok', [['1']]), down[2]!, down[3]!];
    assert.deepEqual(idsOf(await list(between)), ['1']);
    assert.equal(codesOf(await list(between)).length, 4);
  }
  const refused = ['a', 'b', 'c', 'd'].map((name) => failing(name, 'NOT_ALLOWED'));
  assert.equal(codesOf(await list(refused)).length, 4);
});

test('an error that only the operator can fix ends the listing', async () => {
  for (const code of ['NO_SECRET', 'CERTIFICATE_REFUSED'])
    await assert.rejects(list([failing('a', code), targetOf('b', [['1']])]), { code });
  const refused = failing('a', 'NOT_AUTHENTICATED');
  for (const count of [1, 2, 3])
    await assert.rejects(list(Array.from({ length: count }, () => refused)), {
      code: 'NOT_AUTHENTICATED',
    });
});

test('a credential that one target refuses and others take does not end the listing', async () => {
  const [ok, refused] = [targetOf('ok', [['1']]), failing('a', 'NOT_AUTHENTICATED')];
  for (const targets of [
    [ok, refused],
    [refused, ok],
  ]) {
    const pages = await list(targets);
    assert.deepEqual([idsOf(pages), codesOf(pages)], [['1'], ['NOT_AUTHENTICATED a']]);
  }
  await assert.rejects(list([ok, refused, refused, refused]), { code: 'NOT_AUTHENTICATED' });
});

test('a missing single repository is gone; a missing owner is unknown', async () => {
  const one = { ...failing('repos: a/b', 'NOT_FOUND'), isRepo: true };
  const pages = await list([one, failing('projects: a/b', 'NOT_FOUND')]);
  assert.deepEqual(
    pages.flatMap(({ issues }) => issues.map(({ effect }) => effect)),
    ['TARGET_SKIPPED', 'DISCOVERY_INCOMPLETE'],
  );
});

test('some empty pages in a row are skipped; a repeated page ends its target', async () => {
  const pagesOf = (idle: number): string[][] => [
    ['1'],
    ...Array.from({ length: idle }, () => []),
    ['2'],
  ];
  assert.deepEqual(idsOf(await list([targetOf('a', pagesOf(19))])), ['1', '2']);
  const pages = await list([targetOf('a', pagesOf(20)), targetOf('b', [['3']])]);
  assert.deepEqual(idsOf(pages), ['1', '3']);
  assert.deepEqual(codesOf(pages), ['HOST_ANSWER_INVALID a']);
  for (const repeated of [
    ['1', '2'],
    ['2', '3'],
  ]) {
    const target = targetOf('a', [['1', '2'], ['3'], repeated]);
    assert.deepEqual(codesOf(await list([target])), ['HOST_ANSWER_INVALID a']);
  }
});

test('a path that leads out of its folder is invalid', async () => {
  const at = (name: string, repoPath: string): Target => ({
    name,
    pages: () => onePage(async () => [{ hostId: '1', repo: { ...repoOf('1'), path: repoPath } }]),
  });
  const outside = ['', 'a\\b', 'a\0b', 'a\nb', ...'.. . a/../b a//b /a a/'.split(' ')];
  for (const id of outside) {
    assert.deepEqual(
      codesOf(await list([at('bad', id)])),
      ['HOST_ANSWER_INVALID bad'],
      JSON.stringify(id),
    );
  }
  for (const id of ['a', 'A b/ö', '~ann/x', '.github', 'a/..b', 'a/...', '{x}/[y]']) {
    assert.deepEqual(idsOf(await list([at('good', id)])), ['1'], id);
  }
});

test('a path that is too long is refused with its limit', async () => {
  const of = async (repoPath: string) => {
    const repo = { ...repoOf('1'), path: repoPath };
    const [page] = await list([
      { name: 'a', pages: () => onePage(async () => [{ hostId: '1', repo }]) },
    ]);
    return page!.issues.map(({ code, message }) => `${code} ${message}`).join();
  };
  assert.equal(await of('\u9577'.repeat(666)), '');
  const issue = await of('\u9577'.repeat(700));
  assert.match(issue, /^HOST_ANSWER_INVALID .*more than 2000 bytes: "\u9577{100}…".*rename/);
});

test('an error not caused by the host is thrown', async () => {
  const broken: Target = {
    name: 'a',
    pages: () => onePage(() => Promise.reject(new TypeError('ours'))),
  };
  await assert.rejects(list([broken]), TypeError);
});

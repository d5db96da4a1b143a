// The addresses of pages: the daemon and the client's router have the same.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { blobPageUrl } from '../../daemon/repos/links.ts';
import { addressOf, targetOf } from '../../daemon/web/browse/address.ts';
import { linkedPath } from '../../daemon/web/browse/file-kind.ts';
import { atLines } from '../../daemon/web/code/line-range.ts';
import { SEED } from '../seed.ts';
import { PAGES } from '../../daemon/api/page/page-endpoints.ts';

test('the pages served by the daemon are those of the client', () => {
  const routes = readFileSync('daemon/web/shell/routes.tsx', 'utf8');
  // What holds newlines too is written as an expression.
  const written = routes.replace(String.raw`/^\/browse\/[^]*$/`, `'/browse/*'`);
  const documented = [...written.matchAll(/\{ path: '([^']+)', page:/g)].flatMap(([, path = '']) =>
    path.endsWith('/:section?')
      ? [path.replace('/:section?', ''), path.replace(':section?', '{section}')]
      : [path.replace('*', '*rest')],
  );
  assert.deepEqual(documented.toSorted(), PAGES.toSorted());
});

test('an address of a file maps back to its repository, revision and path, for any names', () => {
  const segment = fc.constantFrom('-', 'a', 'blob', 'tree', '...', 'x@y', '%2D', 'a-', '?#+ ', 'ü');
  const names = fc
    .array(segment, { minLength: 1, maxLength: 4 })
    .map((segments) => segments.join('/'));
  fc.assert(
    fc.property(names, fc.option(names, { nil: undefined }), names, (repo, revision, path) => {
      const target = { repo, revision, kind: 'blob', path } as const;
      const written = [
        addressOf(target),
        new URL(blobPageUrl('https://h', repo, revision, path)).pathname,
      ];
      for (const address of written)
        assert.deepEqual(targetOf(address.replace('/browse/', '')), target, address);
    }),
    { seed: SEED },
  );
});

test('the target of a symbolic link, within its repository', () => {
  for (const [path, text, target] of [
    ['README.md', 'doc/a.md', 'doc/a.md'],
    ['a/b/README.md', '../../README.md', 'README.md'],
    ['a/README.md', './/x/../y', 'a/y'],
    ['README.md', '../outside', undefined],
    ['README.md', '/etc/passwd', undefined],
    ['README.md', 'README.md', undefined],
    ['README.md', '.', undefined],
    ['README.md', '', undefined],
    ['README.md', 'doc/a.md\n', undefined],
  ] as const)
    assert.equal(linkedPath(path, text), target, `${path} -> ${text}`);
});

test('the address of a file at its host has the lines in the format of that host', () => {
  const of = (type: string, from: number, to: number): string => atLines('H', type, { from, to });
  assert.deepEqual(
    [
      'github',
      'gitea',
      'gitlab',
      'bitbucketCloud',
      'bitbucketServer',
      'gerrit',
      'genericGitHost',
    ].map((type) => of(type, 5, 7)),
    ['H#L5-L7', 'H#L5-L7', 'H#L5-7', 'H#lines-5:7', 'H#5-7', 'H#5', 'H'],
  );
  assert.deepEqual([of('github', 5, 5), of('gitlab', 5, 5)], ['H#L5', 'H#L5']);
  assert.match(of('azuredevops', 5, 7), /^H&line=5&lineEnd=8&/);
  assert.equal(atLines('H', 'github'), 'H');
});

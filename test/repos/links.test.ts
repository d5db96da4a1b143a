// Links to files at code hosts, depending on the kind of ref.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { externalFileUrl } from '../../daemon/repos/links.ts';
import type { CodeHostType } from '../../daemon/repos/records.ts';

test('the link to a file says whether its ref is a branch, a tag or a commit, where the host needs it', () => {
  const commit = 'a'.repeat(40);
  const of = (codeHostType: CodeHostType, ref: string): string | undefined =>
    externalFileUrl({ codeHostType, webUrl: 'https://h/r' }, ref, 'a b/c.ts');
  const pages = ['refs/heads/x/y', 'refs/tags/v#1', commit].map((ref) => [
    of('gitea', ref),
    of('azuredevops', ref),
  ]);
  assert.deepEqual(pages, [
    ['https://h/r/src/branch/x/y/a%20b/c.ts', 'https://h/r?path=/a%20b/c.ts&version=GBx/y'],
    ['https://h/r/src/tag/v%231/a%20b/c.ts', 'https://h/r?path=/a%20b/c.ts&version=GTv%231'],
    [
      `https://h/r/src/commit/${commit}/a%20b/c.ts`,
      `https://h/r?path=/a%20b/c.ts&version=GC${commit}`,
    ],
  ]);
  assert.equal(of('gerrit', 'refs/heads/main'), 'https://h/r/+/main/a%20b/c.ts');
  assert.equal(of('genericGitHost', 'refs/heads/main'), undefined);
});

// Files that no search finds by their content: when the page says so, and when it says that an answer is all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOfNames, type Repo, unsearchedOf } from '../../daemon/web/search/unsearched.ts';

const searchFor = (query: string) => ({
  query,
  matches: 100,
  contextLines: 0,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
});

function repo(repoName: string, docs: number, tooLarge = 0): Repo {
  return { repoName, docs, skipped: tooLarge === 0 ? {} : { too_large: tooLarge } };
}

void test('what stands in the names of all repositories that a query leaves in', () => {
  for (const [query, part] of [
    ['plum', ''],
    [String.raw`plum repo:^github\.com/acme/web$`, 'github.com/acme/web'],
    ['plum r:acme/web', 'acme/web'],
    ['plum -repo:acme', ''],
    ['plum repo:acme|web', ''],
    [String.raw`plum repo:\w+/web`, ''],
  ] as const)
    assert.equal(partOfNames(searchFor(query)), part, query);
});

void test('files that are too large are counted, or nothing is said', () => {
  const [web, api] = [repo('acme/web', 10, 2), repo('acme/api', 5)];
  const all = { items: [web, api], total: 2 };
  const unknown = { unsearched: undefined, isAll: false };
  const none = { unsearched: undefined, isAll: true };
  const some = { unsearched: { count: 2, repo: 'acme/web' }, isAll: false };
  assert.deepEqual(unsearchedOf(searchFor('plum'), all, 15), some);
  assert.deepEqual(unsearchedOf(searchFor('plum repo:web'), { items: [web], total: 1 }, 10), some);
  assert.deepEqual(unsearchedOf(searchFor('plum -repo:web'), all, 5), none);
  // Other files were searched than those that are known, or more repositories.
  assert.deepEqual(unsearchedOf(searchFor('plum rev:old'), all, 14), unknown);
  assert.deepEqual(unsearchedOf(searchFor('plum'), { items: [web, api], total: 300 }, 15), unknown);
  assert.deepEqual(unsearchedOf(searchFor('plum rev:old'), { items: [api], total: 1 }, 4), none);
});

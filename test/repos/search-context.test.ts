// Which repositories are in a search context: cases, and random contexts against the rules of the contract.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contextSchema } from '../../daemon/base/config/file-schema.ts';
import { reposOfContext } from '../../daemon/repos/search-context.ts';

const REPOS = [
  { name: 'github.com/acme/web-shop', connections: ['acme'], topics: ['Frontend', 'shop'] },
  { name: 'github.com/acme/web-old', connections: ['acme', 'all'], topics: [] },
  { name: 'github.com/acme/.github', connections: ['acme'], topics: ['meta'] },
  { name: 'git.example.com:8443/lab/deep/tool', connections: ['lab'], topics: ['frontend'] },
  { name: 'local/tools', connections: [], topics: [] },
];

function names(context: object): string {
  const found = reposOfContext(contextSchema.parse(context), REPOS);
  return found.map(({ name }) => name.split('/').at(-1)).join(' ');
}

void test('includes by name, connection and topic; an exclude overrides them', () => {
  const all = 'web-shop web-old .github tool tools';
  assert.equal(names({ include: ['**'] }), all);
  assert.equal(names({ include: ['*'] }), '', 'a star stops at slashes');
  assert.equal(names({ include: ['github.com/*/{web-*,.g*}'] }), 'web-shop web-old .github');
  assert.equal(names({ include: ['git.example.com:8443/**', 'local/too?s'] }), 'tool tools');
  assert.equal(names({ include: ['**/[a-t]*'] }), 'tool tools');
  assert.equal(names({ include: ['!local/tools'] }), '', 'a ! has no meaning');
  assert.equal(names({ include: ['**/WEB-shop'] }), '', 'case counts in names');
  assert.equal(names({ includeConnections: ['acme'] }), 'web-shop web-old .github');
  assert.equal(names({ includeTopics: ['FRONTEND'] }), 'web-shop tool');
  assert.equal(names({ includeTopics: ['meta'], include: ['local/*'] }), '.github tools');
  assert.equal(names({ include: ['**'], exclude: ['**/*-old'] }), 'web-shop .github tool tools');
  assert.equal(
    names({ include: ['**'], excludeConnections: ['all', 'lab'] }),
    'web-shop .github tools',
  );
  assert.equal(names({ include: ['**'], excludeTopics: ['fRontend', 'meta'] }), 'web-old tools');
  assert.equal(names({ includeConnections: ['nosuch'] }), '');
});

const word = fc.constantFrom('a', 'b', 'c');
const locations = fc.uniqueArray(word);
const repo = fc.record({
  name: fc.tuple(word, word).map((parts) => parts.join('/')),
  connections: locations,
  topics: locations,
});

void test('random contexts contain what an include names and no exclude does', () => {
  const globs = fc.array(
    fc.tuple(fc.oneof(word, fc.constant('*')), fc.oneof(word, fc.constant('*'))),
  );
  const lists = fc.record({
    include: globs,
    exclude: globs,
    includeConnections: locations,
    excludeConnections: locations,
    includeTopics: locations.map((topics) => topics.map((topic) => topic.toUpperCase())),
    excludeTopics: locations,
  });
  fc.assert(
    fc.property(lists, fc.array(repo), (lists, repos) => {
      const fits = (parts: readonly string[], name: string): boolean =>
        name.split('/').every((part, i) => parts[i] === '*' || parts[i] === part);
      const expected = repos.filter(({ name, connections, topics }) => {
        const isIn =
          lists.include.some((parts) => fits(parts, name)) ||
          connections.some((one) => lists.includeConnections.includes(one)) ||
          topics.some((one) => lists.includeTopics.includes(one.toUpperCase()));
        const isOut =
          lists.exclude.some((parts) => fits(parts, name)) ||
          connections.some((one) => lists.excludeConnections.includes(one)) ||
          topics.some((one) => lists.excludeTopics.includes(one));
        return isIn && !isOut;
      });
      const context = {
        ...lists,
        include: lists.include.map((parts) => parts.join('/')),
        exclude: lists.exclude.map((parts) => parts.join('/')),
      };
      assert.deepEqual(reposOfContext(context, repos), expected);
    }),
  );
});

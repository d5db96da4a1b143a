// The canonical text of the plans of queries.

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import { printPlan } from '../../../daemon/engine/query/print-plan.ts';
import { repoRecord } from '../host/harness.ts';
import { planQuery } from './at-once.ts';

const raw = String.raw;
const REPOS = ['host/one', 'host/two', 'other/three'].map((name, i) => repoRecord(i + 1, name));

function planOf(query: string, needsDocSets = false): string {
  const plan = planQuery(parseQuery(query, { isRegexEnabled: true }), {
    repos: () => REPOS,
    needsDocSets,
    testNames: (_, names) => names.map((name) => name.includes('t')),
  });
  return printPlan(plan);
}

const PLANS: readonly (readonly [query: string, plan: string])[] = [
  ['foo bar or "a b"', 'or(and(content:"foo", content:"bar"), content:"a b")'],
  ['colou?r', 'or(content:"colour", content:"color")'],
  ['foo|foobar', 'regex:/foo|foobar/'],
  ['foo.*bar -content:baz', 'and(regex:/foo.*bar/, not(content:"baz"))'],
  [raw`file:^src/ -file:\.(c|h)$`, 'and(file:^"src/", not(or(file:".c"$, file:".h"$)))'],
  [raw`file:[a-z]+\.go$`, raw`file:/[a-z]+\.go$/`],
  ['file:.* foo', 'and(file:/.*/, content:"foo")'],
  ['file:^$ foo', 'and(file:/^$/, content:"foo")'],
  [raw`sym:\bopen sym:^o.*n$`, raw`and(sym:/\bopen/, sym:/^o.*n$/)`],
  ['lang:go lang:c++', 'and(lang:"Go", lang:"C++")'],
  ['lang:nosuch foo', 'NONE'],
  ['foo or -()', 'or(ALL, content:"foo")'],
  ['-(foo or -())', 'NONE'],
  ['-() lang:go', 'lang:"Go"'],
  ['repo:host foo', 'and(repo in 2, content:"foo")'],
  ['foo repo:^host/ lang:go repo:one', 'and(content:"foo", repo in 1, lang:"Go")'],
  ['repo:host/.*t foo', 'content:"foo"'],
  ['-repo:one foo', 'and(not(repo in 1), content:"foo")'],
  ['repo:host repo:other foo', 'NONE'],
  ['reposet:host/two,host/none', 'repo in 1'],
  ['archived:only foo', 'NONE'],
  ['visibility:any foo', 'content:"foo"'],
  ['foo rev:next', 'and(rev:"next", content:"foo")'],
];

for (const [query, plan] of PLANS)
  test(`plan of ${query}`, () => assert.equal(planOf(query), plan));

test('in repos with several revisions, queries without one use the default ones', () => {
  assert.equal(planOf('foo', true), 'and(rev:"HEAD", content:"foo")');
  assert.equal(planOf('foo -rev:next', true), 'and(rev:"*", and(content:"foo", not(rev:"next")))');
});

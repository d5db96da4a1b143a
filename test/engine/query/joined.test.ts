// A query joined with a filter is the query and the filter, whatever parentheses and quotation marks it has.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { bothOf } from '../../../daemon/engine/query/filter.ts';
import { joined } from '../../../daemon/engine/query/joined.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import { printQuery } from '../../../daemon/engine/query/print.ts';
import { SEED } from '../../seed.ts';

const PIECES =
  String.raw`a|or|(|)|-|"|\| |b(|)c|(d)|content:|file:|lang:|"x (y"|\(|[(]|sym:|rev:|e"f(|\"`.split(
    '|',
  );

test('a query joined with a filter is the query and the filter', () => {
  for (const isRegexEnabled of [false, true]) {
    let count = 0;
    let refusedCount = 0;
    const read = (text: string) => parseQuery(text, { isRegexEnabled });
    const filter = read('lang:Go');
    const check = (query: string): void => {
      let tree;
      try {
        tree = read(query);
      } catch {
        return;
      }
      const [before, after] = [true, false].map((isFirst) =>
        joined(query, 'lang:Go', isRegexEnabled, isFirst),
      );
      count++;
      refusedCount += Number(before === undefined || after === undefined);
      if (before !== undefined)
        assert.equal(printQuery(read(before)), printQuery(bothOf(filter, tree)));
      if (after !== undefined)
        assert.equal(printQuery(read(after)), printQuery(bothOf(tree, filter)));
    };
    const pieces = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 9 });
    const query = fc.tuple(pieces, fc.constantFrom('', ' ')).map(([all, gap]) => all.join(gap));
    fc.assert(fc.property(query, check), { seed: SEED, numRuns: 5_000 });
    assert.ok(count > 500, `${count} queries`);
    assert.ok(refusedCount < count / 10, `${refusedCount} of ${count} are refused`);
  }
});

test('a query is grouped, and its words quoted, only where that is needed', () => {
  for (const [query, whole] of [
    ['a b', 'a b lang:Go'],
    ['a or b ', '(a or b) lang:Go'],
    ['foo( or K', '("foo(" or K) lang:Go'],
    ['a or b)', '(a or "b)") lang:Go'],
    [String.raw`a\"b( or c`, String.raw`("a\"b(" or c) lang:Go`],
    ['(a or b) c', '(a or b) c lang:Go'],
    ['(a or b) or c', '((a or b) or c) lang:Go'],
    ['foo(', 'foo( lang:Go'],
  ] as const)
    assert.equal(joined(query, 'lang:Go', false), whole, query);
});

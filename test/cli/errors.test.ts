// What is shown of failures: the caret under the culprit of a bad query.

import assert from 'node:assert/strict';
import test from 'node:test';
import { RequestError, describeError, pointAt } from '../../daemon/cli/errors.ts';

const CARETS: readonly (readonly [query: string, position: number, displayed: string])[] = [
  ['foo or or bar', 7, '  foo or or bar\n         ^'],
  ['', 0, '  \n  ^'],
  ['foo file:', 9, '  foo file:\n           ^'],
  ['x', 99, '  x\n   ^'],
  ['äö𝒳 (', 4, '  äö𝒳 (\n      ^'],
  ['a\tb(', 3, '  a b(\n     ^'],
  ['one\ntwo (\nthree', 8, '  two (\n      ^'],
  ['a\u001b(', 2, '  a\\x1b(\n       ^'],
];

for (const [query, position, displayed] of CARETS) {
  void test(`caret: ${JSON.stringify(query)} at ${String(position)}`, () => {
    assert.equal(pointAt(query, position), displayed);
  });
}

void test('a syntax error points at its culprit, other refusals do not', () => {
  const syntax = new RequestError({
    statusCode: 400,
    errorCode: 'FAILED_TO_PARSE_QUERY',
    message: 'two operators at position 2',
  });
  assert.equal(describeError(syntax, 'a or'), 'error: two operators at position 2\n  a or\n    ^');
  assert.equal(describeError(syntax), 'error: two operators at position 2');
  const other = new RequestError({
    statusCode: 500,
    errorCode: 'UNEXPECTED_ERROR',
    message: 'failed at position 2',
  });
  assert.equal(describeError(other, 'a or'), 'error: failed at position 2');
});

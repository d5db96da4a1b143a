// Colours of lines that are drawn without the rest of their file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Parser } from '@lezer/common';
import { coloursOf } from '../../daemon/web/code/highlighter.ts';
import { parserOf } from '../../daemon/web/code/languages.ts';

async function parserFor(language: string): Promise<Parser> {
  const parser = await parserOf(language);
  assert.ok(parser);
  return parser;
}

/** Which lines are comments from end to end. */
function comments(parser: Parser, lines: readonly string[]): boolean[] {
  return coloursOf(parser, lines).map((colours, index) =>
    colours.some(
      ({ from, to, name }) => name === 'code-comment' && from === 0 && to === lines[index]?.length,
    ),
  );
}

test('lines that begin inside a comment are of that comment', async () => {
  const c = await parserFor('C');
  const lines = [' * the size of this, or', ' * what is with it', ' */', 'int size(void);'];
  assert.deepEqual(comments(c, lines), [true, true, true, false]);
  assert.deepEqual(comments(c, lines.slice(0, 2)), [true, true]);
  const plain = ['   which is for if and else', '   */', 'int size(void) { return 1; }'];
  assert.deepEqual(comments(c, plain), [true, true, false]);
  const html = await parserFor('HTML');
  assert.deepEqual(comments(html, ['a <b> is', '-->', '<p>text</p>']), [true, true, false]);
});

test('lines that begin outside of one are not', async () => {
  const script = await parserFor('TypeScript');
  assert.deepEqual(comments(script, ["const all = '**/*.ts';", 'const one = 1;']), [false, false]);
  assert.deepEqual(comments(script, ['const all = /a*/;', 'const one = 1;']), [false, false]);
  const c = await parserFor('C');
  assert.deepEqual(comments(c, ['*at = 1;', 'int b; /* c */']), [false, false]);
  const python = await parserFor('Python');
  assert.deepEqual(comments(python, ['a = b', '"*/"']), [false, false]);
});

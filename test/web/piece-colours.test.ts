// Colours of lines that are drawn without the rest of their file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Parser } from '@lezer/common';
import { coloursOf } from '../../daemon/web/code/fragment-colours.ts';
import { parserOf, fragmentParserOf } from '../../daemon/web/code/languages.ts';

async function parserFor(language: string): Promise<Parser> {
  const parser = await parserOf(language);
  assert.ok(parser);
  return parser;
}

/** Which lines are, from their first character to their last, comments, or strings. */
function whole(kind: 'comment' | 'string', parser: Parser, lines: readonly string[]): boolean[] {
  return coloursOf(parser, lines).map((colours, index) => {
    const of = colours.filter(({ name }) => name === `code-${kind}`);
    const covered = of.reduce((sum, { from, to }) => sum + to - from, 0);
    return covered > 0 && covered >= (lines[index]?.trim().length ?? 0);
  });
}

const comments = (parser: Parser, lines: readonly string[]) => whole('comment', parser, lines);
const strings = (parser: Parser, lines: readonly string[]) => whole('string', parser, lines);

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

test('lines that begin inside a string are of that string', async () => {
  const python = await parserFor('Python');
  const lines = ['    Returns the size, or none.', '', '    """', '    return size(path)'];
  assert.deepEqual(strings(python, lines), [true, false, true, false]);
  assert.deepEqual(strings(python, lines.slice(0, 1)), [true]);
  assert.deepEqual(strings(python, lines.slice(2)), [true, false]);
  assert.deepEqual(strings(python, ['    of it."""', '    x = 1']), [true, false]);
  const script = await parserFor('TypeScript');
  assert.deepEqual(strings(script, ['  <p>two words</p>', '`;', 'const one = 1;']), [
    true,
    false,
    false,
  ]);
  const go = await parserFor('Go');
  assert.deepEqual(strings(go, ['the name of a file', '`)', 'x := 1']), [true, false, false]);
});

test('lines that begin a string, or hold a quote in something else, are not', async () => {
  const python = await parserFor('Python');
  assert.deepEqual(strings(python, ['def size(path):', '    """Returns the size,']), [false, true]);
  assert.deepEqual(strings(python, ['    a: int,', ') -> int:', '    """Returns two words."""']), [
    false,
    false,
    true,
  ]);
  const script = await parserFor('TypeScript');
  const documented = ['  readonly end: number;', '}', '', '/** Result of `run`, or none. */'];
  assert.deepEqual(strings(script, documented), [false, false, false, false]);
  assert.deepEqual(strings(script, ['  ask(`one two`, 2);', '}']), [false, false]);
});

test('comments of a language whose parser knows no faults', async () => {
  const kotlin = await parserFor('Kotlin');
  assert.deepEqual(comments(kotlin, [' * the size', ' */', 'fun size() = 1']), [true, true, false]);
  assert.deepEqual(comments(kotlin, ['  at the end', '  */', 'fun size() = 1']), [
    true,
    true,
    false,
  ]);
  assert.deepEqual(comments(kotlin, ['val all = "**/*.kt"', 'val b = 1']), [false, false]);
});

test('a piece of a PHP file is code without the tag that begins it', async () => {
  const lines = ['function size($path) {', '  /* none */', '}'];
  const php = await fragmentParserOf('PHP', lines);
  assert.ok(php);
  assert.deepEqual(comments(php, lines), [false, true, false]);
  assert.ok(coloursOf(php, lines)[0]?.some(({ name }) => name === 'code-keyword'));
});

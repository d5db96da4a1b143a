// Colours of lines that are rendered without the rest of their file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coloursOf } from '../../daemon/web/code/fragment-colours.ts';
import { fragmentParserOf, parserOf } from '../../daemon/web/code/languages.ts';

type Row = readonly [language: string, lines: readonly string[], whole: readonly boolean[]];

/** Which lines are, from their first character to their last, comments or strings. */
async function check(kind: 'comment' | 'string', rows: readonly Row[]): Promise<void> {
  for (const [language, lines, whole] of rows) {
    const parser = await parserOf(language);
    assert.ok(parser);
    const found = coloursOf(parser, lines).map((colours, index) => {
      const of = colours.filter(({ name }) => name === `code-${kind}`);
      const covered = of.reduce((sum, { from, to }) => sum + to - from, 0);
      return covered > 0 && covered >= (lines[index]?.trim().length ?? 0);
    });
    assert.deepEqual(found, whole, `${language}: ${lines.join('\n')}`);
  }
}

test('lines that start inside a comment have its colour, others do not', async () => {
  const c = [' * the size of this, or', ' * what is with it', ' */', 'int size(void);'];
  await check('comment', [
    ['C', c, [true, true, true, false]],
    ['C', c.slice(0, 2), [true, true]],
    ['C', ['   which is for if', '   */', 'int size(void) { return 1; }'], [true, true, false]],
    ['C', ['*at = 1;', 'int b; /* c */'], [false, false]],
    ['HTML', ['a <b> is', '-->', '<p>text</p>'], [true, true, false]],
    ['TypeScript', ["const all = '**/*.ts';", 'const one = 1;'], [false, false]],
    ['TypeScript', ['const all = /a*/;', 'const one = 1;'], [false, false]],
    ['Python', ['a = b', '"*/"'], [false, false]],
    // Its parser knows no faults.
    ['Kotlin', [' * the size', ' */', 'fun size() = 1'], [true, true, false]],
    ['Kotlin', ['  at the end', '  */', 'fun size() = 1'], [true, true, false]],
    ['Kotlin', ['val all = "**/*.kt"', 'val b = 1'], [false, false]],
  ]);
});

test('lines that start inside a string have its colour; those that start one, or contain a quote elsewhere, do not', async () => {
  const python = ['    Returns the size, or none.', '', '    """', '    return size(path)'];
  const documented = ['  readonly end: number;', '}', '', '/** Result of `run`, or none. */'];
  await check('string', [
    ['Python', python, [true, false, true, false]],
    ['Python', python.slice(0, 1), [true]],
    ['Python', python.slice(2), [true, false]],
    ['Python', ['    of it."""', '    x = 1'], [true, false]],
    ['Python', ['def size(path):', '    """Returns the size,'], [false, true]],
    ['Python', ['    a: int,', ') -> int:', '    """Returns two words."""'], [false, false, true]],
    ['TypeScript', ['  <p>two words</p>', '`;', 'const one = 1;'], [true, false, false]],
    ['TypeScript', documented, [false, false, false, false]],
    ['TypeScript', ['  ask(`one two`, 2);', '}'], [false, false]],
    ['Go', ['the name of a file', '`)', 'x := 1'], [true, false, false]],
  ]);
});

test('part of a PHP file is code without its opening tag', async () => {
  const lines = ['function size($path) {', '  /* none */', '}'];
  const php = await fragmentParserOf('PHP', lines);
  assert.ok(php);
  const names = coloursOf(php, lines).map((colours) => colours.map(({ name }) => name));
  assert.ok(names[0]?.includes('code-keyword'));
  assert.deepEqual(names[1], ['code-comment']);
});

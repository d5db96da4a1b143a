// Globs of tools: which paths they match.

import assert from 'node:assert/strict';
import test from 'node:test';
import { globPattern } from '../../../../daemon/api/mcp/tools/glob-pattern.ts';
import { parseRegex } from '../../../../daemon/engine/regex/syntax.ts';

const PATHS = 'a.ts src/a.ts src/a.tsx src/lib/b.ts lib/src/a.ts x{y}.md src/ä.c'.split(' ');

const CASES: readonly [glob: string, fits: readonly string[]][] = [
  ['*.ts', ['a.ts', 'src/a.ts', 'src/lib/b.ts', 'lib/src/a.ts']],
  ['/*.ts', ['a.ts']],
  ['./*.ts', ['a.ts']],
  ['src/*.ts', ['src/a.ts', 'lib/src/a.ts']],
  ['/src/**/*.ts', ['src/a.ts', 'src/lib/b.ts']],
  ['src/**', ['src/a.ts', 'src/a.tsx', 'src/lib/b.ts', 'lib/src/a.ts', 'src/ä.c']],
  ['/src/', ['src/a.ts', 'src/a.tsx', 'src/lib/b.ts', 'src/ä.c']],
  ['a.{ts,tsx}', ['a.ts', 'src/a.ts', 'src/a.tsx', 'lib/src/a.ts']],
  ['{a,b}.ts{,x}', ['a.ts', 'src/a.ts', 'src/a.tsx', 'src/lib/b.ts', 'lib/src/a.ts']],
  ['[ab].ts', ['a.ts', 'src/a.ts', 'src/lib/b.ts', 'lib/src/a.ts']],
  ['[!b].ts', ['a.ts', 'src/a.ts', 'lib/src/a.ts']],
  ['[^a-z].c', ['src/ä.c']],
  ['?.c', ['src/ä.c']],
  ['x\\{y\\}.md', ['x{y}.md']],
  ['x{y}.md', []],
  ['{x{y.md', []],
  ['{{a,b}.ts', []],
  ['{a,{b,x}}.ts}', []],
  ['{a,{b,x}}.ts', ['a.ts', 'src/a.ts', 'src/lib/b.ts', 'lib/src/a.ts']],
  ['a.t', []],
  ['a+.ts', []],
];

void test('a glob matches whole path endings', () => {
  for (const [glob, fits] of CASES) {
    const pattern = globPattern(glob);
    // What it is made for takes it.
    parseRegex(pattern);
    const found = PATHS.filter((path) => new RegExp(pattern, 'u').test(path));
    assert.deepEqual(found, fits, glob);
  }
});

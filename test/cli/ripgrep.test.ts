// ripgrep's options: the table of daemon/cli/README.md is true of both programs, and on a tree of sources both print the same.
// tier: ci (ripgrep)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { index, refuses, trawl } from '../e2e/daemon.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs ripgrep';

const TABLE = readFileSync('daemon/cli/README.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, options = '', state = ''] = /^\| (`-.*?`) \| (\w+) \|/.exec(line) ?? [];
    return [...options.matchAll(/`([^`]+)`/g)].map(([, option = '']) => ({ option, state }));
  });

test('each option of the table is taken, or refused with what to write instead', async () => {
  const { stdout: help } = await trawl(['search', '--help']);
  assert.ok(TABLE.filter(({ state }) => state === 'same').length >= 25);
  for (const { option, state } of TABLE) {
    const isListed = new RegExp(`^  (?:-\\w, )?${option}[ ,]`, 'm').test(help);
    assert.equal(isListed, state !== 'refused', option);
    if (state === 'refused')
      await refuses(['search', option, 'x'], /^error: .* of ripgrep is not an option here: .{20}/);
  }
});

test('the table has each option of both programs that has one name', { skip }, async () => {
  const { stdout: help } = await trawl(['search', '--help']);
  const theirs = spawnSync('rg', ['--help']).stdout.toString();
  const named = new Set(TABLE.map(({ option }) => option));
  for (const [, short, long] of help.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)/gm)) {
    const isTheirs = new RegExp(`^ +(?:-\\w, )?${long}(?: |$)`, 'm').test(theirs);
    const isTaken = short !== undefined && new RegExp(`^ +${short}, `, 'm').test(theirs);
    if (long !== '--help' && (isTheirs || isTaken))
      assert.ok(named.has(short ?? long!) || named.has(long!), long);
  }
});

/** Words of the sources below; `-s` or `-i` is given, as the defaults differ. */
const CALLS: readonly (readonly string[])[] = [
  ['-s', '-e', 'Table'],
  ['-i', '-e', 'TABLE'],
  ['-S', '-e', 'table'],
  ['-S', '-e', 'Table'],
  ['-s', '-w', '-e', 'index'],
  ['-s', '-F', 'closers[index]'],
  ['-s', '-F', '-w', '-e', 'at('],
  ['-s', '-w', '-e', 'übung'],
  ['-s', '-w', '-e', String.raw`at\(`],
  ['-s', '-o', '--column', '-e', 'zebra'],
  ['-s', '-e', 'isBlank', '-e', 'runEnd'],
  ['-s', '-e', String.raw`"\s*[a-z]+"`],
  ['-s', '-e', 'layout', '-A', '2'],
  ['-s', '-e', 'layout', '-B', '3'],
  ['-s', '-e', 'layout', '-C', '1'],
  ['-s', '-e', 'Layout', '-A', '1', '-B', '2', '-m', '2'],
  ['-s', '-e', 'index', '-g', '*-ends.ts'],
  ['-s', '-e', 'index', '-g', '!*-ends.ts', '-g', '!/regex'],
  ['-s', '-e', 'index', '-g', 'engine/query/*.ts'],
  ['-s', '-e', 'index', '-g', '**/{parser,tree}.ts'],
  ['-s', '-e', 'const', '-t', 'ts', '-l'],
  ['-s', '-e', 'const', '-T', 'ts', '-l'],
  ['-s', '-e', 'index', '-m', '1'],
  ['-s', '-e', 'in[a-z]+', '-o'],
  ['-s', '-e', 'in[a-z]+', '-o', '--column'],
  ['-s', '-e', 'layout[a-z]+', '-o', '-C', '1'],
  ['-s', '-e', 'index', '-o', '-c'],
  ['-s', '-e', 'index', '--heading', '-0'],
  ['-s', '-e', 'index', '-l'],
  ['-s', '-e', 'index', '-c'],
  ['-s', '-e', 'index', '--count-matches'],
  ['-s', '-e', 'index', '-N'],
  ['-s', '-e', 'index', '-I'],
  ['-s', '-e', 'index', '-0'],
  ['-s', '-e', 'index', '-l', '-0'],
  ['-s', '-e', 'index', '--vimgrep'],
  ['-s', '-e', 'index', '--column'],
  ['-s', '-e', 'index', '--heading'],
  ['-s', '-e', 'index', '-M', '60'],
  ['-s', '-e', 'index', '-M', '60', '--column'],
  ['-s', '-e', 'index', '-q'],
  ['-s', '-e', 'nowhere-at-all'],
  ['-s', '-U', '-e', String.raw`\}\n\nfunction`],
  ...['-o', '-c', '--count-matches', '-m1', '--vimgrep', '--column'].map((option) => [
    '-s',
    '-U',
    option,
    '-e',
    String.raw`\}\n\nfunction`,
  ]),
  ['--files'],
  ['--files', '-g', '*.ts', '-g', '!p*'],
];

/** What belongs together, in an order of its own: blocks under a heading, names, lines. */
function piecesOf(text: string, args: readonly string[]): string[] {
  const [last] = ['-l', '-0'].filter((flag) => args.includes(flag)).slice(1);
  const separator = args.includes('--heading') ? '\n\n' : last === undefined ? '\n' : '\0';
  return text.trimEnd().split(separator).sort();
}

test('both print the same of a tree', { skip }, async () => {
  const folder = temporaryFolder();
  const tree = path.join(folder, 'tree');
  cpSync('daemon/engine', path.join(tree, 'engine'), { recursive: true });
  cpSync('scripts', path.join(tree, 'scripts'), { recursive: true });
  writeFileSync(path.join(tree, 'utf-8.txt'), 'übung\nat(1)\n');
  writeFileSync(path.join(tree, 'latin-1.txt'), Buffer.from('größe\nüber zebra\n', 'latin1'));
  const dataDir = path.join(folder, 'data');
  await index(dataDir, [tree], ['--no-symbols']);
  for (const args of CALLS) {
    const wanted = spawnSync('rg', ['--no-config', '-Hn', '--hidden', ...args], {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
    });
    const found = await trawl(['search', '--data-dir', dataDir, ...args], { cwd: tree });
    const name = args.join(' ');
    assert.equal(found.code, wanted.status, name);
    assert.deepEqual(piecesOf(found.stdout, args), piecesOf(wanted.stdout.toString(), args), name);
  }
});

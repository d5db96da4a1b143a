// ripgrep's options as a query: what is asked for the words and options of a command line, and which data directory a folder has.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { Command } from 'commander';
import { addCommonOptions, addFileOptions } from '../../daemon/cli/options.ts';
import { findDataDir, noteSources, ownDataDir } from '../../daemon/cli/known-sources.ts';
import { pathStarts } from '../../daemon/cli/path-starts.ts';
import { askedOf, type PatternFlags } from '../../daemon/cli/ripgrep-query.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { file } from './responses.ts';

type Row = readonly [words: string, flags: Partial<PatternFlags>, query: string, rest?: object];

const IGNORED = { isCaseSensitivityEnabled: false };
const SENSITIVE = { isCaseSensitivityEnabled: true };
const ROWS: readonly Row[] = [
  ['a b lang:c', {}, 'a b lang:c', { isRegexEnabled: false }],
  ['a.b', { regex: true }, 'a.b', { isRegexEnabled: true }],
  ['a (b', { fixedStrings: true }, String.raw`content:"a \(b"`, { isRegexEnabled: true }],
  ['lang:c', { regexp: ['a"b', 'c\nd'] }, String.raw`content:"(?:a\"b)|(?:c\nd)" lang:c`],
  ['', { regexp: ['a"'], fixedStrings: true }, String.raw`content:"a\""`],
  // Words beside expressions are literals, too.
  [
    'f() (a or "x.y") -c:z+',
    { regexp: ['a.'] },
    String.raw`content:"a." "f\(\)" ("a" or "x\.y") -c:"z\+"`,
  ],
  ['file:a or file:b', { regexp: ['x'] }, 'content:"x" (file:a or file:b)'],
  ['f()', { regexp: ['a'], fixedStrings: true }, String.raw`content:"a" "f\(\)"`],
  [
    'f( lang:c',
    { regexp: ['a'], wordRegexp: true },
    String.raw`content:"\ba\b" content:"\bf\(\B" lang:c`,
  ],
  ['x|y', { regexp: ['a'], regex: true }, 'content:"a" x|y'],
  ['at( lang:c', { wordRegexp: true }, String.raw`content:"\bat\(\B" lang:c`],
  [
    '-file:x (a or "b c")',
    { wordRegexp: true },
    String.raw`-file:x (content:"\ba\b" or content:"\bb c\b")`,
  ],
  // A word that begins outside ASCII, or a sign, has its edge where none of ASCII goes on.
  ['', { regexp: ['Übung'], wordRegexp: true }, String.raw`content:"\BÜbung\b"`],
  ['', { regexp: [String.raw`at\(`], wordRegexp: true }, String.raw`content:"\bat\(\B"`],
  ['', { regexp: ['a.b'], wordRegexp: true }, String.raw`content:"\b(?:a.b)\b"`],
  ['content:x|y', { wordRegexp: true, regex: true }, String.raw`content:"\b(?:x|y)\b"`],
  ['a file:B', { letterCase: 'smart' }, 'a file:B', { isCaseSensitivityEnabled: false }],
  ['a content:B', { letterCase: 'smart' }, 'a content:B', SENSITIVE],
  // Neither classes, nor names of groups, nor flags; but a letter behind a backslash that is text.
  [
    String.raw`\S\pL(?P<N>a)(?U:b)`,
    { letterCase: 'smart', regex: true },
    String.raw`\S\pL(?P<N>a)(?U:b)`,
    IGNORED,
  ],
  [String.raw`\Server`, { letterCase: 'smart' }, String.raw`\Server`, SENSITIVE],
  [
    String.raw`\Server`,
    { letterCase: 'smart', fixedStrings: true },
    String.raw`content:"\\Server"`,
    SENSITIVE,
  ],
  ['a', { letterCase: 'sensitive' }, 'a', SENSITIVE],
  [
    'a',
    { type: ['cs', 'go'], typeNot: ['c'] },
    'a',
    { filter: '(lang:"C#" or lang:"go") -lang:"c"' },
  ],
  [
    'a',
    { glob: ['*.h', 'x/[!a]?.c', '!y/'] },
    'a',
    {
      filter: String.raw`(file:"(?-i)(?:^|/)[^/]*\.h$" or file:"(?-i)^x/[^/a][^/]\.c$") -file:"(?-i)(?:^|/)y/.+(?:/|$)"`,
    },
  ],
];

test('words and options of ripgrep give a query and its filter', () => {
  for (const [words, flags, query, rest = {}] of ROWS) {
    const asked = askedOf(words === '' ? [] : words.split(' '), { letterCase: 'ignore', ...flags });
    assert.equal(asked.query, query);
    assert.deepEqual({ ...asked, ...rest }, asked, query);
  }
});

const REFUSED: readonly (readonly [flags: Partial<PatternFlags>, message: RegExp])[] = [
  [{ regexp: [''] }, /a pattern is empty/],
  [{ regexp: ['a', 'a\\\\\\'] }, /the backslash at the end of "a\\\\\\" escapes nothing/],
  [{ type: ['pyhton'] }, /no language "pyhton"; similar: python$/],
  [{ typeNot: ['constructor'] }, /no language "constructor"/],
  [{ glob: ['[!]a'] }, /a \] is missing in "\[!\]a"/],
  [{ glob: ['!{a,{b}'] }, /a \} is missing in "\{a,\{b\}"/],
];

const TAKEN: readonly Partial<PatternFlags>[] = [
  { regexp: ['a\\\\'] },
  { regexp: ['\\'], fixedStrings: true },
  { glob: ['[]{]a]', '\\{a\\[', 'a}', '{a,[}]}'] },
];

test('patterns, globs and languages that are none are refused', () => {
  for (const [flags, message] of REFUSED)
    assert.throws(() => askedOf(['a'], { letterCase: 'ignore', ...flags }), message);
  for (const flags of TAKEN) assert.ok(askedOf(['a'], { letterCase: 'ignore', ...flags }));
});

test('paths are relative to the folder, absolute, or of the repository', async () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'src', 'deep', '.git'), { recursive: true });
  const source = { folders: () => Promise.resolve(new Map([['r/a', path.join(folder, 'src')]])) };
  const shown = async (here: string, name: string, repository = 'r/a') => {
    mkdirSync(path.join(folder, 'src', '.git'), { recursive: true });
    const found = file(name, [], repository);
    const { lead, cut } = (await pathStarts(source, [found], path.join(folder, here)))(found);
    return lead + name.slice(cut);
  };
  assert.equal(await shown('', 'x/y.c'), 'src/x/y.c');
  assert.equal(await shown('src', 'x/y.c'), 'x/y.c');
  assert.equal(await shown('src/x', 'x/y.c'), 'y.c');
  assert.equal(await shown('src/x/z', 'x/y.c'), '../y.c');
  assert.equal(await shown('src/deep', 'deeper.c'), '../deeper.c');
  assert.equal(await shown('other', 'x/y.c'), path.join(folder, 'src/x/y.c'));
  assert.equal(await shown('src', 'x/y.c', 'r/b'), 'r/b:x/y.c');
});

test('only a bare repository has no files, and a linked work tree has a branch of its own', async () => {
  const folder = temporaryFolder();
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  git(repo, 'worktree', 'add', '-q', '-b', 'side', path.join(folder, 'linked'));
  git(folder, 'clone', '-q', '--bare', repo, 'bare');
  mkdirSync(path.join(folder, 'plain'));
  const shown = async (name: string, branches: string[]): Promise<string> => {
    const folders = new Map([['r', path.join(folder, name)]]);
    const found = { ...file('gone.txt', [], 'r'), branches };
    const source = { folders: () => Promise.resolve(folders) };
    return (await pathStarts(source, [found], folder))(found).lead;
  };
  assert.equal(await shown('plain', ['HEAD']), 'plain/');
  assert.equal(await shown('linked', ['refs/heads/side']), 'linked/');
  assert.equal(await shown('bare', ['HEAD']), 'r:');
  assert.equal(await shown('missing', ['HEAD']), 'r:');
});

test('the data directory of a folder is in it, above it, or where it was indexed', () => {
  const folder = temporaryFolder();
  const before = process.env;
  process.env = { ...before, XDG_STATE_HOME: path.join(folder, 'state') };
  try {
    const [tree, data] = [path.join(folder, 'tree'), path.join(folder, 'data')];
    mkdirSync(path.join(tree, 'a', 'b'), { recursive: true });
    mkdirSync(data);
    assert.equal(findDataDir(path.join(tree, 'a')), '.trawl');
    noteSources(data, [tree, path.join(folder, 'line\nend')]);
    noteSources(path.join(folder, '.trawl'), [path.join(folder, 'tree', 'a')]);
    assert.equal(findDataDir(path.join(tree, 'a', 'b')), data);
    const written = readFileSync(path.join(folder, 'state', 'trawl', 'sources'), 'utf8');
    assert.equal(written, `${tree}\t${data}\n`);
    mkdirSync(path.join(folder, 'real'));
    symlinkSync('real', path.join(folder, 'link'));
    noteSources(data, [path.join(folder, 'link')]);
    assert.equal(findDataDir(path.join(folder, 'real')), data);
    mkdirSync(path.join(tree, 'a', '.trawl'));
    assert.equal(findDataDir(path.join(tree, 'a', 'b')), path.join(tree, 'a', '.trawl'));
    assert.equal(findDataDir(tree), data);
  } finally {
    process.env = before;
  }
});

test(
  'a data directory of another user in the current folder is refused by its name',
  { skip: process.getuid?.() !== 0 && 'only root can give a folder away' },
  () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, '.trawl'));
    chownSync(path.join(folder, '.trawl'), 12_345, 12_345);
    const message = /\.trawl is of another user \(12345\).*--data-dir/;
    assert.throws(() => findDataDir(folder), message);
    assert.throws(() => ownDataDir(folder), message);
    const { TRAWL_URL: before } = process.env;
    const here = process.cwd();
    const run = (command: Command): unknown =>
      addCommonOptions(command.action(() => {})).parse([], { from: 'user' });
    process.chdir(folder);
    process.env['TRAWL_URL'] = 'http://localhost';
    try {
      assert.throws(() => run(new Command()), message);
      const files = addFileOptions(new Command().argument('[file...]').action(() => {}));
      files.parse(['a.shard'], { from: 'user' });
      assert.throws(() => files.parse([], { from: 'user' }), message);
      // It asks another instance.
      run(new Command().option('--url <url>'));
    } finally {
      process.chdir(here);
      if (before === undefined) delete process.env['TRAWL_URL'];
      else process.env['TRAWL_URL'] = before;
    }
  },
);

test('sources that processes note at the same time are all noted', async () => {
  const [folder, home] = [temporaryFolder(), temporaryFolder()];
  const module = new URL('../../daemon/cli/known-sources.js', import.meta.url).href;
  const program = `const { noteSources } = await import(${JSON.stringify(module)});
    for (let i = 0; i < 25; i++) noteSources(${JSON.stringify(folder)}, [process.argv[1] + '/' + i]);`;
  const noting = Array.from({ length: 4 }, (_, k) => {
    const args = ['--input-type=module', '-e', program, `/${k}`];
    return once(spawn(process.execPath, args, { env: { XDG_STATE_HOME: home } }), 'close');
  });
  for (const [code] of await Promise.all(noting)) assert.equal(code, 0);
  const written = readFileSync(path.join(home, 'trawl', 'sources'), 'utf8');
  assert.equal(new Set(written.trim().split('\n')).size, 100);
});

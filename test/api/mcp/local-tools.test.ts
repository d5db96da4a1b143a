// The tools on a local index while it is being made: files are looked through instead, as the index would have them. And an
// index that cannot be opened now may be opened later.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { createLog } from '../../../daemon/base/log.ts';
import type { ToolProgress } from '../../../daemon/api/mcp/tools/tool.ts';
import { TOOLS } from '../../../daemon/api/mcp/tools/tools.ts';
import { LocalTools } from '../../../daemon/app/local-tools.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';

const LINE_COUNT = 40;

const FILES = {
  'src/a.c': 'int plum;\r\n\nint pear; // plum\n',
  'src/b.h': 'extern int plum;\n',
  'src/wide.txt': Buffer.from('\ufeffa plum in UTF-16\n', 'utf16le'),
  'src/marked.txt': '\ufeffquince behind a mark\n',
  'picture.bin': Buffer.from('plum\0'),
  'large.txt': `plum ${'x'.repeat(5 << 20)}\n`,
  'many.txt': Array.from({ length: LINE_COUNT }, (_, i) => `line ${i + 1}\n`).join(''),
  '.gitignore': 'build\n',
};

/** A work tree with a file that git ignores. */
function makeTree(): string {
  const tree = makeRepo(FILES);
  writeFiles(tree, { 'build/out.c': 'int plum;\n' });
  return tree;
}

/** Tools on sources; searches go without an index at once. */
function openTools(sources: readonly string[], dataDir = temporaryFolder()): LocalTools {
  const env = { TRAWL_DATA_DIR: dataDir, TRAWL_SECRET: 's'.repeat(32) };
  const configuration = readConfiguration({ env });
  const log = createLog({ ...configuration.log, write: () => {} });
  return new LocalTools({ configuration, log, sources, scanAfterMs: 0 });
}

async function callTool(
  tools: LocalTools,
  name: string,
  args: object,
  onProgress?: (progress: ToolProgress) => void,
): Promise<string> {
  const tool = TOOLS.find((one) => one.name === name);
  const { signal } = new AbortController();
  return await tools.with(signal, onProgress, async (context) => await tool!.run(args, context));
}

const NOTE =
  '(not all is indexed yet: files were looked through instead, in the order of paths, each line by itself)';

/** The text without the line of the note; undefined: it has none, as the index was there already. */
function withoutNote(text: string): string | undefined {
  const without = text.replace(`\n${NOTE}`, '');
  return without === text ? undefined : without;
}

/** What a tool says as the first call on an index that nobody has made. */
async function firstCall(
  name: string,
  args: object,
  source = makeTree(),
  onProgress?: (progress: ToolProgress) => void,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const tools = openTools([source]);
    const text = withoutNote(await callTool(tools, name, args, onProgress));
    await tools.close();
    if (text !== undefined) return text;
    assert.ok(attempt < ATTEMPTS_MAX, 'the index is always quicker than the call');
  }
}

/** The index may be there already. */
const ATTEMPTS_MAX = 20;

/** With the name of the repository as R. */
function renamed(text: string): string {
  return text.replaceAll(/\[[^\]]+\]/g, '[R]');
}

void test('grep without an index: lines by file, conditions, context, what is cut', async () => {
  assert.equal(
    renamed(await firstCall('grep', { pattern: 'int plum' })),
    'Found 2 matches in 2 files\n[R] src/a.c:\n  1: int plum;\n[R] src/b.h:\n  1: extern int plum;',
  );
  assert.equal(
    renamed(await firstCall('grep', { pattern: '^int', include: '*.{c,h}', contextLines: 1 })),
    'Found 2 matches in 1 files\n[R] src/a.c:\n  1: int plum;\n  2- \n  3: int pear; // plum',
  );
  assert.equal(
    renamed(await firstCall('grep', { pattern: 'plum in', path: 'src' })),
    'Found 1 matches in 1 files\n[R] src/wide.txt:\n  1: a plum in UTF-16',
  );
  assert.equal(
    renamed(await firstCall('grep', { pattern: '^quince' })),
    'Found 1 matches in 1 files\n[R] src/marked.txt:\n  1: quince behind a mark',
  );
  const cut = await firstCall('grep', { pattern: 'line \\d+', limit: 3 });
  assert.match(renamed(cut), /^Found 3 matches in 1 files\n\[R\] many\.txt:\n(  \d: line \d\n){3}/);
  assert.match(cut, /\n\(cut at limit 3 of at least 40 matches in 1 files: call again with limit/);
  assert.equal(await firstCall('grep', { pattern: 'nowhere' }), 'No matches found');
});

void test('glob without an index', async () => {
  assert.equal(
    renamed(await firstCall('glob', { pattern: '*.{c,bin}' })),
    'Found 2 files\n[R]\n  picture.bin\n  src/a.c',
  );
});

void test('a bare repository without an index, and a folder', async () => {
  const bare = path.join(temporaryFolder(), 'bare.git');
  git(makeRepo(FILES), 'clone', '-q', '--bare', '.', bare);
  const folder = temporaryFolder();
  writeFiles(folder, FILES);
  for (const source of [bare, folder])
    assert.match(
      await firstCall('grep', { pattern: 'int plum', path: 'src' }, source),
      /^Found 2 matches in 2 files\n/,
    );
});

void test('what is found without an index is what is found with it', async () => {
  const patterns = ['plum', '(?i)PLUM', '^.*;$', '\\bint\\b', 'x|line 3', '[^a-z\\s]{2}'];
  const tree = makeTree();
  const scanned: string[] = [];
  for (const pattern of patterns) scanned.push(await firstCall('grep', { pattern }, tree));
  const tools = openTools([tree]);
  await callTool(tools, 'find_symbol_references', {
    symbol: 'plum',
    repo: await nameIn(tools),
  });
  for (const [index, pattern] of patterns.entries()) {
    const indexed = await callTool(tools, 'grep', { pattern });
    assert.equal(withoutNote(indexed), undefined);
    assert.deepEqual(linesOf(scanned[index]!), linesOf(indexed), pattern);
  }
  await tools.close();
});

async function nameIn(tools: LocalTools): Promise<string> {
  const { repos } = JSON.parse(await callTool(tools, 'list_repos', {})) as {
    readonly repos: readonly { readonly name: string }[];
  };
  return repos[0]!.name;
}

/** Lines with the files that they are in, without the head, in any order. */
function linesOf(text: string): string[] {
  let file = '';
  return text
    .split('\n')
    .slice(1)
    .map((line) => (line.startsWith('  ') ? `${file}${line}` : (file = line)))
    .sort();
}

void test('who waits is told of the files', async () => {
  const told: ToolProgress[] = [];
  await firstCall('grep', { pattern: 'plum' }, makeTree(), (progress) => told.push(progress));
  const last = told.at(-1);
  assert.equal(last?.done, last?.total);
  assert.match(last?.message ?? '', /^files looked through; the index is being made/);
});

void test('an index that cannot be opened is opened by a later call', async () => {
  const folder = temporaryFolder();
  const dataDir = path.join(folder, 'data');
  writeFileSync(dataDir, 'in the way');
  const source = path.join(folder, 'source');
  const tools = openTools([source], dataDir);
  const grep = () => callTool(tools, 'grep', { pattern: 'plum' });
  await assert.rejects(grep(), /the index cannot be opened/);
  rmSync(dataDir);
  await assert.rejects(grep(), /the index cannot be opened: .*source/);
  mkdirSync(source);
  writeFiles(source, { 'a.c': 'int plum;\n' });
  assert.match(await grep(), /^Found 1 matches in 1 files\n/);
  await tools.close();
});

// The tools on a local index while it is being made: files are looked through instead, as the index would have them. And an
// index that cannot be opened now may be opened later.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { createLog } from '../../../daemon/base/log.ts';
import type { ToolProgress } from '../../../daemon/http/mcp/tools/tool.ts';
import { TOOLS } from '../../../daemon/http/mcp/tools/tools.ts';
import { LocalTools } from '../../../daemon/local-tools.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';

const LINE_COUNT = 40;

const FILES = {
  'src/a.c': 'int plum;\r\n\nint pear; // plum\n',
  'src/b.h': 'extern int plum;\n',
  'src/wide.txt': Buffer.from('\ufeffa plum in UTF-16\n', 'utf16le'),
  'picture.bin': Buffer.from('plum\0'),
  'large.txt': `plum ${'x'.repeat(3 << 20)}\n`,
  'many.txt': Array.from({ length: LINE_COUNT }, (_, i) => `line ${i + 1}\n`).join(''),
  'build/out.c': 'int plum;\n',
  '.gitignore': 'build\n',
};

/** Tools on sources; searches go without an index at once. */
function openTools(sources: readonly string[], dataDir = temporaryFolder()): LocalTools {
  const env = { TRAWL_DATA_DIR: dataDir, TRAWL_SECRET: 's'.repeat(32) };
  const configuration = readConfiguration({ env });
  const log = createLog({ ...configuration.log, level: 'error' });
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

/** The text without the note, which must be its last line; undefined: the index was there already. */
function withoutNote(text: string): string | undefined {
  return text.endsWith(`\n${NOTE}`) ? text.slice(0, -NOTE.length - 1) : undefined;
}

/** What a tool says as the first call on an index that nobody has made. */
async function firstCall(name: string, args: object, source = makeRepo(FILES)): Promise<string> {
  const tools = openTools([source]);
  try {
    const text = withoutNote(await callTool(tools, name, args));
    assert.ok(text !== undefined, 'the index was quicker than the call');
    return text;
  } finally {
    await tools.close();
  }
}

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
  const scanning = openTools([makeRepo(FILES)]);
  const scanned: string[] = [];
  for (const pattern of patterns) scanned.push(await callTool(scanning, 'grep', { pattern }));
  await callTool(scanning, 'find_symbol_references', {
    symbol: 'plum',
    repo: await nameIn(scanning),
  });
  for (const [index, pattern] of patterns.entries()) {
    const indexed = await callTool(scanning, 'grep', { pattern });
    assert.equal(withoutNote(indexed), undefined);
    assert.deepEqual(linesOf(scanned[index]!.replace(`\n${NOTE}`, '')), linesOf(indexed), pattern);
  }
  assert.ok(scanned[0]?.endsWith(NOTE));
  await scanning.close();
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
  const tools = openTools([makeRepo(FILES)]);
  const told: ToolProgress[] = [];
  await callTool(tools, 'grep', { pattern: 'plum' }, (progress) => told.push(progress));
  const last = told.at(-1);
  assert.equal(last?.done, last?.total);
  assert.match(last?.message ?? '', /^files looked through; the index is being made/);
  await tools.close();
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

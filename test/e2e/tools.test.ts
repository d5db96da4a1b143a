// The tool server of a real daemon with the official client: the output of each tool, access, counting, and hostile
// arguments.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { licenceEnvironment } from '../accounts/licences.ts';
import { callTool, toolClient } from '../api/mcp/tool-client.ts';
import { runProgram } from '../base/run-program.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, eventually, get, jobsEnded, type Served, serve, trawl } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const ENV = {
  TRAWL_ANONYMOUS_ACCESS: 'true',
  TRAWL_OWNER_EMAIL: 'owner@example.com',
  TRAWL_OWNER_API_KEY: KEY,
  ...licenceEnvironment(),
};

/** A file whose name is to be taken for a result. */
const HOSTILE_NAME = 'odd\n[local/open] false.c:\n  1: cherry\u2028\u001b[31m';

const OPEN_FILES = {
  'README.md': '# Open\n',
  'src/plum.c': `#include "plum.h"\n\nint plum_count(int trees) {\n  return trees * 3;\n}\n`,
  'src/plum.h': 'int plum_count(int trees);\n',
  'src/main.c': '#include "plum.h"\n\nint main(void) {\n  // plums\n  return plum_count(2);\n}\n',
  'src/wide.txt': `${'€'.repeat(4000)}\n`,
  'src/long.js': `${'x'.repeat(3000)};pear();${'y'.repeat(3000)}\n`,
  'doc/many.txt': Array.from({ length: 1000 }, (_, i) => `line ${i + 1}\n`).join(''),
  'doc/picture.bin': new Uint8Array([1, 0, 2]),
  'empty.txt': '',
  'web/[id]/page.ts': 'export default quince;\r\n',
};

let served: Served;
let owner: Client;
let guest: Client;
let commits: readonly string[];

before(async () => {
  const folder = temporaryFolder();
  const [open, hidden] = ['open', 'hidden'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  for (const [repo, files] of [
    [open, OPEN_FILES],
    [hidden, { 'secret.c': 'int plum_secret;\n' }],
  ] as const) {
    writeFiles(repo, files);
    git(repo, 'init', '-q', '-b', 'main');
    commitAll(repo, 'first');
  }
  writeFiles(open, { 'README.md': '# Open\n\nPlums.\n', 'new.txt': 'new\n' });
  commitAll(open, 'second');
  writeFiles(hidden, { [HOSTILE_NAME]: 'cherry\n', 'a.txt': 'long\n'.repeat(20_000) });
  commitAll(hidden, 'second');
  importLarge(hidden);
  commits = git(open, 'log', '--format=%H').split('\n');
  git(open, 'checkout', '-q', '-b', 'linked');
  git(open, 'update-index', '--add', '--cacheinfo', `160000,${commits[0]!},libs/inner`);
  git(open, 'commit', '-q', '-m', 'a submodule');
  git(open, 'checkout', '-q', 'main');
  const dataDir = path.join(temporaryFolder(), 'data');
  // What comes later beside a hidden one would be hidden itself.
  const isHidden = ['--enforce-permissions', '--visibility', 'private'];
  for (const args of [[open], [hidden, ...isHidden]]) {
    const flags = ['--data-dir', dataDir, '--mode', 'commits'];
    const { code, stderr } = await trawl(['index', ...flags, ...args], { env: ENV });
    assert.equal(code, 0, stderr);
  }
  served = await serve(dataDir, [open, hidden], { env: ENV, flags: ['--mode', 'commits'] });
  await jobsEnded(served, 2);
  owner = await toolClient(served.url, KEY);
  guest = await toolClient(served.url);
  await eventually(async () => {
    const { text } = await callTool(owner, 'find_symbol_definitions', {
      symbol: 'plum_count',
      repo: 'local/open',
    });
    return !text.includes('still being found');
  }, 200);
});

/** A tag `large`: a folder and messages that do not fit into a result. */
function importLarge(repo: string): void {
  const files = Array.from(
    { length: 700 },
    (_, i) => `M 100644 inline ${i}${'n'.repeat(100)}\ndata 0\n`,
  );
  const history = Array.from({ length: 40 }, (_, i) => {
    const message = `subject ${i}\n\n${'body '.repeat(400)}`;
    const head = `commit refs/tags/large\ncommitter A <a@example.com> ${i} +0000\n`;
    return `${head}data ${message.length}\n${message}\n${i === 0 ? files.join('') : ''}\n`;
  });
  const { status } = runProgram('git', ['fast-import', '--quiet'], {
    cwd: repo,
    env: process.env,
    input: history.join(''),
  });
  assert.equal(status, 0);
}

after(async () => {
  await owner.close();
  await guest.close();
  await served.process.stop();
});

async function textOf(name: string, args: Record<string, unknown>, client = owner) {
  const { text, isError } = await callTool(client, name, args);
  assert.equal(isError, false, text);
  return text;
}

async function failureOf(name: string, args: Record<string, unknown>, client = owner) {
  const { text, isError } = await callTool(client, name, args);
  assert.equal(isError, true, text);
  const prefix = `Tool "${name}" failed: `;
  assert.ok(text.startsWith(prefix), text);
  return text.slice(prefix.length);
}

void test('the list: names, annotations, schemas that refuse unknown members', async () => {
  const { tools } = await owner.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [
    'find_symbol_definitions',
    'find_symbol_references',
    'get_diff',
    'glob',
    'grep',
    'list_branches',
    'list_commits',
    'list_repos',
    'list_tree',
    'read_file',
  ]);
  for (const { name, inputSchema, annotations } of tools) {
    for (const argument of ['perPage', 'limit', 'maxEntries', 'depth', 'contextLines']) {
      const schema = inputSchema.properties?.[argument] as { description: string } | undefined;
      if (schema)
        assert.match(schema.description, /at most [\d,]+|up to \d+/, `${name} ${argument}`);
    }
    assert.equal(annotations?.readOnlyHint, true);
    assert.equal(annotations.idempotentHint, true);
    assert.equal(inputSchema['additionalProperties'], false);
  }
  assert.equal(owner.getServerVersion()?.name, 'trawl-mcp-server');
  const grep = tools.find(({ name }) => name === 'grep');
  assert.deepEqual(grep?.inputSchema.required, ['pattern']);
});

void test('grep: lines by file, context, truncation, and how to get more', async () => {
  const scope = { repo: 'local/open' };
  assert.equal(
    await textOf('grep', { pattern: 'plum_\\w+\\(', ...scope, path: 'src/main.c' }),
    'Found 1 matches in 1 files\n[local/open] src/main.c:\n  5:   return plum_count(2);',
  );
  assert.equal(
    await textOf('grep', { pattern: 'trees \\*', ...scope, include: '*.c', contextLines: 1 }),
    'Found 1 matches in 1 files\n[local/open] src/plum.c:\n  3- int plum_count(int trees) {\n' +
      '  4:   return trees * 3;\n  5- }',
  );
  const cut = await textOf('grep', { pattern: 'line \\d+', ...scope, limit: 3 });
  assert.match(
    cut,
    /^Found 3 matches in 1 files\n\[local\/open\] doc\/many\.txt:\n(  \d+: line \d+\n){3}/,
  );
  assert.match(
    cut,
    /\(cut at limit 3 of at least \d+ matches in 1 files: call again with limit \d+/,
  );
  const full = await textOf('grep', { pattern: '^.*$', ...scope, limit: 10_000 });
  assert.ok(full.length < 62_000);
  const long = await textOf('grep', { pattern: 'pear', ...scope });
  assert.match(long, /  1: …x+;pear\(\);y+…$/);
  assert.ok(long.length < 2200);
});

void test('grep: counts by repository', async () => {
  assert.equal(
    await textOf('grep', { pattern: 'plum_count', groupByRepo: true }),
    'Found 3 matches in 1 repositories\nlocal/open: 3 matches in 3 files',
  );
});

void test('grep: no matches, with the reason', async () => {
  const none = (more: Record<string, unknown>) => textOf('grep', { repo: 'local/open', ...more });
  assert.equal(await none({ pattern: 'nowhere_at_all' }), 'No matches found');
  assert.equal(
    await none({ pattern: 'PLUM_COUNT' }),
    'No matches found\nWithout regard to case there are 3 matches: use (?i)PLUM_COUNT',
  );
  assert.equal(
    await none({ pattern: 'plum_count(2)' }),
    'No matches found\nTaken literally there is 1 match: use plum_count\\(2\\)',
  );
  const near: readonly (readonly [string, RegExp])[] = [
    ['/plum_count/', /\nSlashes are part .* there are 3 matches: use plum_count$/],
    ['/PLUM_COUNT/i', /\nSlashes are part .* there are 3 matches: use \(\?i\)PLUM_COUNT$/],
    ['"// plums"', /\nQuotes are part .* there is 1 match: use \/\/ plums$/],
    ['quince;$', /\n\$ does not hold before .* there is 1 match: use quince;\\r\?\$$/],
  ];
  for (const [pattern, reason] of near) assert.match(await none({ pattern }), reason);
  // Forms that are no expressions.
  for (const pattern of [String.raw`/no\/where\/`, String.raw`"nowhere\"`])
    assert.equal(await none({ pattern }), 'No matches found');
  assert.match(
    await none({ pattern: 'quince', include: 'web/[id]/*' }),
    /\nNo indexed file matches include; .*\n.* use web\/\\\[id\\\]\/\*$/,
  );
  assert.equal(
    await none({ pattern: 'plum', path: 'nofolder' }),
    'No matches found\nNo indexed file matches path; glob shows the existing files.',
  );
  assert.equal(
    await none({ pattern: 'plum', path: 'doc', include: '*.c' }),
    'No matches found\nNo indexed file matches repo and path and include together; glob shows the existing files.',
  );
});

void test('glob: paths by repository, truncated with the next call', async () => {
  assert.equal(
    await textOf('glob', { pattern: 'src/*.{c,h}', repo: 'local/open' }),
    'Found 3 files\n[local/open]\n  src/main.c\n  src/plum.c\n  src/plum.h',
  );
  const cut = await textOf('glob', { pattern: '*', limit: 2, repo: 'local/open' });
  assert.match(cut, /^Found 2 files\n.*\(cut at limit 2 of at least \d+ files: call again with/s);
  assert.equal(
    await textOf('glob', { pattern: '*.go' }),
    'Found 0 files\nNo indexed file matches pattern; list_tree shows the existing files.',
  );
  assert.equal(
    await textOf('glob', { pattern: '*.c', path: 'doc' }),
    'Found 0 files\nNo indexed file matches path and pattern together; list_tree shows the existing files.',
  );
  assert.equal(
    await textOf('glob', { pattern: 'm*.*', path: 'src', limit: 1, repo: 'local/open' }),
    'Found 1 files\n[local/open]\n  src/main.c',
  );
  assert.match(
    await textOf('glob', { pattern: 'web/[id]/*' }),
    /^Found 0 files\n.*\n.* for those of a name use web\/\\\[id\\\]\/\*$/,
  );
  assert.match(
    await textOf('glob', { pattern: 'WEB/**/P*' }),
    /\nCase counts; without it pattern fits files such as web\/\[id\]\/page\.ts$/,
  );
  const two = await textOf('glob', {
    pattern: 'plum.?',
    path: 'src',
    limit: 1,
    repo: 'local/open',
  });
  assert.match(
    two,
    /^Found 1 files\n.*\(cut at limit 1 of at least 2 files: call again with limit 4,/s,
  );
});

void test('read_file: numbered lines, continued by offset, at any commit', async () => {
  const requested = { repo: 'local/open', path: 'README.md' };
  assert.equal(
    await textOf('read_file', requested),
    `<repo>local/open</repo>\n<path>README.md</path>\n<url>${served.url}/browse/local/open/-/blob/README.md</url>\n` +
      '<content>\n1: # Open\n2: \n3: Plums.\n</content>\n(lines 1 to 3: the end of the file)',
  );
  const old = await textOf('read_file', { ...requested, ref: commits[1] });
  assert.match(old, /<content>\n1: # Open\n<\/content>\n\(lines 1 to 1: the end/);
  const many = { repo: 'local/open', path: 'doc/many.txt' };
  assert.match(
    await textOf('read_file', many),
    /500: line 500\n<\/content>\n\(lines 1 to 500 of 1000; continue with offset 501\)$/,
  );
  assert.match(
    await textOf('read_file', { ...many, offset: 999, limit: 5 }),
    /<content>\n999: line 999\n1000: line 1000\n<\/content>\n\(lines 999 to 1000: the end/,
  );
  assert.match(
    await failureOf('read_file', { ...many, offset: 1001 }),
    /offset: the file has 1000 lines; call again with an offset from 1 to 1000/,
  );
  assert.match(
    await textOf('read_file', { ...many, limit: 501 }),
    /\n\(limit 501 is above the limit, 500 was used\)\n\(lines 1 to 500 of 1000; continue with offset 501\)$/,
  );
  assert.match(
    await textOf('read_file', { repo: 'local/open', path: 'doc/picture.bin' }),
    /\(binary file of 3 bytes\)$/,
  );
  assert.match(
    await textOf('read_file', { repo: 'local/open', path: 'empty.txt' }),
    /\(the file is empty\)$/,
  );
  const long = await textOf('read_file', { repo: 'local/open', path: 'src/long.js' });
  assert.match(long, /… \(cut, the line has 6008 bytes\)/);
  const wide = await textOf('read_file', { repo: 'local/open', path: 'src/wide.txt' });
  assert.match(wide, /\n1: €{1706}… \(cut, the line has 12000 bytes\)\n/);
});

void test('a name with line breaks is printed as JSON, and accepted in that form', async () => {
  const repo = 'local/hidden';
  const displayed = String.raw`"odd\n[local/open] false.c:\n  1: cherry\u2028\u001b[31m"`;
  assert.equal(
    await textOf('grep', { pattern: 'cherry', repo }),
    `Found 1 matches in 1 files\n[${repo}] ${displayed}:\n  1: cherry`,
  );
  const texts = [
    await textOf('glob', { pattern: 'odd*/**', repo }),
    await textOf('list_tree', { repo, depth: 2 }),
    await textOf('list_tree', { repo, path: path.dirname(HOSTILE_NAME) }),
    await textOf('read_file', { repo, path: JSON.parse(displayed) as string }),
    await textOf('get_diff', { repo, base: 'HEAD^', head: 'HEAD' }),
    await textOf('get_diff', { repo, base: 'HEAD^', head: 'HEAD', path: HOSTILE_NAME }),
  ];
  for (const text of texts) {
    assert.doesNotMatch(text, /^\[local\/open|^open\]/m);
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Zl}]/u);
    assert.match(text, /"(?:[ab]\/)?odd\\n\[local/);
  }
});

void test('list_tree: indented, to a depth, files or folders only, truncated', async () => {
  const repo = 'local/open';
  assert.equal(
    await textOf('list_tree', { repo }),
    '[local/open] /\n  doc/\n  src/\n  web/\n  empty.txt\n  new.txt\n  README.md',
  );
  assert.equal(
    await textOf('list_tree', { repo, path: 'src', depth: 3 }),
    '[local/open] src/\n  long.js\n  main.c\n  plum.c\n  plum.h\n  wide.txt',
  );
  assert.equal(
    await textOf('list_tree', { repo, depth: 2, includeFiles: false }),
    '[local/open] /\n  doc/\n  src/\n  web/\n    [id]/',
  );
  assert.equal(
    await textOf('list_tree', { repo, depth: 2, includeDirectories: false, path: '/src/' }),
    '[local/open] src/\n  src/long.js\n  src/main.c\n  src/plum.c\n  src/plum.h\n  src/wide.txt',
  );
  assert.match(
    await textOf('list_tree', { repo, depth: 2, maxEntries: 3 }),
    /\(cut at 3 entries; /,
  );
  assert.match(await failureOf('list_tree', { repo, path: 'nowhere' }), /not found/);
});

void test('a submodule is reported as one, in lists and when requested as a file or folder', async () => {
  const inner = { repo: 'local/open', ref: 'linked', path: 'libs/inner' };
  assert.equal(
    await textOf('list_tree', { ...inner, path: 'libs' }),
    '[local/open] libs/\n  inner/ (submodule)',
  );
  assert.match(
    await failureOf('list_tree', inner),
    /^"libs\/inner" is a submodule, which is not indexed as a part of this repository/,
  );
  assert.match(await failureOf('read_file', inner), /not found: it is a submodule/);
  assert.match(await failureOf('read_file', { ...inner, path: 'libs' }), /it is a folder/);
});

void test('symbols: definitions and references', async () => {
  const requested = { repo: 'local/open', symbol: 'plum_count' };
  const defined = await textOf('find_symbol_definitions', requested);
  assert.match(defined, /^Found \d places in \d files\n/);
  assert.match(defined, /\[local\/open\] src\/plum\.c:\n  3: int plum_count\(int trees\) \{/);
  assert.equal(
    await textOf('find_symbol_references', { ...requested }).then((text) => text.split('\n')[0]),
    'Found 3 places in 3 files',
  );
  assert.match(
    await textOf('find_symbol_definitions', { ...requested, symbol: 'nobody' }),
    /^Found 0 places in 0 files\n/,
  );
});

void test('lists: repositories, branches, commits as JSON', async () => {
  const repos = JSON.parse(await textOf('list_repos', { query: 'OPEN' })) as Record<
    string,
    unknown
  >;
  assert.deepEqual(Object.keys(repos).sort(), ['repos', 'totalCount']);
  assert.equal(repos['totalCount'], 1);
  const page = JSON.parse(await textOf('list_repos', { perPage: 1 })) as Record<string, unknown>;
  assert.equal(page['totalCount'], 2);
  assert.equal(page['nextPage'], 2);
  const branches = JSON.parse(await textOf('list_branches', { repo: 'local/open' })) as {
    branches: Record<string, unknown>[];
  };
  assert.deepEqual(branches.branches[0], {
    name: 'main',
    commit: commits[0],
    committedAt: '2024-05-06T07:08:09.000Z',
    isDefault: true,
    isIndexed: true,
  });
  const found = JSON.parse(
    await textOf('list_commits', { repo: 'local/open', query: 'second' }),
  ) as { commits: { hash: string }[]; totalCount: number };
  assert.equal(found.totalCount, 1);
  assert.equal(found.commits[0]?.hash, commits[0]);
  assert.match(await failureOf('list_commits', { repo: 'local/open', since: 'never' }), /^since: /);
});

void test('get_diff: a unified diff that git applies', async () => {
  const requested = { repo: 'local/open', base: commits[1], head: commits[0] };
  assert.equal(
    await textOf('get_diff', requested),
    'diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1,3 @@\n # Open\n+\n+Plums.\n' +
      'diff --git a/new.txt b/new.txt\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new',
  );
  assert.equal(await textOf('get_diff', { ...requested, head: commits[1] }), 'No differences');
  const large = { repo: 'local/hidden', base: 'HEAD^', head: 'HEAD' };
  const cut = await textOf('get_diff', large);
  assert.match(
    cut,
    /\(cut: \d+ more lines of this file; .*\)\n\(cut: 1 more files of this page; call again with path.*\n  "odd.*\+1 -0$/,
  );
  assert.ok(cut.length > 50_000 && cut.length <= 60_000, String(cut.length));
  assert.match(
    await textOf('get_diff', { ...large, page: 2 }),
    /^No files on page 2: the last of the 2 files is on page 1\. What was cut .*: set path/,
  );
});

void test('lists that are too large for a result are cut, and say so', async () => {
  const large = { repo: 'local/hidden', ref: 'large' };
  const tree = await textOf('list_tree', large);
  assert.ok(tree.length > 50_000 && tree.length <= 60_000, String(tree.length));
  assert.match(tree, /\n\(cut: the text is full after \d+ entries; list a folder below\)$/);
  const log = await textOf('list_commits', large);
  assert.ok(log.length > 30_000 && log.length <= 60_000, String(log.length));
  const { commits: found, cut } = JSON.parse(log) as {
    readonly commits: readonly { readonly message: string; readonly body: string }[];
    readonly cut: string;
  };
  assert.equal(found.length, 40);
  assert.equal(found[0]?.message, 'subject 39');
  assert.ok(found.every(({ body }) => body.length === 1001 && body.endsWith('…')));
  assert.match(cut, /smaller perPage/);
  const few = await textOf('list_commits', { ...large, perPage: 2 });
  assert.doesNotMatch(few, /…|"cut"/);
});

void test('one repository needs no name; with several the refusal lists them', async () => {
  const narrow = await toolClient(served.url, await tokenFor('local/open'));
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['read_file', { path: 'README.md' }],
    ['list_tree', {}],
    ['find_symbol_definitions', { symbol: 'plum_count' }],
    ['find_symbol_references', { symbol: 'plum_count' }],
    ['list_branches', {}],
    ['list_commits', {}],
    ['get_diff', { base: 'HEAD^', head: 'HEAD' }],
  ];
  const { tools } = await owner.listTools();
  for (const [name, args] of calls) {
    const repo = 'local/open';
    assert.equal(
      await textOf(name, args, narrow),
      await textOf(name, { ...args, repo }, narrow),
      name,
    );
    assert.equal(
      await failureOf(name, args),
      'repo: required; there are local/open, local/hidden; call again with one as repo',
    );
    const { required } = tools.find((one) => one.name === name)!.inputSchema;
    assert.equal(required?.includes('repo') ?? false, false, name);
  }
  assert.equal(
    await failureOf('read_file', { path: 'README.md', repo: 'open' }),
    'Repository "open" not found; there are local/open and 1 more, which list_repos shows; call again with one as repo',
  );
  assert.equal(
    await failureOf('list_tree', { repo: 'acme/secret' }, narrow),
    'Repository "acme/secret" not found; there is local/open; call again with one as repo',
  );
  await narrow.close();
});

void test('arguments as models write them: numbers as text, null, empty texts, absolute paths', async () => {
  const repo = 'local/open';
  const plain = await textOf('grep', { pattern: 'line', repo, limit: 5, contextLines: 1 });
  assert.equal(
    await textOf('grep', {
      pattern: 'line',
      repo,
      limit: '5',
      contextLines: '1',
      groupByRepo: 'false',
      path: null,
    }),
    plain,
  );
  const file = await textOf('read_file', { repo, path: 'src/main.c' });
  for (const path of ['./src/main.c', '/src/main.c', '././/src/main.c'])
    assert.equal(await textOf('read_file', { repo, path }), file);
  assert.equal(await textOf('read_file', { repo, path: 'src/main.c', ref: '' }), file);
  const tree = await textOf('list_tree', { repo, path: 'src' });
  assert.equal(await textOf('list_tree', { repo, path: 'src', ref: '' }), tree);
  for (const path of ['./src', '/src/'])
    assert.equal(await textOf('list_tree', { repo, path }), tree);
  assert.match(await textOf('list_commits', { repo, path: './src' }), /"totalCount":1/);
  assert.match(
    await textOf('get_diff', { repo, base: 'HEAD^', head: 'HEAD', path: '/new.txt' }),
    /\+new$/,
  );
});

void test('values above the maximum are reported', async () => {
  const repo = 'local/open';
  assert.match(
    await textOf('grep', { pattern: 'quince', repo, contextLines: 21, limit: 10_001 }),
    /\n\(limit 10001 is above the limit, \d+ was used\)\n\(contextLines 21 is above the limit, 20 was used\)$/,
  );
  assert.match(
    await textOf('glob', { pattern: 'page.*', limit: 20_000 }),
    /\n\(limit 20000 is above the limit, 10000 was used\)$/,
  );
  assert.match(
    await textOf('list_tree', { repo, depth: 11, maxEntries: 10_001 }),
    /\n\(depth 11 is above the limit, 10 was used\)\n\(maxEntries 10001 is above the limit, 10000 was used\)$/,
  );
});

void test('each failure says what to do', async () => {
  const repo = 'local/open';
  const failures: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ['grep', { pattern: 'plum_count(' }, /; to find it as text use plum_count\\\($/],
    ['grep', { pattern: 'x', limit: 'many' }, /^limit: .*; grep takes pattern, path\?, repo\?, /],
    ['read_file', { repo, path: 'nowhere.c' }, /; glob finds files by name, list_tree /],
    ['list_tree', { repo, path: 'nowhere' }, /; glob finds files by name, list_tree /],
    ['read_file', { repo, path: 'new.txt', ref: 'nowhere' }, /; list_branches shows branches/],
    ['get_diff', { repo, base: 'nowhere', head: 'HEAD' }, /; list_branches shows branches/],
    ['get_diff', { repo, base: 'HEAD' }, /^head: .*; get_diff takes repo\?, base, head, path\?/],
  ];
  for (const [name, args, remedy] of failures) assert.match(await failureOf(name, args), remedy);
});

/** A token of the owner's key for one repository. */
async function tokenFor(repo: string): Promise<string> {
  const repoIds = await idsOf(repo);
  const answer = await call(`${served.url}/api/ee/scoped_access_token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ repoIds }),
  });
  const { token } = (await answer.json()) as { readonly token: string };
  return token;
}

async function idsOf(name: string): Promise<readonly number[]> {
  const { body } = await get<readonly { readonly repoId: number }[]>(
    `${served.url}/api/repos?name=${name}`,
    { authorization: `Bearer ${KEY}` },
  );
  return body.map(({ repoId }) => repoId);
}

void test('repositories hidden from a guest or a scoped token are in no tool', async () => {
  const scoped = await toolClient(served.url, await tokenFor('local/open'));
  for (const client of [guest, scoped]) await assertHidden(client);
  await scoped.close();
  const narrow = await toolClient(served.url, await tokenFor('local/hidden'));
  assert.match(await textOf('grep', { pattern: 'plum' }, narrow), /^Found 1 matches in 1 files\n/);
  assert.match(await failureOf('list_tree', { repo: 'local/open' }, narrow), /not found/);
  await narrow.close();
});

async function assertHidden(client: Client): Promise<void> {
  const hidden = { repo: 'local/hidden' };
  assert.match(await textOf('grep', { pattern: 'plum_secret' }), /local\/hidden/);
  assert.equal(await textOf('grep', { pattern: 'plum_secret' }, client), 'No matches found');
  assert.match(await textOf('glob', { pattern: 'secret.c' }, client), /^Found 0 files/);
  assert.doesNotMatch(await textOf('list_repos', {}, client), /hidden/);
  assert.doesNotMatch(
    await textOf('grep', { pattern: 'plum', groupByRepo: true }, client),
    /hidden/,
  );
  const calls: [string, Record<string, unknown>][] = [
    ['grep', { pattern: 'x', ...hidden }],
    ['glob', { pattern: '*', ...hidden }],
    ['read_file', { path: 'secret.c', ...hidden }],
    ['list_tree', hidden],
    ['list_branches', hidden],
    ['list_commits', hidden],
    ['get_diff', { base: 'main~1', head: 'main', ...hidden }],
    ['find_symbol_definitions', { symbol: 'plum_secret', ...hidden }],
    ['find_symbol_references', { symbol: 'plum_secret', ...hidden }],
  ];
  for (const [name, args] of calls) {
    const isHidden = await failureOf(name, args, client);
    const isNowhere = await failureOf(name, { ...args, repo: 'local/hiddex' }, client);
    assert.equal(isHidden, isNowhere.replace('hiddex', 'hidden'), name);
  }
}

void test('arguments that are options, paths, endless expressions, or no arguments', async () => {
  const repo = 'local/open';
  const refused: [string, Record<string, unknown>, RegExp][] = [
    ['read_file', { repo, path: '../../../etc/passwd' }, /not found/i],
    ['read_file', { repo, path: '/etc/passwd' }, /not found/i],
    ['read_file', { repo, path: 'src/../README.md' }, /not found/i],
    ['read_file', { repo, path: '.git/config' }, /not found/i],
    ['read_file', { repo, path: 'README.md\0.txt' }, /not found/i],
    ['read_file', { repo, path: '--output=/tmp/x' }, /not found/i],
    ['read_file', { repo: '../open', path: 'README.md' }, /not found/i],
    ['read_file', { repo, path: 'README.md', ref: '--output=/tmp/x' }, /ref is not valid/],
    ['read_file', { repo, path: 'README.md', ref: 'main\0' }, /ref is not valid/],
    ['read_file', { repo, path: 'README.md', ref: 'main..main' }, /ref is not valid/],
    ['get_diff', { repo, base: '--no-index', head: 'main' }, /ref is not valid/],
    ['list_commits', { repo, ref: '-n1' }, /ref is not valid/],
    ['list_commits', { repo, path: '../x' }, /not found/i],
    ['list_commits', { repo, path: 'a\0b' }, /./],
    ['list_commits', { repo, since: '--output=/tmp/x' }, /^since: /],
    ['get_diff', { repo, base: 'main~1', head: 'main', path: '../x' }, /not found/i],
    ['get_diff', { repo, base: 'main~1', head: '-O/etc/passwd' }, /ref is not valid/],
    ['list_tree', { repo, path: '../..' }, /not found/i],
    ['list_tree', { repo, path: '/etc' }, /not found/i],
    ['list_tree', { repo, path: '--output=x' }, /not found/i],
    ['list_tree', { repo, ref: '--help' }, /ref is not valid/],
    ['grep', { pattern: '(' }, /position 0/],
    ['grep', { pattern: '(a{1000}){1000}' }, /./],
    ['grep', { pattern: 'a'.repeat(5000) }, /./],
    ['grep', { pattern: 'a', path: '../x' }, /not found/i],
    ['grep', { pattern: 'a', include: '['.repeat(6000) }, /./],
    ['grep', { pattern: 'a', include: '{'.repeat(500_000) }, /^include: longer than 4096 bytes$/],
    ['glob', { pattern: '{'.repeat(4096) }, /./],
    ['read_file', { repo, path: 'a/'.repeat(200_000) }, /^path: longer than 4096 bytes$/],
    ['list_tree', { repo: 'x'.repeat(4096) }, /^Repository "x{100}…" not found; there are local/],
    ['grep', { pattern: 7 }, /^pattern: /],
    ['grep', {}, /^pattern: /],
    ['grep', { pattern: 'a', caseSensitive: true }, /caseSensitive/],
    ['grep', { pattern: 'a', limit: 0 }, /^limit: /],
    ['glob', { pattern: '' }, /^pattern: /],
    ['get_diff', { repo, base: '', head: 'HEAD' }, /^base: .*get_diff takes repo\?, base, /],
    ['find_symbol_definitions', { repo, symbol: 'x'.repeat(2000) }, /^symbol: /],
  ];
  for (const [name, args, reason] of refused)
    assert.match(await failureOf(name, args), reason, name);
  const { text, isError } = await callTool(owner, 'rm', { path: '/' });
  assert.equal(isError, true);
  assert.match(text, /^Tool "rm" failed: there is no such tool/);
});

void test('an argument that looks like an option is plain text', async () => {
  const option = `--output=${path.join(temporaryFolder(), 'made')}`;
  const repo = 'local/open';
  assert.match(await textOf('list_commits', { repo, query: option }), /"totalCount":0/);
  assert.match(await textOf('list_commits', { repo, author: option }), /"totalCount":0/);
  assert.match(await textOf('grep', { repo, pattern: option }), /^No matches found/);
  assert.match(await textOf('glob', { repo, pattern: option }), /^Found 0 files/);
  assert.match(await textOf('find_symbol_references', { repo, symbol: option }), /^Found 0 places/);
  assert.equal(existsSync(option.slice('--output='.length)), false);
});

void test('a session belongs to the credential that opened it, not to others of the same user', async () => {
  const send = async (method: string, authorization: string | undefined) => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-session-id': owner.transport?.sessionId ?? '',
      ...(authorization === undefined ? {} : { authorization }),
    };
    const body = method === 'POST' ? { body: '{"jsonrpc":"2.0","id":"p","method":"ping"}' } : {};
    return (await fetch(`${served.url}/api/mcp`, { method, headers, ...body })).status;
  };
  for (const method of ['POST', 'DELETE'])
    for (const other of [undefined, `Bearer ${await tokenFor('local/open')}`])
      assert.equal(await send(method, other), 403);
  assert.equal(await send('POST', `Bearer ${KEY}`), 200);
});

void test('10 MB of arguments are refused, and the session continues', async () => {
  await assert.rejects(callTool(owner, 'grep', { pattern: 'x'.repeat(10 << 20) }), /413/);
  assert.match(await textOf('grep', { pattern: 'plums' }), /^Found /);
});

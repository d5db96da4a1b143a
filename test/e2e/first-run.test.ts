// First use: every kind of source, and typical mistakes.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import {
  get,
  MAIN,
  pathsOf,
  post,
  Running,
  search,
  serve,
  serveIndexed,
  trawl,
  type Outcome,
} from './daemon.ts';

void test('the same source given twice, in different spellings, is one repo and one job', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const spellings = [repo, `${repo}/`, `${repo}/.`, `file://${repo}`];
  const { code, stdout } = await trawl([
    'index',
    '--json',
    '--data-dir',
    temporaryFolder(),
    ...spellings,
  ]);
  assert.equal(code, 0);
  assert.equal(stdout.trim().split('\n').length, 1, stdout);
});

void test('the data directory inside a source is not indexed, its secret least of all', async () => {
  const key = `svk_${'a'.repeat(64)}`;
  const env = { TRAWL_OWNER_EMAIL: 'a@example.com', TRAWL_OWNER_API_KEY: key };
  for (const makeSource of [
    () => makeRepo({ 'a.txt': 'plum\n' }),
    () => {
      const folder = temporaryFolder();
      writeFiles(folder, { 'a.txt': 'plum\n' });
      return folder;
    },
  ]) {
    const source = makeSource();
    assert.equal((await trawl(['index', '.'], { cwd: source })).code, 0);
    const served = await serveIndexed('.trawl', ['.'], { cwd: source, env });
    assert.match(served.process.stderr, /isUnchanged=true/);
    assert.ok(existsSync(path.join(source, '.trawl', 'secret')));
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await post(served.url, { query: 'file:t or file:s' }, headers);
    assert.deepEqual(pathsOf(body), ['a.txt']);
    const repo = body.files[0]?.repository ?? '';
    const secret = await get(`${served.url}/api/source?repo=${repo}&path=.trawl/secret`, headers);
    assert.equal(secret.status, 404);
    await served.process.stop();
  }
});

void test('the data directory is private, and a second daemon cannot use it', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const dataDir = path.join(temporaryFolder(), 'deep', 'data');
  const served = await serveIndexed(dataDir, [repo]);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  for (const command of [['serve', '--port', '0'], ['index']]) {
    const { code, stderr } = await trawl([...command, '--data-dir', dataDir, repo]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`in use by process ${String(served.process.child.pid)}`));
    assert.match(stderr, /Stop it or pass another --data-dir/);
  }
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt']);
  await served.process.stop();
  assert.equal(readdirSync(dataDir).includes('lock'), false);
});

void test('without an index every command says so and what to do', async () => {
  const dataDir = temporaryFolder();
  for (const command of [['verify'], ['search', 'plum']]) {
    const { code, stdout, stderr } = await trawl([...command, '--data-dir', dataDir]);
    assert.equal(code, 2, command[0]);
    assert.equal(stdout, '');
    assert.ok(stderr.includes(`no index in ${dataDir}; make one with "trawl index PATH"`), stderr);
  }
  const served = await serve(dataDir, []);
  await served.process.until(/nothing to search: .*trawl serve PATH/);
  await served.process.stop();
  // Indexed, though there is nothing in it.
  await trawl(['index', '--data-dir', dataDir, temporaryFolder()]);
  assert.equal((await trawl(['verify', '--data-dir', dataDir])).code, 0);
});

void test('a command that fails at once makes no data directory, which would hide one above', async () => {
  const cwd = temporaryFolder();
  const commands = [['index', 'nosuch'], ['index'], ['serve', '--port', '0', 'nosuch']];
  for (const command of [...commands, ['license', 'set', '-']]) {
    const { code, stderr } = await trawl(command, { cwd, input: 'no licence' });
    assert.equal(code, 2, stderr);
    assert.deepEqual(readdirSync(cwd), [], command.join(' '));
  }
});

void test('an index is found from a folder below, otherwise the daemon at the usual port', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a/b/plum.txt': 'plum\n' });
  assert.equal((await trawl(['index', '.'], { cwd: folder })).code, 0);
  const below = { cwd: path.join(folder, 'a', 'b') };
  assert.match((await trawl(['search', 'plum'], below)).stdout, /^plum\.txt:1:plum/);
  assert.equal((await trawl(['verify'], below)).code, 0);
  const explicit = await trawl(['search', 'plum', '--data-dir', 'other'], below);
  assert.match(explicit.stderr, /no index in \S+\/other; /);

  const served = await serveIndexed(temporaryFolder(), [folder]);
  const elsewhere = { cwd: temporaryFolder(), env: { TRAWL_PORT: new URL(served.url).port } };
  const found = await trawl(['search', 'plum'], elsewhere);
  assert.equal(found.code, 0);
  assert.match(found.stderr, /^no index here; searching the daemon at http:\/\/127\.0\.0\.1:\d+$/m);
  await served.process.stop();
  const { code, stderr } = await trawl(['search', 'plum'], elsewhere);
  assert.equal(code, 2);
  assert.match(stderr, /no index in /);
});

void test('many sources are indexed without warnings of Node.js; a repeated signal ends the daemon in order', async () => {
  const repos = Array.from({ length: 12 }, () => makeRepo({ 'a.txt': 'plum\n' }));
  const bare = temporaryFolder();
  git(bare, 'clone', '-q', '--bare', repos[0]!, 'bare.git');
  const served = await serveIndexed(temporaryFolder(), [...repos, path.join(bare, 'bare.git')]);
  // As npm and timeout(1) end what they have started: once by themselves, once by its group.
  served.process.child.kill('SIGINT');
  const { code, stderr } = await served.process.stop();
  assert.equal(code, 0);
  assert.match(stderr, / the daemon has stopped\n$/);
  assert.doesNotMatch(stderr, /Warning|\(node:/);
});

void test('sources that cannot be indexed: exit 2 and a message that names them', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'file.txt');
  writeFileSync(file, 'plum\n');
  const cases: [string, RegExp][] = [
    [path.join(folder, 'no-such'), /no-such: does not exist/],
    ['', /^error: a source is empty; give the path of a folder/m],
    [file, /^error: .*file\.txt: not a directory; .* unpack an archive first\n$/],
    ['https://host.example/name.git', /https:\/\/host\.example\/name\.git: .*clone it/],
    ['git@host.example:name.git', /git@host\.example:name\.git: .*clone it/],
  ];
  for (const [i, [source, message]] of cases.entries()) {
    for (const command of i === 0 ? [['serve', '--port', '0'], ['index']] : [['index']]) {
      const { code, stdout, stderr } = await trawl([
        ...command,
        '--data-dir',
        path.join(folder, 'data'),
        source,
      ]);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }
  }
  const commits = await trawl([
    'index',
    '--mode',
    'commits',
    '--data-dir',
    path.join(folder, 'data'),
    folder,
  ]);
  assert.equal(commits.code, 2);
  assert.match(commits.stderr, /not a git repository, so it has no commits/);
});

/** Ends what is drawn in place: progress. */
const CLEARS_LINE = '\u001b[2K';

/** What a command shows on a terminal, and the lines of it behind the progress: a pseudo terminal of util-linux, `script`, which Debian always has. */
async function runOnTerminal(args: readonly string[]): Promise<Outcome & { lines: string[] }> {
  const quoted = [process.execPath, MAIN, ...args].map((one) => `'${one}'`).join(' ');
  const outcome = await new Running('script', ['-qec', quoted, '/dev/null'], {
    env: { TERM: 'xterm' },
  }).ended;
  const [displayed = ''] = outcome.stdout.split(CLEARS_LINE).slice(-1);
  const lines = stripVTControlCharacters(displayed);
  return { ...outcome, lines: lines.split(/\r?\n/).filter((line) => line !== '') };
}

const NO_SCRIPT = process.platform !== 'linux' && 'only Linux has this `script`';

void test('index on a terminal: each fact once, no log lines', { skip: NO_SCRIPT }, async () => {
  const folder = temporaryFolder();
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const empty = temporaryFolder();
  const indexOnTerminal = (...sources: string[]) =>
    runOnTerminal(['index', '--data-dir', path.join(folder, 'data'), ...sources]);

  const nothing = await indexOnTerminal('/nope');
  assert.deepEqual(nothing.lines, ['error: /nope: does not exist']);
  assert.equal(nothing.code, 2);

  const { lines, code } = await indexOnTerminal(repo, '/nope', empty);
  assert.equal(code, 2);
  const names = [repo, empty].map((source) => `local/${path.basename(source)}`);
  assert.equal(lines.length, 4, lines.join('\n'));
  assert.equal(lines[0], '/nope: failed: does not exist');
  assert.match(lines[1]!, new RegExp(`^${names[0]}: 1 doc, 5 B of content, .* of shards, `));
  assert.match(lines[2]!, new RegExp(`^${names[1]}: 0 docs, `));
  assert.equal(lines[3], `${names[1]}: warning: nothing is indexed: the folder has no files`);
});

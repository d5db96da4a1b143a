// First use: every kind of source, and typical mistakes.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import {
  get,
  index,
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

/** A work tree with every kind of file, partly committed. */
function oddWorktree(): string {
  const repo = makeRepo({ 'src/plum.txt': 'a plum\n', 'gone.txt': 'plum, deleted on disk\n' });
  writeFiles(repo, {
    '.gitignore': 'ignored.txt\n',
    'ignored.txt': 'plum\n',
    'untracked.txt': 'plum\n',
    'empty.txt': '',
    'binary.bin': Buffer.from('plum\0plum'),
    'huge.txt': `plum\n${'x'.repeat(4_194_304)}`,
    'latin.txt': Buffer.from('plum caf\xe9\n', 'latin1'),
    '.hidden/plum.txt': 'plum\n',
    'with space & ünï%23.txt': 'plum\n',
  });
  writeFileSync(
    Buffer.concat([Buffer.from(`${repo}/n`), Buffer.from([0xff]), Buffer.from('.txt')]),
    'plum\n',
  );
  symlinkSync('src/plum.txt', path.join(repo, 'link.txt'));
  symlinkSync('/etc', path.join(repo, 'away'));
  rmSync(path.join(repo, 'gone.txt'));
  return repo;
}

const PLUM_PATHS = [
  '.hidden/plum.txt',
  'latin.txt',
  'link.txt',
  'n\ufffd.txt',
  'src/plum.txt',
  'untracked.txt',
  'with space & ünï%23.txt',
];

void test('a work tree: files on disk, without those ignored by git; unreadable content by name', async () => {
  const served = await serveIndexed(temporaryFolder(), [oddWorktree()]);
  const found = await search(served.url, 'plum');
  assert.deepEqual(pathsOf(found), PLUM_PATHS);
  assert.equal(found.isSearchExhaustive, true);

  const skipReasonOf = async (query: string): Promise<string | undefined> => {
    const { files } = await search(served.url, query);
    assert.equal(files.length, 1, query);
    assert.deepEqual(files[0]?.chunks, []);
    return files[0]?.skipReason;
  };
  assert.equal(await skipReasonOf('file:huge\\.txt'), 'too_large');
  assert.equal(await skipReasonOf('file:binary\\.bin'), 'binary');
  assert.equal(await skipReasonOf('file:empty\\.txt'), undefined);
  assert.equal(await skipReasonOf('file:away'), undefined);
  assert.deepEqual(pathsOf(await search(served.url, 'file:gone or file:ignored\\.txt')), []);
  const { body } = await get<{ indexedAt?: string }[]>(`${served.url}/api/repos`);
  assert.equal(body.length, 1);
  assert.ok(body[0]?.indexedAt);
  assert.equal((await served.process.stop()).code, 0);
});

void test('bare, mirror, detached, empty, folder: several sources at once', async () => {
  const folder = temporaryFolder();
  const origin = makeRepo({ 'a.txt': 'committed plum\n' });
  for (const kind of ['bare', 'mirror'])
    git(folder, 'clone', '-q', `--${kind}`, origin, `${kind}.git`);
  git(folder, 'clone', '-q', origin, 'detached');
  git(path.join(folder, 'detached'), 'checkout', '-q', '--detach');
  git(folder, 'init', '-q', 'empty');
  git(folder, 'init', '-q', '--bare', 'empty.git');
  writeFiles(folder, {
    'plain/b.txt': 'plum in a folder\n',
    // Counts inside repositories only.
    'plain/.gitignore': 'b.txt\n',
    'plain/.ignore': 'no\n',
    'plain/no': 'plum\n',
  });
  mkdirSync(path.join(folder, 'nothing'));
  const names = ['bare.git', 'mirror.git', 'detached', 'empty', 'empty.git', 'plain', 'nothing'];
  const served = await serveIndexed(
    temporaryFolder(),
    names.map((name) => path.join(folder, name)),
  );
  const found = await search(served.url, 'plum');
  const locations = found.files.map(({ repository, fileName }) => `${repository}:${fileName.text}`);
  const expected = ['bare.git:a.txt', 'detached:a.txt', 'mirror.git:a.txt', 'plain:b.txt'];
  assert.deepEqual(
    locations.sort(),
    expected.map((name) => `local/${name}`),
  );
  assert.equal(found.isSearchExhaustive, true);
  const { body } = await get<{ repoName: string; indexedAt?: string }[]>(`${served.url}/api/repos`);
  assert.deepEqual(
    body.map(({ repoName }) => repoName),
    names.map((name) => `local/${name}`).sort(),
  );
  assert.ok(body.every(({ indexedAt }) => indexedAt !== undefined));
  await served.process.stop();
});

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

void test('two repos with the same folder name and content get names and shards of their own', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a/app/f.txt': 'plum\n', 'b/app/f.txt': 'plum\n' });
  const sources = ['a', 'b'].map((name) => path.join(folder, name, 'app'));
  const dataDir = temporaryFolder();
  await index(dataDir, sources);
  const { stdout } = await trawl(['search', '-l', '--data-dir', dataDir, 'plum']);
  assert.equal(new Set(stdout.trim().split('\n')).size, 2, stdout);
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

void test('an index is found from a folder below, otherwise the daemon at the usual port', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a/b/plum.txt': 'plum\n' });
  assert.equal((await trawl(['index', '.'], { cwd: folder })).code, 0);
  const below = { cwd: path.join(folder, 'a', 'b') };
  assert.match((await trawl(['search', 'plum'], below)).stdout, /:a\/b\/plum\.txt:1:plum/);
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

void test('a folder of repositories: each is served, later ones too; links are not followed', async () => {
  const folder = temporaryFolder();
  for (const name of ['one', 'owner/two'])
    git(folder, 'clone', '-q', makeRepo({ 'a.txt': 'plum\n' }), name);
  git(folder, 'clone', '-q', '--bare', makeRepo({ 'a.txt': 'plum\n' }), 'three.git');
  const links = temporaryFolder();
  for (const name of ['one', 'owner/two', 'three.git'])
    symlinkSync(path.join(folder, name), path.join(links, path.basename(name)));
  const dataDir = temporaryFolder();
  writeFileSync(path.join(folder, '.ignore'), '*.log\n');
  writeFileSync(path.join(folder, 'a.log'), 'plum\n');
  // Named, and found in the catalog.
  for (const sources of [[folder, links], []]) {
    const served = await serve(dataDir, sources);
    for (const name of ['one', 'owner/two', 'three.git'])
      await served.process.until(new RegExp(`^local/${name}: `, 'm'));
    if (sources.length > 0) {
      await served.process.until(
        new RegExp(`WARN .*contains 3 links to repositories, which are not .*serve ${links}/\\*/`),
      );
      await served.process.until(/repositories found in a folder .* repos=3 bare=1 filesBeside=2/);
      await served.process.until(
        /^1 file or folder ignored by \.ignore, a folder counted as one: --no-ignore reads them/m,
      );
      git(folder, 'clone', '-q', path.join(folder, 'one'), 'owner/late');
      await served.process.until(/repo indexed .*repo=local\/owner\/late /);
    }
    const { stderr } = await served.process.stop();
    assert.equal(/ignored by/.test(stderr), sources.length > 0);
  }
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

void test('an unreadable file is excluded and named in the log; the rest is indexed', async (t) => {
  if (process.getuid?.() === 0) {
    t.skip('root reads everything');
    return;
  }
  const repo = makeRepo({ 'a.txt': 'plum\n', 'b.txt': 'plum\n' });
  const { chmodSync } = await import('node:fs');
  chmodSync(path.join(repo, 'b.txt'), 0);
  const served = await serveIndexed(temporaryFolder(), [repo]);
  assert.match(served.process.stderr, /file left out.*b\.txt/);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt']);
  await served.process.stop();
});

/** Ends what is drawn in place: progress. */
const SHOWS_CURSOR = '\u001b[?25h';

/** What a command shows on a terminal, and the lines of it behind the progress: a pseudo terminal of util-linux, `script`, which Debian always has. */
async function runOnTerminal(args: readonly string[]): Promise<Outcome & { lines: string[] }> {
  const quoted = [process.execPath, MAIN, ...args].map((one) => `'${one}'`).join(' ');
  const outcome = await new Running('script', ['-qec', quoted, '/dev/null'], {
    env: { TERM: 'xterm' },
  }).ended;
  const [displayed = ''] = outcome.stdout.split(SHOWS_CURSOR).slice(-1);
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

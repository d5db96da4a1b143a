// The history endpoints with a real daemon and repositories of every kind: shapes, pages and links, the order of the
// checks, every invalid input, and git after its client has disconnected.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import test, { before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { goneSoon, isRunning, makeBrakedGit } from '../sources/history/braked-git.ts';
import { makeHistory } from '../sources/history/repos.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type App, type Answer, BAD_REFS, startApp } from './app.ts';

type Body = Record<string, unknown>;

const ENDPOINTS = ['blame', 'diff', 'commit', 'commits', 'commits/authors'] as const;
type Name = (typeof ENDPOINTS)[number];

// Made outside the hook: a folder made inside would be removed at the hook's end.
const parent = temporaryFolder();
const tree = path.join(parent, 'tree');
const bare = makeHistory([
  { message: 'one', date: '1700000000 +0000', files: { 'a.txt': 'a\nb\n', 'd/x': 'x\n' } },
  { message: 'two', date: '1700086400 +0100', files: { 'a.txt': 'a\nc\n' } },
  {
    message: 'three\n\nbody\n',
    date: '1700172800 +0000',
    author: 'B <b@example.com>',
    files: { 'a.txt': 'a\nd\n' },
  },
]).path;
/** Blames at a time: one repository has three quarters of what may run. Then a few more than may wait. */
const RUNNING_MAX = Math.ceil((Math.max(4, availableParallelism() * 2) * 3) / 4);
const MANY = RUNNING_MAX + 256 + 20;
const many = makeHistory([
  { files: Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`f${i}`, `${i}\n`])) },
]).path;
const braked = makeBrakedGit();
process.env['PATH'] = braked.path;
let app: App;

before(async () => {
  mkdirSync(tree);
  git(tree, 'init', '-q', '-b', 'main');
  writeFiles(tree, { 'a.txt': 'one\n' });
  commitAll(tree, 'first');
  writeFiles(tree, {
    'a.txt': 'on disk\n',
    '.mailmap': 'Nobody <n@example.com> <a@example.com>\n',
  });
  mkdirSync(path.join(parent, 'empty'));
  git(path.join(parent, 'empty'), 'init', '-q', '-b', 'main');
  writeFiles(parent, { 'plain/a.txt': 'a\n' });
  git(parent, 'clone', '-q', '--bare', bare, 'named.git');
  git(parent, 'clone', '-q', '--bare', '--depth=1', `file://${bare}`, 'shallow.git');
  git(parent, 'clone', '-q', bare, 'detached');
  git(path.join(parent, 'detached'), 'checkout', '-q', '--detach', 'HEAD~1');
  const gone = makeRepo({ 'a.txt': 'a\n' });
  git(parent, 'clone', '-q', '--bare', gone, 'gone.git');
  git(parent, 'clone', '-q', '--bare', many, 'many.git');
  const folders = ['tree', 'empty', 'plain', 'detached'];
  const bares = ['many.git', 'named.git', 'shallow.git', 'gone.git'];
  app = await startApp([...bares, ...folders].map((name) => path.join(parent, name)));
});

function fetchHistory<Value = Body>(
  name: Name,
  repo: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer<Value>> {
  const query = new URLSearchParams({ repo: `local/${repo}`, ...more });
  return app.get<Value>(`/api/${name}?${query.toString()}`);
}

/** Parameters with which an endpoint answers 200 for the repos that have `a.txt`. */
const GOOD: Readonly<Record<Name, Readonly<Record<string, string>>>> = {
  blame: { path: 'a.txt' },
  diff: { base: 'HEAD', head: 'HEAD' },
  commit: { ref: 'HEAD' },
  commits: {},
  'commits/authors': {},
};

async function codeOf(
  name: Name,
  repo: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, body } = await fetchHistory(name, repo, { ...GOOD[name], ...more });
  return status === 200 ? 'OK' : String(body['errorCode']);
}

test('results have the object ids of git, where they are of a commit', async () => {
  const { files } = await app.search('file:a.txt', { fields: ['blobSha'] });
  const ids = new Map(files.map(({ repository, blobSha }) => [repository, blobSha]));
  for (const name of ['named.git', 'shallow.git'])
    assert.equal(ids.get(`local/${name}`), git(bare, 'rev-parse', 'HEAD:a.txt'), name);
  for (const name of ['tree', 'plain']) assert.equal(ids.get(`local/${name}`), undefined, name);
});

test('blame', async () => {
  const { body } = await fetchHistory('blame', 'named.git', { path: 'a.txt' });
  const [first, , third] = git(bare, 'log', '--reverse', '--format=%H').split('\n');
  assert.deepEqual(body, {
    ranges: [
      { hash: first, path: 'a.txt', startLine: 1, lineCount: 1 },
      { hash: third, path: 'a.txt', startLine: 2, lineCount: 1 },
    ],
    commits: {
      [first!]: {
        hash: first,
        date: '2023-11-14T22:13:20.000Z',
        message: 'one',
        authorName: 'A',
        authorEmail: 'a@example.com',
      },
      [third!]: {
        hash: third,
        date: '2023-11-16T22:13:20.000Z',
        message: 'three',
        authorName: 'B',
        authorEmail: 'b@example.com',
        previous: { hash: git(bare, 'rev-parse', 'main~1'), path: 'a.txt' },
      },
    },
  });
  const older = await fetchHistory('blame', 'named.git', { path: 'a.txt', ref: 'main~2' });
  assert.deepEqual(older.body['ranges'], [
    { hash: first, path: 'a.txt', startLine: 1, lineCount: 2 },
  ]);
});

test('diff', async () => {
  const { body } = await fetchHistory('diff', 'named.git', { base: 'main~1', head: 'main' });
  const hunk = {
    oldRange: { start: 1, lines: 2 },
    newRange: { start: 1, lines: 2 },
    body: ' a\n-c\n+d',
  };
  const paths = { oldPath: 'a.txt', newPath: 'a.txt', status: 'modified' };
  const counts = { additions: 1, deletions: 1, isBinary: false, language: 'Text' };
  assert.deepEqual(body, { files: [{ ...paths, ...counts, hunks: [hunk] }] });
  for (const [more, count] of [
    [{ path: 'd' }, 0],
    [{ path: 'nowhere' }, 0],
    [{ path: '' }, 1],
    [{ base: 'main' }, 0],
  ] as const) {
    const some = await fetchHistory<{ files: unknown[] }>('diff', 'named.git', {
      base: 'main~1',
      head: 'main',
      ...more,
    });
    assert.equal(some.body.files.length, count, JSON.stringify(more));
  }
});

test('the files of the first commit, by pages', async () => {
  const root = { base: 'main~2^', head: 'main~2' };
  const first = await fetchHistory<{ files: { newPath: string }[] }>('diff', 'named.git', {
    ...root,
    perPage: '1',
  });
  assert.deepEqual(
    first.body.files.map(({ newPath }) => newPath),
    ['a.txt'],
  );
  assert.equal(first.headers.get('x-total-count'), '2');
  assert.match(first.headers.get('link') ?? '', /page=2&perPage=1&repo=.*; rel="next"/);
  const second = await fetchHistory<typeof first.body>('diff', 'named.git', {
    ...root,
    perPage: '1',
    page: '2',
    ignoreWhitespace: 'true',
  });
  assert.deepEqual(
    second.body.files.map(({ newPath }) => newPath),
    ['d/x'],
  );
  const whole = await fetchHistory('diff', 'named.git', root);
  assert.equal(whole.headers.get('x-total-count'), '2');
  assert.equal(whole.headers.get('link'), null);
  assert.equal(await codeOf('diff', 'named.git', { perPage: '0' }), 'INVALID_QUERY_PARAMS');
});

test('commit and commits', async () => {
  const { body } = await fetchHistory('commit', 'named.git', { ref: 'main' });
  const three = {
    hash: git(bare, 'rev-parse', 'main'),
    date: body['date'],
    message: 'three',
    refs: 'HEAD -> main',
    body: 'body\n',
    authorName: 'B',
    authorEmail: 'b@example.com',
  };
  assert.match(String(body['date']), /^2023-11-16T22:13:20(?:Z|\+00:00)$/);
  assert.deepEqual(body, { ...three, parents: [git(bare, 'rev-parse', 'main~1')] });
  const listed = await fetchHistory<Body[]>('commits', 'named.git', { perPage: '2' });
  assert.deepEqual(listed.body[0], three);
  assert.deepEqual(
    listed.body.map(({ message }) => message),
    ['three', 'two'],
  );
  assert.equal(listed.body[1]?.['date'], '2023-11-15T23:13:20+01:00');
});

test('pages, links and counts of commits and authors', async () => {
  const commits = await fetchHistory<Body[]>('commits', 'named.git', {
    perPage: '1',
    page: '2',
    path: 'a.txt',
    since: '2023-01-01',
    until: '2024-01-01',
    ref: 'main',
    author: 'example',
    query: 't',
  });
  assert.equal(commits.headers.get('x-total-count'), '2');
  const own =
    'repo=local%2Fnamed.git&query=t&since=2023-01-01&until=2024-01-01&author=example&ref=main&path=a.txt';
  const link = (page: number, name: string): string =>
    `<${app.url}/api/commits?page=${page}&perPage=1&${own}>; rel="${name}"`;
  assert.equal(
    commits.headers.get('link'),
    [link(1, 'first'), link(1, 'prev'), link(2, 'last')].join(', '),
  );
  assert.deepEqual(
    commits.body.map(({ message }) => message),
    ['two'],
  );
  const beyond = await fetchHistory<Body[]>('commits', 'named.git', {
    page: '9007199254740991',
    perPage: '100',
  });
  assert.deepEqual([beyond.body, beyond.headers.get('x-total-count')], [[], '3']);
  const authors = await fetchHistory<Body[]>('commits/authors', 'named.git', { perPage: '1' });
  assert.deepEqual(authors.body, [{ name: 'A', email: 'a@example.com', commitCount: 2 }]);
  assert.equal(authors.headers.get('x-total-count'), '2');
  assert.equal(
    authors.headers.get('link'),
    `<${app.url}/api/commits/authors?page=1&perPage=1&repo=local%2Fnamed.git>; rel="first", ` +
      `<${app.url}/api/commits/authors?page=2&perPage=1&repo=local%2Fnamed.git>; rel="next", ` +
      `<${app.url}/api/commits/authors?page=2&perPage=1&repo=local%2Fnamed.git>; rel="last"`,
  );
});

test('dates: both ends count, and what is no date is refused', async () => {
  const count = async (more: Record<string, string>): Promise<number> =>
    (await fetchHistory<Body[]>('commits', 'named.git', more)).body.length;
  assert.equal(await count({ since: '2023-11-15T22:13:20Z' }), 2);
  assert.equal(await count({ since: '2023-11-15', until: '2023-11-15' }), 1);
  assert.equal(await codeOf('commits', 'named.git', { since: '2024-02-29' }), 'OK');
  for (const more of [
    { since: 'x' },
    { until: 'x' },
    { since: '2024-01-02', until: '2024-01-01' },
    { since: '2021-02-30' },
    { until: '2021-02-29T10:00:00+02:00' },
  ])
    assert.equal(await codeOf('commits', 'named.git', more), 'INVALID_QUERY_PARAMS');
});

test('regular expressions of commit searches', async () => {
  const titles = async (more: Record<string, string>): Promise<unknown[]> =>
    (await fetchHistory<Body[]>('commits', 'named.git', more)).body.map(({ message }) => message);
  assert.deepEqual(await titles({ query: '^T' }), ['three', 'two']);
  assert.deepEqual(await titles({ query: 'BODY' }), ['three']);
  assert.deepEqual(await titles({ query: 't\\(hree\\|wo\\)' }), ['three', 'two']);
  assert.deepEqual(await titles({ query: '--all' }), []);
  assert.deepEqual(await titles({ query: 'a+' }), []);
  assert.deepEqual(await titles({ author: '^b <' }), ['three']);
  assert.deepEqual(await titles({ query: '', author: '' }), ['three', 'two', 'one']);
  for (const bad of [
    '\\(',
    'a\\{1',
    '[',
    '\0',
    'x'.repeat(1025),
    '\\(\\(a\\{1,200\\}\\)\\{1,200\\}\\)\\{1,200\\}',
  ])
    for (const name of ['query', 'author']) {
      const { status, body } = await fetchHistory('commits', 'named.git', { [name]: bad });
      assert.deepEqual([status, body['errorCode']], [400, 'INVALID_QUERY_PARAMS'], bad);
      assert.match(String(body['message']), new RegExp(`^${name}: `));
    }
});

test('invalid refs', async () => {
  for (const ref of [...BAD_REFS, 'main:d', 'main:a.txt']) {
    for (const name of ENDPOINTS) {
      for (const parameter of name === 'diff' ? ['base', 'head'] : ['ref'])
        assert.equal(
          await codeOf(name, 'named.git', { [parameter]: ref }),
          'INVALID_GIT_REF',
          `${name} ${ref}`,
        );
    }
  }
  for (const name of ['base', 'head'])
    assert.equal(await codeOf('diff', 'named.git', { [name]: '' }), 'INVALID_GIT_REF');
  assert.equal(await codeOf('commit', 'named.git', { ref: '' }), 'INVALID_QUERY_PARAMS');
  for (const name of ['blame', 'commits', 'commits/authors'] as const)
    assert.equal(await codeOf(name, 'named.git', { ref: '' }), 'OK');
  const { body } = await fetchHistory('diff', 'named.git', { base: 'main', head: 'nosuch' });
  assert.match(String(body['message']), /main\.\.nosuch/);
});

test('invalid paths', async () => {
  for (const bad of ['../a.txt', 'd/../a.txt', '/a.txt', '/', 'a\0', '..'])
    for (const name of ['blame', 'diff', 'commits', 'commits/authors'] as const)
      assert.equal(
        await codeOf(name, 'named.git', { path: bad }),
        'FILE_NOT_FOUND',
        `${name} ${bad}`,
      );
  for (const bad of [
    '',
    '.',
    './a.txt',
    'd',
    'd/',
    'nowhere',
    'a.txt/',
    'a.txt/b',
    'd//x',
    '--help',
    ':(top)a.txt',
    'caf\uFFFD',
    'a'.repeat(5000),
  ])
    assert.equal(await codeOf('blame', 'named.git', { path: bad }), 'FILE_NOT_FOUND', bad);
  for (const odd of [
    '--help',
    '-p',
    ':(top)a.txt',
    ':!a.txt',
    '*',
    'nowhere',
    'caf\uFFFD',
    'a'.repeat(5000),
  ]) {
    const { body, headers } = await fetchHistory('commits', 'named.git', { path: odd });
    assert.deepEqual([body, headers.get('x-total-count')], [[], '0'], odd);
  }
});

test('the order of the checks', async () => {
  const [badRef, badPath] = [{ ref: '-x', base: '-x' }, { path: '..' }];
  for (const name of ['diff', 'commit', 'commits', 'commits/authors'] as const) {
    assert.equal(await codeOf(name, 'none', { ...badRef, ...badPath }), 'INVALID_GIT_REF', name);
    assert.equal(await codeOf(name, 'none', badPath), 'NOT_FOUND', name);
    if (name === 'commit') continue;
    const unknown = { ref: 'none', base: 'none' };
    assert.equal(
      await codeOf(name, 'named.git', { ...badPath, ...unknown }),
      'FILE_NOT_FOUND',
      name,
    );
  }
  assert.equal(await codeOf('blame', 'none', { ...badPath, ...badRef }), 'NOT_FOUND');
  assert.equal(await codeOf('blame', 'named.git', { ...badPath, ...badRef }), 'FILE_NOT_FOUND');
  assert.equal(await codeOf('blame', 'named.git', { ...badRef, path: 'none' }), 'INVALID_GIT_REF');
  assert.equal(
    await codeOf('blame', 'named.git', { ref: 'none', path: 'none' }),
    'INVALID_GIT_REF',
  );
  assert.equal(await codeOf('commits', 'none', { ...badRef, since: 'x' }), 'INVALID_QUERY_PARAMS');
  const { body } = await fetchHistory('commits', 'none');
  assert.equal(body['message'], 'Repository "local/none" not found.');
});

test('missing parameters', async () => {
  for (const [name, query] of [
    ['blame', 'repo=local/tree'],
    ['blame', 'path=a.txt'],
    ['diff', 'repo=local/tree&base=main'],
    ['diff', 'repo=local/tree&head=main'],
    ['commit', 'repo=local/tree'],
    ['commits', ''],
    ['commits/authors', ''],
    ['commits', 'repo=local/tree&page=0'],
    ['commits/authors', 'repo=local/tree&perPage=101'],
  ]) {
    const { status, body } = await app.get<Body>(`/api/${name}?${query}`);
    assert.deepEqual(
      [status, body['errorCode']],
      [400, 'INVALID_QUERY_PARAMS'],
      `${name} ${query}`,
    );
  }
});

test('files on disk have no effect', async () => {
  const blame = await fetchHistory<{ ranges: Body[]; commits: Record<string, Body> }>(
    'blame',
    'tree',
    { path: 'a.txt' },
  );
  assert.equal(blame.body.ranges.length, 1);
  assert.equal(Object.values(blame.body.commits)[0]?.['authorName'], 'A');
  const authors = await fetchHistory('commits/authors', 'tree');
  assert.deepEqual(authors.body, [{ name: 'A', email: 'a@example.com', commitCount: 1 }]);
});

test('plain folders, empty, shallow and detached repositories', async () => {
  for (const name of ENDPOINTS) {
    assert.equal(await codeOf(name, 'plain'), 'INVALID_GIT_REF', name);
    assert.equal(await codeOf(name, 'empty'), 'INVALID_GIT_REF', name);
    assert.equal(await codeOf(name, 'shallow.git'), 'OK', name);
    assert.equal(await codeOf(name, 'detached'), 'OK', name);
  }
  const shallow = await fetchHistory<Body[]>('commits', 'shallow.git');
  assert.deepEqual([shallow.body.length, shallow.headers.get('x-total-count')], [1, '1']);
  const detached = await fetchHistory<Body[]>('commits', 'detached');
  assert.deepEqual(
    detached.body.map(({ message, refs }) => [message, refs]),
    [
      ['two', 'HEAD'],
      ['one', ''],
    ],
  );
});

test('git ends when its client disconnects', async () => {
  braked.blamers();
  braked.brake();
  const client = new AbortController();
  const query = 'repo=local/many.git&path=f0';
  const requested = app.call(`/api/blame?${query}`, { signal: client.signal });
  const pid = await braked.blamerStarted();
  assert.ok(isRunning(pid));
  client.abort();
  await assert.rejects(requested);
  await goneSoon(pid);
  braked.release();
  assert.equal(await codeOf('blame', 'many.git', { path: 'f0' }), 'OK');
});

test('hundreds at once: some run, some wait, the others are told to retry', async () => {
  braked.blamers();
  braked.brake();
  const requested = Array.from({ length: MANY }, (_, i) =>
    fetchHistory('blame', 'many.git', { path: `f${i}`, ref: 'main' }),
  );
  const refused = await Promise.race(
    requested.map(async (one) => ((await one).status === 503 ? one : new Promise<never>(() => {}))),
  );
  assert.equal(refused.body['errorCode'], 'SERVER_OVERLOADED');
  assert.equal(refused.headers.get('retry-after'), '1');
  const running: number[] = [];
  while (running.length < RUNNING_MAX) {
    running.push(...braked.blamers());
    await sleep(20);
  }
  await sleep(200);
  assert.deepEqual(braked.blamers(), []);
  assert.equal(running.filter(isRunning).length, RUNNING_MAX);
  braked.release();
  const statuses = (await Promise.all(requested)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200, 503]));
  assert.ok(statuses.filter((status) => status === 200).length >= RUNNING_MAX);
  assert.equal(await codeOf('blame', 'many.git', { path: `f${MANY - 1}` }), 'OK');
});

test('a deleted repository is not found, and no path of this machine is disclosed', async () => {
  assert.equal(await codeOf('commits', 'gone.git'), 'OK');
  const id = git(path.join(parent, 'gone.git'), 'rev-parse', 'HEAD');
  assert.equal(await codeOf('commit', 'gone.git', { ref: id }), 'OK');
  rmSync(path.join(parent, 'gone.git'), { recursive: true });
  for (const name of ENDPOINTS) {
    const { status, body } = await fetchHistory(name, 'gone.git', GOOD[name]);
    assert.deepEqual([status, body['errorCode']], [404, 'NOT_FOUND'], name);
    assert.ok(!JSON.stringify(body).includes(parent));
  }
  assert.equal(await codeOf('commit', 'gone.git', { ref: id }), 'NOT_FOUND');
});

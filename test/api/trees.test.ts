// POST /api/files, POST /api/tree, GET /api/folder_contents and GET /api/refs of a real daemon: shapes, order of the
// checks, refusals, pages, and repositories that disappear.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import test, { before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type Answer, type App, BAD_REFS, startApp } from './app.ts';

interface Item {
  readonly type: string;
  readonly path: string;
  readonly name: string;
}
interface Node extends Item {
  readonly children: readonly Node[];
}
interface Failure {
  readonly errorCode?: string;
  readonly message?: string;
}
interface Ref {
  readonly name: string;
  readonly shortName: string;
  readonly isAmbiguous: boolean;
  readonly kind: string;
  readonly commit: string;
  readonly committedAt: string;
  readonly isDefault: boolean;
  readonly isIndexed: boolean;
}
type Reply<Body> = Answer<Body & Failure>;

// Made outside the hook: a folder made inside would be removed at the hook's end.
const parent = temporaryFolder();
const repo = path.join(parent, 'tree');
const goingRepo = makeRepo({ 'a.txt': 'plum\n' });
const goingName = `local/${path.basename(goingRepo)}`;
let app: App;

before(async () => {
  git(parent, 'init', '-q', '-b', 'main', 'tree');
  writeFiles(repo, {
    'src/lib/a.ts': 'a',
    'src/B.ts': 'b',
    'src/c.ts': 'c',
    'README.md': '# plum\n',
    'docs/x y.md': 'x',
  });
  commitAll(repo);
  git(repo, 'tag', '-a', '-m', 'm', 'v1');
  git(repo, 'tag', 'blob', 'HEAD:README.md');
  git(repo, 'tag', '-a', '-m', 'm', 'again', 'v1');
  git(repo, 'branch', 'feature/x');
  writeFiles(repo, { new: 'n' });
  git(repo, 'add', '-A');
  git(repo, '-c', 'user.name=A', 'commit', '-q', '-m', 'newer', '--date', '2025-01-01T00:00:00Z');
  git(parent, 'clone', '-q', '--mirror', repo, 'bare.git');
  writeFiles(repo, { 'untracked.txt': 'u' });
  writeFiles(parent, { 'plain/sub/c.txt': 'pear\n' });
  const sources = ['tree', 'bare.git', 'plain'].map((name) => path.join(parent, name));
  app = await startApp([...sources, goingRepo]);
});

function post<Body>(address: string, body: object): Promise<Reply<Body>> {
  return app.post(address, body);
}

function filesOf(name: string, revisionName = 'HEAD'): Promise<Reply<Item[]>> {
  return post('/api/files', { repoName: `local/${name}`, revisionName });
}

function treeOf(
  name: string,
  paths: readonly unknown[],
  revisionName = 'HEAD',
): Promise<Reply<{ tree: Node }>> {
  return post('/api/tree', { repoName: `local/${name}`, revisionName, paths });
}

function query<Body>(
  address: string,
  values: Readonly<Record<string, string>>,
): Promise<Reply<Body>> {
  return app.get(`${address}?${new URLSearchParams(values).toString()}`);
}

function folderOf(name: string, folder: string, revisionName = 'HEAD'): Promise<Reply<Item[]>> {
  return query('/api/folder_contents', { repoName: `local/${name}`, revisionName, path: folder });
}

function refsOf(name: string, more: Readonly<Record<string, string>> = {}): Promise<Reply<Ref[]>> {
  return query('/api/refs', { repo: `local/${name}`, ...more });
}

/** `type path` of open folders and below. */
function flat(node: Node): string[] {
  return node.children.flatMap((child) => [`${child.type} ${child.path}`, ...flat(child)]);
}

void test('all files', async () => {
  const committed = ['README.md', 'docs/x y.md', 'src/B.ts', 'src/c.ts', 'src/lib/a.ts'];
  const items = (paths: readonly string[]) =>
    paths.map((file) => ({ type: 'blob', path: file, name: path.basename(file) }));
  assert.deepEqual((await filesOf('bare.git', 'v1')).body, items(committed));
  assert.deepEqual((await filesOf('bare.git', 'again')).body, items(committed));
  const newer = ['README.md', 'docs/x y.md', 'new', ...committed.slice(2)];
  assert.deepEqual((await filesOf('bare.git')).body, items(newer));
  assert.deepEqual((await filesOf('bare.git')).body, items(newer));
  assert.deepEqual((await filesOf('tree', 'main')).body, items(newer));
  assert.deepEqual((await filesOf('tree')).body, items([...newer, 'untracked.txt']));
  assert.deepEqual((await filesOf('plain')).body, items(['sub/c.txt']));
});

void test('trees: the root and the requested folders, with all their parents', async () => {
  const { body } = await treeOf('bare.git', [], 'v1');
  assert.deepEqual(body, {
    tree: {
      type: 'tree',
      path: '',
      name: 'root',
      children: [
        { type: 'tree', path: 'docs', name: 'docs', children: [] },
        { type: 'tree', path: 'src', name: 'src', children: [] },
        { type: 'blob', path: 'README.md', name: 'README.md', children: [] },
      ],
    },
  });
  const root = ['tree docs', 'tree src', 'blob README.md'];
  const inSource = ['tree src/lib', 'blob src/B.ts', 'blob src/c.ts'];
  const cases: [string[], string[]][] = [
    [['', '/', 'nosuch', 'src/nosuch', 'README.md', 'src/B.ts/x', 'SRC'], root],
    [['src'], ['tree docs', 'tree src', ...inSource, 'blob README.md']],
    [
      ['/src/', 'src'],
      ['tree docs', 'tree src', ...inSource, 'blob README.md'],
    ],
    [
      ['src/lib', 'docs'],
      [
        'tree docs',
        'blob docs/x y.md',
        'tree src',
        'tree src/lib',
        'blob src/lib/a.ts',
        'blob src/B.ts',
        'blob src/c.ts',
        'blob README.md',
      ],
    ],
  ];
  for (const [paths, expected] of cases)
    assert.deepEqual(flat((await treeOf('bare.git', paths, 'v1')).body.tree), expected);
  assert.ok(flat((await treeOf('tree', [])).body.tree).includes('blob untracked.txt'));
  assert.deepEqual(flat((await treeOf('plain', ['sub'])).body.tree), [
    'tree sub',
    'blob sub/c.txt',
  ]);
});

void test('contents of a folder', async () => {
  assert.deepEqual((await folderOf('bare.git', 'src')).body, [
    { type: 'tree', path: 'src/lib', name: 'lib' },
    { type: 'blob', path: 'src/B.ts', name: 'B.ts' },
    { type: 'blob', path: 'src/c.ts', name: 'c.ts' },
  ]);
  const root = (await folderOf('bare.git', '')).body;
  assert.deepEqual(
    root.map(({ path: at }) => at),
    ['docs', 'src', 'new', 'README.md'],
  );
  assert.deepEqual((await folderOf('bare.git', '/')).body, root);
  assert.deepEqual((await folderOf('bare.git', '/src/')).body.length, 3);
  for (const name of ['bare.git', 'tree', 'plain'])
    for (const folder of ['nosuch', 'README.md', 'src/B.ts', 'src//lib', './src', '.git', '*'])
      assert.deepEqual(await folderOf(name, folder).then((r) => [r.status, r.body]), [200, []]);
});

void test('invalid requests are refused in the order of the checks', async () => {
  const calls: ((name: string, below: string, ref: string) => Promise<Reply<unknown>>)[] = [
    (name, below, ref) => treeOf(name, ['src', below], ref),
    folderOf,
  ];
  for (const one of calls) {
    const nowhere = await one('nosuch', '..', '-x');
    assert.equal(nowhere.body.message, 'Repository "local/nosuch" not found.');
    for (const name of ['bare.git', 'tree', 'plain']) {
      for (const below of ['..', 'a/../b', '/..', 'src/..', 'a\0'])
        assert.equal((await one(name, below, '-x')).body.errorCode, 'FILE_NOT_FOUND', below);
    }
  }
  for (const one of [...calls, (name: string, _: string, ref: string) => filesOf(name, ref)]) {
    for (const ref of [...BAD_REFS, '', 'blob', 'HEAD:src'])
      assert.equal((await one('bare.git', '', ref)).body.errorCode, 'INVALID_GIT_REF', ref);
    assert.equal((await one('plain', '', 'main')).body.errorCode, 'INVALID_GIT_REF');
  }
  for (const paths of [Array.from({ length: 1001 }, () => 'src'), [1], 'src', undefined]) {
    const { status, body } = await post<Failure>('/api/tree', {
      repoName: 'local/tree',
      revisionName: 'HEAD',
      paths,
    });
    assert.deepEqual([status, body.errorCode], [400, 'INVALID_REQUEST_BODY']);
  }
  const missing = await query<Failure>('/api/folder_contents', { repoName: 'x', path: '' });
  assert.equal(missing.body.errorCode, 'INVALID_QUERY_PARAMS');
});

void test('branches and tags, in pages', async () => {
  const { body, headers } = await refsOf('bare.git');
  const old = git(repo, 'rev-parse', 'v1^{commit}');
  assert.deepEqual(body[0], {
    name: 'refs/heads/main',
    shortName: 'main',
    isAmbiguous: false,
    kind: 'branch',
    commit: git(repo, 'rev-parse', 'main'),
    committedAt: '2024-05-06T07:08:09.000Z',
    isDefault: true,
    isIndexed: true,
  });
  assert.deepEqual(
    body
      .slice(1)
      .map(({ name, kind, commit, isDefault, isIndexed }) => [
        name,
        kind,
        commit === old,
        isDefault || isIndexed,
      ]),
    [
      ['refs/heads/feature/x', 'branch', true, false],
      ['refs/tags/again', 'tag', true, false],
      ['refs/tags/v1', 'tag', true, false],
    ],
  );
  assert.equal(headers.get('x-total-count'), '4');
  assert.equal(headers.get('link'), null);
  const page = await refsOf('bare.git', { query: 'TAGS/', perPage: '1', page: '2' });
  assert.deepEqual(
    page.body.map(({ name }) => name),
    ['refs/tags/v1'],
  );
  assert.equal(page.headers.get('x-total-count'), '2');
  const base = `${app.url}/api/refs`;
  const rest = 'perPage=1&repo=local%2Fbare.git&query=TAGS%2F';
  assert.equal(
    page.headers.get('link'),
    `<${base}?page=1&${rest}>; rel="first", <${base}?page=1&${rest}>; rel="prev", <${base}?page=2&${rest}>; rel="last"`,
  );
  git(repo, 'tag', 'feature/x');
  const [branch] = (await refsOf('tree', { query: 'heads/feature' })).body;
  assert.deepEqual([branch?.shortName, branch?.isAmbiguous], ['feature/x', true]);
  git(repo, 'tag', '-d', 'feature/x');
  assert.deepEqual((await refsOf('plain')).body, []);
  assert.equal((await refsOf('nosuch')).status, 404);
});

/** Ids of the children of the daemon, of git. */
function gitProcesses(): number[] {
  const parentId = process.pid;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, command, , owner] = /^\d+ \((.*)\) (\S) (\d+)/.exec(stat) ?? [];
        return command === 'git' && Number(owner) === parentId;
      } catch {
        return false;
      }
    })
    .map(Number);
}

const hasProc = process.platform === 'linux';

void test('a hanging git ends when its client disconnects', { skip: !hasProc }, async () => {
  const settled = new Set(gitProcesses());
  // git waits for input.
  const pipe = path.join(goingRepo, '.git/refs/heads/stuck');
  execFileSync('mkfifo', [pipe]);
  const abort = new AbortController();
  const { signal } = abort;
  const name = encodeURIComponent(goingName);
  const addresses = [
    `/api/source?repo=${name}&path=a.txt&ref=stuck`,
    `/api/source?repo=${name}&path=a.txt&ref=stuck~1000`,
    `/api/refs?repo=${name}`,
  ];
  const requested = [...addresses, ...addresses, ...addresses].map((address) =>
    app.call(address, { signal }).catch(() => undefined),
  );
  const more = () => gitProcesses().filter((id) => !settled.has(id));
  while (more().length < 4) await delay(10);
  abort.abort();
  await Promise.all(requested);
  while (more().length > 0) await delay(10);
  rmSync(pipe);
  const answer = await refsOf(path.basename(goingRepo));
  assert.equal(answer.status, 200);
});

// GET /api/source and /api/repos with real repositories: every kind of source, refs, objects that are not files, and
// every attempt to leave the repository.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { before } from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type App, BAD_REFS, startApp } from './app.ts';

interface SourceBody {
  readonly source?: string;
  readonly language?: string;
  readonly webUrl?: string;
  readonly blobSha?: string;
  readonly errorCode?: string;
}

// Made outside the hook: a folder made inside would be removed at the hook's end.
const parent = temporaryFolder();
const moduleRepo = makeRepo({ 's.txt': 'inside\n' });
const repo = path.join(parent, 'tree');
const secret = path.join(parent, 'secret.txt');
/** Searches find it by what stands before the bad bytes. */
const BAD_TEXT = Buffer.from(
  'trunc \xe6\xbc\n\xf0\x9f\x98 \xed\xa0\x80\xff\xc3\n\xf0\x9f\x98',
  'latin1',
);
let app: App;

before(async () => {
  writeFileSync(secret, 'top secret\n');
  mkdirSync(repo);
  git(repo, 'init', '-q', '-b', 'main');
  writeFiles(repo, {
    'src/a.py': 'old = 1\n',
    'ünï code.txt': 'plum\n',
    'bad.txt': BAD_TEXT,
    'bin.dat': Buffer.from('a\0b'),
    'page.html': '<script>alert(1)</script>\n',
    'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    'wide.txt': Buffer.from('\uFEFFplum\n', 'utf16le'),
    'no-image.png': 'text\n',
    'dot.data': Buffer.from('89504e470d0a1a0a00', 'hex'),
    "it's (ü).txt": 'name\n',
    'five.txt': 'one\ntwo\r\nthree\nfour\nfive',
  });
  commitAll(repo, 'first');
  git(repo, 'tag', 'v1');
  writeFiles(repo, { 'src/a.py': 'new = 2\n', '.gitignore': 'ignored.txt\n' });
  symlinkSync('src/a.py', path.join(repo, 'link'));
  symlinkSync('../secret.txt', path.join(repo, 'outside'));
  symlinkSync('..', path.join(repo, 'up'));
  git(repo, 'submodule', '--quiet', 'add', moduleRepo, 'module');
  commitAll(repo, 'second');
  git(repo, 'branch', 'feature/x', 'v1');
  writeFiles(repo, {
    'src/a.py': 'disk = 3\n',
    'ignored.txt': 'plum\n',
    'untracked.txt': 'plum\n',
  });
  git(parent, 'clone', '-q', '--bare', repo, 'bare.git');
  writeFiles(parent, { 'plain/b.md': '# plum\n', 'plain/sub/c.txt': 'pear\n' });
  symlinkSync('../secret.txt', path.join(parent, 'plain', 'outside'));
  symlinkSync('..', path.join(parent, 'plain', 'up'));
  const sources = ['tree', 'bare.git', 'plain'].map((name) => path.join(parent, name));
  app = await startApp(sources);
});

async function read(
  name: string,
  file: string,
  ref?: string,
): Promise<SourceBody & { status: number }> {
  const query = new URLSearchParams({
    repo: `local/${name}`,
    path: file,
    ...(ref === undefined ? {} : { ref }),
  });
  const { status, body } = await app.get<SourceBody>(`/api/source?${query.toString()}`);
  return { status, ...body };
}

void test('paths cannot leave the repository', async () => {
  const paths = [
    '../secret.txt',
    'src/../../secret.txt',
    './src/a.py',
    'up/secret.txt',
    'up/tree/src/a.py',
    secret,
    '/etc/passwd',
    '..',
    '.',
    '//etc/passwd',
    'src//a.py',
    '..\\secret.txt',
    'src/a.py\0',
    '\0',
    '~/secret.txt',
    'file:///etc/passwd',
    '%2e%2e/secret.txt',
    '.git/HEAD',
    '.GIT/config',
    '-',
    '--help',
    ':(top)src/a.py',
    'main:src/a.py',
    'a'.repeat(5000),
  ];
  for (const name of ['tree', 'bare.git', 'plain']) {
    for (const file of paths) {
      for (const ref of [undefined, 'HEAD', ...(name === 'plain' ? [] : ['v1'])]) {
        const { status, errorCode } = await read(name, file, ref);
        assert.deepEqual(
          [status, errorCode],
          [404, 'FILE_NOT_FOUND'],
          `${name} ${file} ${String(ref)}`,
        );
      }
    }
  }
});

void test('invalid refs', async () => {
  for (const name of ['tree', 'bare.git']) {
    for (const ref of [...BAD_REFS, 'main:src']) {
      const { status, errorCode } = await read(name, 'src/a.py', ref);
      assert.deepEqual([status, errorCode], [400, 'INVALID_GIT_REF'], `${name} ${ref}`);
    }
  }
});

void test('repositories have the time of their last commit and of their index', async () => {
  const { body } = await app.get<Record<string, unknown>[]>('/api/repos');
  const tree = body.find(({ repoName }) => repoName === 'local/tree');
  assert.equal(tree?.['webUrl'], `${app.url}/browse/local/tree/-/tree/`);
  assert.equal(tree['pushedAt'], '2024-05-06T07:08:09.000Z');
  assert.match(String(tree['indexedAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('invalid bytes look the same in a file and in search results', async () => {
  const answer = await app.search('trunc repo:tree', { whole: true });
  const found = answer.files.find(({ fileName }) => fileName.text === 'bad.txt');
  const body = await read('tree', 'bad.txt');
  assert.ok(found !== undefined && 'content' in found);
  assert.equal(body.source, found.content);
  assert.equal(body.source?.split('\n')[0], 'trunc \uFFFD\uFFFD');
});

async function raw(name: string, file: string, headers: Record<string, string> = {}, ref = 'main') {
  const query = new URLSearchParams({ repo: `local/${name}`, path: file, ref });
  return app.call(`/api/raw?${query.toString()}`, { headers });
}

void test('raw: the stored bytes, with a type that nothing executes', async () => {
  const types: [string, string, string][] = [
    ['src/a.py', 'text/plain; charset=utf-8', "inline; filename*=UTF-8''a.py"],
    ['page.html', 'text/plain; charset=utf-8', "inline; filename*=UTF-8''page.html"],
    ['a.svg', 'image/svg+xml', "inline; filename*=UTF-8''a.svg"],
    ['wide.txt', 'text/plain; charset=utf-16', "inline; filename*=UTF-8''wide.txt"],
    ['bin.dat', 'application/octet-stream', "attachment; filename*=UTF-8''bin.dat"],
    ['no-image.png', 'text/plain; charset=utf-8', "inline; filename*=UTF-8''no-image.png"],
    ['dot.data', 'image/png', "inline; filename*=UTF-8''dot.data"],
    [
      "it's (ü).txt",
      'text/plain; charset=utf-8',
      "inline; filename*=UTF-8''it%27s%20%28%C3%BC%29.txt",
    ],
  ];
  for (const [file, type, disposition] of types) {
    const answer = await raw('bare.git', file);
    assert.equal(answer.status, 200, file);
    assert.equal(answer.headers.get('content-type'), type, file);
    assert.equal(answer.headers.get('content-disposition'), disposition);
    assert.equal(answer.headers.get('content-security-policy'), "sandbox; default-src 'none'");
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('etag'), `"${git(repo, 'rev-parse', `main:${file}`)}"`);
    const stored = git(repo, 'cat-file', '-s', `main:${file}`);
    assert.equal(String((await answer.arrayBuffer()).byteLength), stored, file);
  }
  assert.equal(await (await raw('tree', 'src/a.py', {}, '')).text(), 'disk = 3\n');
  assert.equal(await (await raw('plain', 'b.md', {}, '')).text(), '# plum\n');
  for (const file of ['src', 'module', '../secret.txt', '.git/config', 'nothing'])
    assert.equal((await raw('tree', file)).status, 404, file);
  assert.equal((await raw('tree', 'src/a.py', {}, '--help')).status, 400);
});

void test('raw: ranges and conditional requests', async () => {
  const cases: [Record<string, string>, number, string, string | null][] = [
    [{ range: 'bytes=0-2' }, 206, 'new', 'bytes 0-2/8'],
    [{ range: 'bytes=4-' }, 206, '= 2\n', 'bytes 4-7/8'],
    [{ range: 'bytes=-2' }, 206, '2\n', 'bytes 6-7/8'],
    [{ range: 'bytes=-99' }, 206, 'new = 2\n', 'bytes 0-7/8'],
    [{ range: 'bytes=7-99' }, 206, '\n', 'bytes 7-7/8'],
    [{ range: 'bytes=8-' }, 416, '', 'bytes */8'],
    [{ range: 'bytes=-0' }, 416, '', 'bytes */8'],
    [{ range: 'bytes=3-2' }, 200, 'new = 2\n', null],
    [{ range: 'bytes=0-0,2-2' }, 200, 'new = 2\n', null],
    [{ range: 'lines=1-2' }, 200, 'new = 2\n', null],
    [{ range: 'bytes=0-2', 'if-range': '"other"' }, 200, 'new = 2\n', null],
  ];
  for (const [headers, status, body, range] of cases) {
    const answer = await raw('bare.git', 'src/a.py', headers);
    assert.equal(answer.status, status, JSON.stringify(headers));
    assert.equal(await answer.text(), body);
    assert.equal(answer.headers.get('content-range'), range);
  }
  const etag = (await raw('bare.git', 'src/a.py')).headers.get('etag') ?? '';
  const ranged = await raw('bare.git', 'src/a.py', { range: 'bytes=0-2', 'if-range': etag });
  assert.equal(ranged.status, 206);
  const unchanged = await raw('bare.git', 'src/a.py', { 'if-none-match': etag });
  assert.deepEqual([unchanged.status, await unchanged.text()], [304, '']);
});

void test('a range of lines of a file', async () => {
  const lines = (range: string) =>
    app.get<SourceBody>(`/api/source?repo=local/bare.git&path=five.txt&${range}`);
  const cases: [string, string][] = [
    ['startLine=2&endLine=3', 'two\r\nthree\n'],
    ['startLine=4', 'four\nfive'],
    ['endLine=1', 'one\n'],
    ['startLine=5&endLine=9', 'five'],
    ['startLine=6', ''],
    ['startLine=1&endLine=5', 'one\ntwo\r\nthree\nfour\nfive'],
  ];
  for (const [range, source] of cases)
    assert.equal((await lines(range)).body.source, source, range);
  for (const bad of ['startLine=0', 'endLine=x', 'startLine=3&endLine=2', 'startLine='])
    assert.equal((await lines(bad)).status, 400, bad);
});

// Files searched by name only: the list of skipped files against the disk, UTF-16 text, files with very many
// trigrams, and access to the list.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { commitAll, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import {
  call,
  get,
  pathsOf,
  search,
  serveIndexed,
  shardNames,
  trawl,
  type Served,
} from './daemon.ts';

interface Skipped {
  readonly path: string;
  readonly reason: string;
  readonly bytes: number;
}

/** Text with more distinct trigrams than peers take. */
function manyTrigrams(): string {
  const characters = Array.from({ length: 40 }, (_, i) => String.fromCharCode(0x30 + i));
  return characters
    .flatMap((a) => characters.map((b) => characters.map((c) => a + b + c).join('')))
    .join('\n');
}

const UTF16 = Buffer.from('\uFEFFzwölf plums\r\n', 'utf16le');
const MARKED = '\uFEFFquince = zwölf\nquince\n';
const FILES = {
  'src/many.txt': `${manyTrigrams()}\nplumtree\n`,
  'wide.txt': UTF16,
  'wide-big.txt': Buffer.from(UTF16).swap16(),
  'marked.txt': MARKED,
  'b.bin': Buffer.from('plum\0tree'),
  'a/c.bin': Buffer.from('\0'),
  'large.txt': Buffer.alloc((4 << 20) + 1, 'plumtree\n'),
};

let served: Served;
const repo = makeRepo(FILES);
const commit = commitAll(repo);
const other = makeRepo({ 'x.bin': '\0' });
const dataDir = temporaryFolder();

before(async () => {
  served = await serveIndexed(dataDir, [repo, other]);
});
after(() => served.process.stop());

function skipped(query = '', repoId = 1): Promise<{ status: number; body: Skipped[] }> {
  return get<Skipped[]>(`${served.url}/api/repos/${repoId}/skipped${query}`);
}

const ALL: Skipped[] = [
  { path: 'a/c.bin', reason: 'binary', bytes: 1 },
  { path: 'b.bin', reason: 'binary', bytes: 9 },
  { path: 'large.txt', reason: 'too_large', bytes: (4 << 20) + 1 },
];

void test('no file is excluded for its trigrams', async () => {
  assert.deepEqual(pathsOf(await search(served.url, 'plumtree')), ['src/many.txt']);
});

void test('UTF-16 with a byte order mark is text; positions are those of its UTF-8 form', async () => {
  const { files } = await search(served.url, '"plums"', { whole: true });
  const [file, ...more] = files.filter(({ fileName }) => fileName.text === 'wide.txt');
  assert.equal(more.length, 0);
  assert.equal(files.length, 2);
  assert.deepEqual(file?.chunks[0]?.matchRanges[0]?.start, {
    byteOffset: 7,
    lineNumber: 1,
    column: 7,
  });
  assert.equal((file as { content?: string }).content, 'zwölf plums\r\n');
  const name = file?.repository ?? '';
  for (const one of ['wide.txt', 'wide-big.txt'])
    for (const ref of ['', `&ref=${commit}`]) {
      const { body } = await get<{ source: string }>(
        `${served.url}/api/source?repo=${encodeURIComponent(name)}&path=${one}${ref}`,
      );
      assert.equal(body.source, 'zwölf plums\r\n');
    }
});

void test('a UTF-8 byte order mark is not part of line 1; offsets count from the start of the file', async () => {
  const found = async (query: string) => {
    const { files } = await search(served.url, query, { whole: true, isRegexEnabled: true });
    return { chunks: files.flatMap(({ chunks }) => chunks), files };
  };
  const { chunks, files } = await found('file:marked ^quince');
  assert.equal((files[0] as { content?: string }).content, MARKED);
  const start = { byteOffset: 3, lineNumber: 1, column: 1 };
  const end = { byteOffset: 9, lineNumber: 1, column: 7 };
  assert.deepEqual(
    chunks.map(({ content, contentStart }) => ({ content, contentStart })),
    [
      { content: 'quince = zwölf\n', contentStart: start },
      { content: 'quince\n', contentStart: { byteOffset: 19, lineNumber: 2, column: 1 } },
    ],
  );
  const atStart = await found(String.raw`file:marked \Aquince`);
  assert.deepEqual(
    atStart.chunks.flatMap(({ matchRanges }) => matchRanges),
    [{ start, end }],
  );
  assert.deepEqual((await found(String.raw`file:marked \x{FEFF}`)).files, []);
  const position = { repo: files[0]!.repository, path: 'marked.txt', line: 1, column: 1 };
  const answer = await call(`${served.url}/api/find_references`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ position }),
  });
  const { symbolName } = (await answer.json()) as { symbolName: string };
  assert.equal(symbolName, 'quince');
});

void test('the list of files indexed by name only', async () => {
  assert.deepEqual((await skipped()).body, ALL);
  assert.deepEqual((await skipped('?reason=binary')).body, ALL.slice(0, 2));
  assert.deepEqual((await skipped('?reason=too_many_trigrams')).body, []);
  const second = await get<Skipped[]>(
    `${served.url}/api/repos/1/skipped?perPage=1&page=2&reason=binary`,
  );
  assert.deepEqual(second.body, [ALL[1]]);
  assert.equal(second.headers.get('x-total-count'), '2');
  const base = `${served.url}/api/repos/1/skipped`;
  const link = (page: number, rel: string): string =>
    `<${base}?page=${page}&perPage=1&reason=binary>; rel="${rel}"`;
  assert.equal(
    second.headers.get('link'),
    [link(1, 'first'), link(1, 'prev'), link(2, 'last')].join(', '),
  );
  assert.deepEqual((await skipped('', 2)).body, [{ path: 'x.bin', reason: 'binary', bytes: 1 }]);
  assert.deepEqual((await skipped('?page=9')).body, []);
});

void test('invalid requests', async () => {
  for (const [query, repoId, status] of [
    ['?reason=ugly', 1, 400],
    ['?perPage=101', 1, 400],
    ['', 3, 404],
  ] as const)
    assert.equal((await skipped(query, repoId)).status, status);
});

void test('with several revisions the default one counts', async () => {
  const many = makeRepo({ 'gone.bin': '\0', 'kept.bin': '\0' });
  commitAll(many);
  writeFileSync(path.join(many, 'new.bin'), '\0\0');
  const folder = temporaryFolder();
  const daemon = await serveIndexed(folder, [many], { flags: ['--branches', '**'] });
  const { body } = await get<Skipped[]>(`${daemon.url}/api/repos/1/skipped`);
  assert.deepEqual(
    body.map((one) => one.path),
    ['gone.bin', 'kept.bin', 'new.bin'],
  );
  await daemon.process.stop();
});

void test('trawl inspect --skipped', async () => {
  const reports = await Promise.all(
    shardNames(dataDir)
      .filter((name) => name.endsWith('.shard'))
      .map((name) => trawl(['inspect', '--json', '--skipped', path.join(dataDir, 'shards', name)])),
  );
  const docs = reports.flatMap(({ stdout }) => {
    const { docs: listed } = JSON.parse(stdout) as {
      docs: { path: string; skipReason: string; size: number }[];
    };
    return listed.map(({ path: name, skipReason, size }) => ({
      path: name,
      reason: skipReason,
      bytes: size,
    }));
  });
  docs.sort((a, b) => (a.path < b.path ? -1 : 1));
  assert.deepEqual(docs, [...ALL, { path: 'x.bin', reason: 'binary', bytes: 1 }]);
});

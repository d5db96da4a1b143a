// POST /api/search with the real engine: every field of the answer on difficult text, limits, refusals, and the same
// answer as MessagePack.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import test, { after, before } from 'node:test';
import type { FileResult, MatchRange } from '../../daemon/api/search/search-schemas.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { post, search, send, serveIndexed, type Served } from './daemon.ts';

/** What is there in answers of this kind. */
type FullFile = FileResult & Required<Pick<FileResult, 'branches'>>;

const UNICODE = 'ä plum 日本plum 😀plum\r\nsecond\r\nthird plum\r\n';
const BAD = Buffer.from('a\xff\xfeplum\xc3\nno newline plum', 'latin1');
const CONTEXT = Array.from(
  { length: 12 },
  (_, i) => `line ${String(i + 1)}${i === 3 || i === 8 ? ' pear' : ''}\n`,
);

const FILES = {
  'src/unicode é.md': UNICODE,
  'bad.txt': BAD,
  'context.py': CONTEXT.join(''),
  'code/A.ts': 'const Kiwi = 1;\nconst kiwi = KIWI;\n',
  'many.txt': 'fig fig fig\nfig\n'.repeat(10),
  'many2.txt': 'fig\n'.repeat(10),
  'overlap.txt': 'aaaa aaaaa\n',
  'whole.txt': 'lime\n\nlast without newline',
};

const repo = makeRepo(FILES);
const dataDir = temporaryFolder();
let served: Served;
let repository: string;

before(async () => {
  served = await serveIndexed(dataDir, [repo]);
  repository = (await search(served.url, 'pear')).files[0]?.repository ?? '';
});
after(() => served.process.stop());

async function only(
  query: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<FullFile> {
  const { files } = await search(served.url, query, more);
  assert.equal(files.length, 1, query);
  return files[0] as FullFile;
}

function flat({ start, end }: MatchRange): number[] {
  return [start, end].flatMap(({ byteOffset, lineNumber, column }) => [
    byteOffset,
    lineNumber,
    column,
  ]);
}

function byLine<Chunk extends FileResult['chunks'][number]>(chunks: readonly Chunk[]): Chunk[] {
  return [...chunks].sort((a, b) => a.contentStart.byteOffset - b.contentStart.byteOffset);
}

void test('every field of an answer, on text with multibyte characters and CRLF', async () => {
  const { body } = await post(served.url, { query: 'plum file:unicode' });
  assert.deepEqual(Object.keys(body).sort(), [
    'files',
    'isSearchExhaustive',
    'repositoryInfo',
    'stats',
  ]);
  assert.deepEqual(body.repositoryInfo, [
    { id: 1, codeHostType: 'genericGitHost', name: repository },
  ]);
  const file = await only('plum file:unicode');
  const { chunks, ...rest } = file;
  const address = `${repository}@HEAD/-/blob/src/unicode%20%C3%A9.md`;
  assert.deepEqual(rest, {
    fileName: { text: 'src/unicode é.md', matchRanges: [] },
    webUrl: `${served.url}/browse/${address}`,
    repository,
    repositoryId: 1,
    language: 'Markdown',
    branches: ['HEAD'],
    fileKind: 'docs',
    // 9,000 of a lone atom, 3,853 of its 4 ranges that are whole words (0.4 x 8 / 8.3), 400 of all of the query.
    score: 13_269,
  });
  const [first, second] = byLine(chunks);
  assert.deepEqual(first, {
    content: 'ä plum 日本plum 😀plum\r\n',
    contentStart: { byteOffset: 0, lineNumber: 1, column: 1 },
    matchRanges: first?.matchRanges,
    symbols: [],
  });
  assert.deepEqual(first?.matchRanges.map(flat), [
    [3, 1, 3, 7, 1, 7],
    [14, 1, 10, 18, 1, 14],
    [23, 1, 16, 27, 1, 20],
  ]);
  assert.equal(second?.content, 'third plum\r\n');
  assert.deepEqual(second?.contentStart, { byteOffset: 37, lineNumber: 3, column: 1 });
  assert.deepEqual(second?.matchRanges.map(flat), [[43, 3, 7, 47, 3, 11]]);
});

void test('members of results: all, or those that the request selects', async () => {
  const fields = ['score', 'blobSha'];
  const bare = await only('plum file:unicode', { fields: [] });
  const { score, ...rest } = await only('plum file:unicode');
  // 9,000 of a lone atom, 3,853 of its 4 ranges that are whole words (0.4 x 8 / 8.3), 400 of all of the query.
  assert.equal(score, 13_269);
  assert.deepEqual(rest, bare, 'files on disk have no id in git');
  assert.deepEqual(await only('plum file:unicode', { fields }), { score, ...rest });
  assert.deepEqual(await only('plum file:unicode', { fields: ['blobSha'] }), bare);
  for (const wrong of ['score', ['points'], ['score', 'score', 'score']]) {
    const { status } = await post(served.url, { query: 'plum', fields: wrong });
    assert.equal(status, 400, JSON.stringify(wrong));
  }
});

void test('whole gives the text unchanged, otherwise there is no content', async () => {
  assert.equal((await only('lime', { whole: true })).content, FILES['whole.txt']);
  assert.equal((await only('pear', { whole: true, contextLines: 1 })).content, CONTEXT.join(''));
  assert.equal(
    (await only('plum file:bad', { whole: true })).content,
    'a\ufffd\ufffdplum\ufffd\nno newline plum',
  );
  assert.equal('content' in (await only('lime')), false);
});

/** The members of a value at any depth, of lists by their first entry. */
function membersOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  if (Array.isArray(value)) return membersOf(value[0], `${path}[]`);
  return Object.entries(value).flatMap(([name, member]) => membersOf(member, `${path}.${name}`));
}

void test('the sample in daemon/api/README.md has the members of a real answer, in order', async () => {
  const readme = readFileSync('daemon/api/README.md', 'utf8');
  const sample = /```json\n(\{\n  "stats".*?\n\})\n```/s.exec(readme)?.[1] ?? '';
  const found = await search(served.url, 'fig file:many.txt', { matches: 1 });
  assert.deepEqual(membersOf(JSON.parse(sample)), membersOf(found));
});

void test('200 searches on 64 connections: each is answered as alone, or refused', async () => {
  // One caller may not have so many at a time: these come from several addresses.
  const agents = [1, 2, 3, 4].map(
    (host) => new Agent({ keepAlive: true, maxSockets: 16, localAddress: `127.0.0.${host}` }),
  );
  const headers = { 'content-type': 'application/json' };
  const filesOf = async (query: string, agent: Agent): Promise<unknown> => {
    const body = JSON.stringify({ query, matches: 100 });
    const reply = await send(`${served.url}/api/search`, { method: 'POST', agent, headers, body });
    const answer = JSON.parse(reply.body.toString()) as { files?: unknown; errorCode?: string };
    return answer.files ?? answer.errorCode;
  };
  const queries = ['plum', 'pear', 'fig or lime', 'aa'];
  const alone: unknown[] = [];
  for (const query of queries) alone.push(await filesOf(query, agents[0]!));
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => filesOf(queries[i % 4]!, agents[(i >> 2) % 4]!)),
  );
  for (const agent of agents) agent.destroy();
  const refusedCount = answers.filter((answer) => answer === 'SERVER_OVERLOADED').length;
  assert.ok(refusedCount <= 136, `${refusedCount} refused`);
  for (const [i, answer] of answers.entries())
    if (answer !== 'SERVER_OVERLOADED') assert.deepEqual(answer, alone[i % 4], queries[i % 4]);
});

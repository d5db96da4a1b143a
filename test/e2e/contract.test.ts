// POST /api/search with the real engine: every field of the answer on difficult text, limits, refusals, and the same
// answer as MessagePack.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, before } from 'node:test';
import { unpack } from 'msgpackr';
import type {
  FileResult,
  MatchRange,
  SearchResponse,
} from '../../daemon/api/search/search-schemas.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { checkInvariants } from '../engine/host/invariants.ts';
import { call, post, search, serveIndexed } from './daemon.ts';
import type { Served } from './daemon.ts';

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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked field by field below
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

void test('invalid UTF-8: offsets of the file, a column for each byte, U+FFFD in the text', async () => {
  const [first, second] = byLine((await only('plum file:bad')).chunks);
  assert.equal(first?.content, 'a\ufffd\ufffdplum\ufffd\n');
  assert.deepEqual(first?.matchRanges.map(flat), [[3, 1, 4, 7, 1, 8]]);
  assert.equal(second?.content, 'no newline plum');
  assert.deepEqual(second?.matchRanges.map(flat), [[20, 2, 12, 24, 2, 16]]);
});

void test('context joins chunks exactly when they touch, and is clipped at the ends', async () => {
  const spans = async (contextLines: number): Promise<string[]> => {
    const { chunks } = await only('pear', { contextLines });
    return byLine(chunks).map(({ content, contentStart }) => {
      const from = contentStart.lineNumber - 1;
      const to = from + content.split('\n').length - 1;
      assert.equal(content, CONTEXT.slice(from, to).join(''));
      return `${String(from + 1)}-${String(to)}`;
    });
  };
  assert.deepEqual(await spans(0), ['4-4', '9-9']);
  assert.deepEqual(await spans(2), ['2-6', '7-11']);
  assert.deepEqual(await spans(3), ['1-12']);
  assert.deepEqual(await spans(1_000_000), ['1-12']);
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

void test('letter case, overlaps, names', async () => {
  const count = async (
    query: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<unknown> => (await search(served.url, query, more)).stats['totalMatchCount'];
  assert.equal(await count('kiwi'), 3);
  assert.equal(await count('KIWI', { isCaseSensitivityEnabled: true }), 1);
  assert.equal(await count('aa file:overlap'), 4);
  assert.equal(await count('plum or pear'), 8);
  assert.equal(await count('lime pear'), 0);
  const doc = await only('file:overlap');
  assert.deepEqual(doc.chunks, []);
  assert.deepEqual(doc.fileName.matchRanges.map(flat), [[0, 1, 1, 7, 1, 8]]);
});

void test('stats agree with the answer, for many queries and limits', async () => {
  const queries = [
    'plum',
    'fig',
    'zzzzz',
    'plum or fig',
    'fig -file:many2',
    'file:txt',
    '-file:txt',
    'a',
    'lime fig',
    `repo:${repository} fig`,
  ];
  for (const query of queries) {
    let total: unknown;
    for (const matches of [1000, 1, 7]) {
      const answer = await search(served.url, query, { matches });
      checkInvariants(answer, { matches, shardCount: 1 });
      if (matches === 1000) {
        assert.equal(answer.isSearchExhaustive, true);
        total = answer.stats['totalMatchCount'];
      }
      assert.equal(answer.stats['actualMatchCount'], Math.min(Number(total), matches), query);
    }
  }
});

void test('the match limit cuts ranges, then lines, and is reported; equal requests get equal answers', async () => {
  const all = await search(served.url, 'fig');
  const total = all.stats.totalMatchCount;
  assert.equal(total, 50);
  const cut = await search(served.url, 'fig', { matches: 2, contextLines: 0 });
  assert.equal(cut.isSearchExhaustive, false);
  assert.deepEqual(cut.incompleteReasons, ['match_limit']);
  assert.equal((await search(served.url, 'fig', { matches: total })).isSearchExhaustive, true);
  assert.equal((await search(served.url, 'fig', { matches: total - 1 })).isSearchExhaustive, false);
  assert.deepEqual(
    (await search(served.url, 'fig', { matches: 7 })).files,
    (await search(served.url, 'fig', { matches: 7 })).files,
  );
});

void test('hostile expressions and bytes are refused by both searches, with position and limit', async () => {
  const alternatives = (count: number): string =>
    `(${Array.from({ length: count }, (_, i) => `w${String(i)}`).join('|')})`;
  const patterns: [query: string, message: RegExp][] = [
    ['((a{1000}){1000})', /nested repeat counts multiply to more than 1000 at position 11$/],
    ['a{1001}', /repeat count above 1000 at position 2$/],
    [
      String.raw`plum ${String.raw`\pL{1000}`.repeat(11)}`,
      /too large, limit 10000 states at position 5$/,
    ],
    [alternatives(5000), /28891 bytes, limit 4096 at position 0$/],
    ['(plum', /group without \) at position 0$/],
    ['plum (a(b)', /group without \) at position 5$/],
    ['plum [a', /class without ] at position 5$/],
    ['plum\\', /lone backslash at the end at position 4$/],
    ['plum (?=a)', /at position 7$/],
    ['   ', /./],
    [String.raw`(a)\1`, /back-references are not supported at position 4$/],
  ];
  const bodies: [body: string | Uint8Array, code: string, message: RegExp][] = [
    ...patterns.map(([query, message]): [string, string, RegExp] => [
      JSON.stringify({ query, matches: 10, isRegexEnabled: true }),
      'FAILED_TO_PARSE_QUERY',
      message,
    ]),
    [
      JSON.stringify({ query: alternatives(100_000), matches: 10, isRegexEnabled: true }),
      'INVALID_REQUEST_BODY',
      /query: longer than 65536 bytes/,
    ],
    ...['\xff\xfe', '\xc3', '\xed\xa0\x80', '\xf8'].map((bytes): [Uint8Array, string, RegExp] => [
      Buffer.from(`{"query":"a${bytes}","matches":10}`, 'latin1'),
      'INVALID_REQUEST_BODY',
      /UTF-8/,
    ]),
  ];
  for (const path of ['search', 'stream_search']) {
    for (const [body, errorCode, message] of bodies) {
      const answer = await call(`${served.url}/api/${path}`, { method: 'POST', body });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked here
      const error = (await answer.json()) as Record<string, unknown>;
      const displayed = `${path} ${Buffer.from(body).toString().slice(0, 60)} ${JSON.stringify(error)}`;
      assert.equal(answer.status, 400, displayed);
      assert.deepEqual(Object.keys(error), ['statusCode', 'errorCode', 'message'], displayed);
      assert.deepEqual([error['statusCode'], error['errorCode']], [400, errorCode], displayed);
      assert.match(String(error['message']), message, displayed);
    }
  }
});

void test('long and unusual queries are answered or refused, never a failure', async () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${String(i)}`);
  const queries = [
    words.join(' or '),
    words.join(' '),
    'x'.repeat(65_000),
    '日',
    '😀',
    '\u0000',
    'é',
    '-plum',
    'plum -plum',
    '"a b"',
    "'",
    '\\',
    'file:',
    'lang:Python pear',
    'nosuch:prefix',
    '()',
    'or',
    '\ud800',
  ];
  for (const query of queries) {
    for (const isRegexEnabled of [false, true]) {
      const { status, body } = await post<Record<string, unknown>>(served.url, {
        query,
        isRegexEnabled,
      });
      const displayed = `${query.slice(0, 60)} ${JSON.stringify(body).slice(0, 200)}`;
      assert.ok(status === 200 || body['errorCode'] === 'FAILED_TO_PARSE_QUERY', displayed);
    }
  }
});

void test('MessagePack holds the same answer as JSON, errors too', async () => {
  for (const request of [
    { query: 'plum or fig', contextLines: 1, whole: true },
    { query: '(', isRegexEnabled: true },
  ]) {
    const json = await post(served.url, request);
    const packed = await call(`${served.url}/api/search`, {
      method: 'POST',
      headers: { accept: 'application/x-msgpack' },
      body: JSON.stringify({ matches: 1000, ...request }),
    });
    assert.equal(packed.status, json.status);
    assert.equal(packed.headers.get('content-type'), 'application/x-msgpack');
    assert.match(packed.headers.get('vary') ?? '', /accept/i);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- compared as a whole
    const body = unpack(Buffer.from(await packed.arrayBuffer())) as SearchResponse;
    assert.deepEqual(withoutTimes(body), withoutTimes(json.body));
  }
});

/** An answer without what differs between two equal searches: times, and what a cache spares. */
function withoutTimes(answer: SearchResponse): object {
  const times = ['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch'];
  const stats = Object.entries(answer.stats ?? {}).filter(([name]) => !times.includes(name));
  return { ...answer, stats: Object.fromEntries(stats) };
}

void test('a repo filter without a match is an exhaustive answer without files', async () => {
  const answer = await search(served.url, 'plum repo:elsewhere');
  assert.deepEqual(answer.files, []);
  assert.equal(answer.isSearchExhaustive, true);
  assert.equal(answer.stats['shardsScanned'], 0);
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

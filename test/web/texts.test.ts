// Sentences, numbers and addresses of the page: what is said of an answer, links of editors and hosts, snippets for agents.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { nextIndex } from '../../daemon/web/browse/match-index.ts';
import { editorLink } from '../../daemon/web/data/editors.ts';
import { fileQuery, folderSearch } from '../../daemon/web/browse/search-address.ts';
import { parseQuery } from '../../daemon/engine/query/parser.ts';
import { printQuery } from '../../daemon/engine/query/print.ts';
import {
  clockTime,
  counted,
  duration,
  milliseconds,
  relativeTime,
  size,
  startOfDay,
} from '../../daemon/web/parts/number-format.ts';
import { addressWithin, hostOf } from '../../daemon/web/parts/web-address.ts';
import type { Outcome } from '../../daemon/web/search/messages.ts';
import {
  failureWords,
  isLimited,
  lossesOf,
  positionOf,
} from '../../daemon/web/search/summary-text.ts';
import { agentsOf } from '../../daemon/web/settings/agents.ts';

test('numbers and times are short', () => {
  const numbers: readonly (readonly [string, string])[] = [
    [counted(1, 'match', 'matches'), '1 match'],
    [counted(1204, 'match', 'matches'), '1,204 matches'],
    [milliseconds(0.2), '1 ms'],
    [milliseconds(1250), '1.3 s'],
    [size(312), '312 bytes'],
    [size(4_900_000), '4.9 MB'],
    [size(80_000_000), '80 MB'],
    [duration(200), '1 s'],
    [duration(240_000), '4 min'],
    [duration(7_200_000), '2 h'],
  ];
  for (const [found, text] of numbers) assert.equal(found, text);
});

test('times: elapsed in whole units, the clock of the reader, the start of a day', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');
  for (const [date, text] of [
    ['2026-11-30T12:00:20Z', 'just now'],
    ['2026-11-30T09:10:00Z', '2 hours ago'],
    ['2026-11-28T18:00:00Z', '1 day ago'],
    ['2026-10-15T12:00:00Z', '1 month ago'],
    ['2024-12-15T12:00:00Z', '1 year ago'],
    ['2026-12-01T13:00:00Z', 'in 1 day'],
  ] as const)
    assert.equal(relativeTime(new Date(date), now), text, date);

  const zone = process.env['TZ'];
  process.env['TZ'] = 'Asia/Tokyo';
  assert.equal(clockTime('2026-11-30T16:05:09.250Z'), '01:05:09');
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;

  assert.equal(startOfDay(undefined), undefined);
  assert.equal(startOfDay('2026-11-30', 1), '2026-12-01T00:00:00.000Z');
  // The API refuses it. A filter that is left out would not be noticed.
  assert.equal(startOfDay('20261-11-01'), '20261-11-01');
});

test('the next match in a file: from the line of the address, around the end if all are there', () => {
  const matches = [3, 5, 9].map((lineNumber) => {
    const place = { lineNumber, column: 1 };
    return { start: place, end: place };
  });
  for (const [current, line, isLimited, next, previous] of [
    [undefined, undefined, false, 0, 2],
    [undefined, 5, false, 2, 0],
    [0, undefined, false, 1, 2],
    [2, undefined, false, 0, 1],
    [undefined, 4, false, 1, 0],
    [undefined, 1, false, 0, 2],
    [undefined, 50_000, false, 0, 2],
    [2, undefined, true, undefined, 1],
    [0, undefined, true, 1, undefined],
    [undefined, 1, true, 0, undefined],
    [undefined, 50_000, true, undefined, 2],
  ] as const) {
    const place = { current, line, isLimited };
    assert.equal(nextIndex(matches, 1, place), next, JSON.stringify(place));
    assert.equal(nextIndex(matches, -1, place), previous, JSON.stringify(place));
  }
  assert.equal(
    nextIndex([], 1, { current: undefined, line: undefined, isLimited: false }),
    undefined,
  );
});

test('a search in a folder is at its revision', () => {
  for (const [revision, path, query] of [
    [undefined, '', 'repo:^a/b$'],
    [undefined, 'src', 'repo:^a/b$ file:^src/'],
    ['v1', 'src', 'repo:^a/b$ rev:v1 file:^src/'],
    ['fix(1)', '', 'repo:^a/b$ rev:"fix(1)"'],
  ] as const) {
    const address = folderSearch({ repo: 'a/b', revision, path });
    assert.equal(new URLSearchParams(address.slice('/search?'.length)).get('query'), query);
  }
});

test('the query for a file holds any name of a repository, revision and file', () => {
  const at = (revision: string, path: string) => fileQuery({ repo: 'a (b)/c', revision, path });
  for (const [revision, path, rest] of [
    ['v1', 'a.ts', String.raw`rev:"v1", file:/^a\.ts$/`],
    ['fix(', 'a b', String.raw`rev:"fix(", file:/^a b$/`],
    ['"it"', '"(', String.raw`rev:"\"it\"", file:/^\x22\($/`],
    ['main@{1 day ago}', 'a\nb', String.raw`rev:"main@{1 day ago}", file:/^a\nb$/`],
  ] as const) {
    const tree = parseQuery(at(revision, path), { isRegexEnabled: false });
    assert.equal(printQuery(tree), String.raw`and(repo:/^a \(b\)/c$/, ${rest})`);
  }
});

test('why an answer is partial, and what to do', () => {
  const outcome = (reasons: readonly string[], stats: Outcome['stats'] = {}): Outcome => ({
    isAll: false,
    reasons,
    visibleMatches: 0,
    totalMatches: 0,
    totalFiles: 0,
    hints: [],
    stats,
  });
  for (const [reason, stats, text, step] of [
    ['deadline', { duration: 3e6 }, 'Stopped after 3 ms.', 'again'],
    ['deadline', { duration: 12.4e9 }, 'Stopped after 12 s.', 'again'],
    ['shard_crashed', { crashes: 1 }, '1 shard failed during this search.', 'again'],
    ['shard_crashed', { crashes: 2 }, '2 shards failed during this search.', 'again'],
    ['shard_quarantined', {}, 'Some shards are quarantined.', 'health'],
    ['revision_unreadable', {}, 'In some repositories, a revision', 'again'],
    ['symbols_missing', {}, 'Symbols are not ready', 'again'],
    ['internal_error', {}, 'Part of the answer was lost.', 'again'],
    ['another', {}, 'Matches may be missing: another.', 'again'],
  ] as readonly (readonly [string, Outcome['stats'], string, string])[]) {
    const [loss, ...others] = lossesOf(outcome(['match_limit', reason], stats));
    assert.ok(loss?.text.startsWith(text), `${reason}: ${loss?.text}`);
    assert.equal(loss?.step, step, reason);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(lossesOf(outcome(['match_limit'])), []);
  assert.deepEqual(
    [['match_limit'], ['deadline']].map((reasons) => isLimited(outcome(reasons))),
    [true, false],
  );
});

test('the error of a failed search, with its position', () => {
  for (const [errorCode, message, retryAfter, text, position] of [
    [
      'FAILED_TO_PARSE_QUERY',
      'missing value at position 14',
      undefined,
      'In the query: missing value at character 15',
      14,
    ],
    [
      'FAILED_TO_PARSE_QUERY',
      'filter: missing value at position 3',
      undefined,
      'In the query: filter: missing value at character 4',
      undefined,
    ],
    ['FAILED_TO_PARSE_QUERY', 'too long', undefined, 'In the query: too long', undefined],
    ['SERVER_OVERLOADED', 'x', 2, 'Trawl is busy. Trying again in 2 s.', undefined],
    ['SERVER_OVERLOADED', 'x', undefined, 'Trawl is busy.', undefined],
    ['UNEXPECTED_ERROR', 'Refused here.', undefined, 'Refused here.', undefined],
  ] as const) {
    const failure = { statusCode: 400, errorCode, message, retryAfter };
    assert.equal(failureWords(failure), text);
    assert.equal(positionOf(failure), position, text);
  }
});

test('an address of a host is a link if it is a web address', () => {
  for (const [address, host] of [
    ['https://host.example/a', 'host.example'],
    ['http://127.0.0.1:80/', '127.0.0.1'],
    ['javascript:alert(1)', undefined],
    ['JaVaScRiPt:alert(1)//https://host.example/', undefined],
    ['data:text/html,<script>alert(1)</script>', undefined],
    ['blob:https://host.example/1', undefined],
    ['file:///etc/passwd', undefined],
    ['//evil.example/', undefined],
    ['no address at all', undefined],
    ['', undefined],
  ] as const)
    assert.equal(hostOf(address), host, address);
});

test('signing in redirects only to addresses of this instance', () => {
  for (const home of ['https://code.example', 'https://code.example/base'])
    for (const [path, below] of [
      ['/repos', '/repos'],
      ['/search?query=a#b', '/search?query=a#b'],
      ['repos', '/'],
      ['', '/'],
      ['//example.com/', '//example.com/'],
      ['/.//x', undefined],
      ['/\\example.com', undefined],
      ['/\t/example.com', undefined],
      ['https://example.com/', '/'],
      ['@example.com', '/'],
      ['/../../x', undefined],
    ] as const) {
      const found = addressWithin(home, path);
      assert.ok(found.startsWith(`${home}/`), `${path}: ${found}`);
      if (below !== undefined) assert.equal(found, `${home}${below}`, path);
    }
});

test('each agent has a snippet with the address and no key; the guide has the same', () => {
  const address = 'https://code.example.com/api/mcp';
  const agents = agentsOf(address);
  assert.deepEqual(
    agents.map(({ name }) => name),
    ['Claude Code', 'VS Code', 'Cursor', 'Codex', 'Gemini CLI', 'Windsurf'],
  );
  for (const { name, text } of agents) {
    assert.ok(text.includes(address), name);
    assert.doesNotMatch(text, /svk_/, name);
    if (name !== 'Codex') assert.equal(typeof JSON.parse(text), 'object', name);
  }
  const blocks = readFileSync('daemon/api/mcp/README.md', 'utf8').match(/```json\n[^]*?```/g) ?? [];
  const written = blocks.find((block) => block.includes('TRAWL_API_KEY')) ?? '';
  const json: unknown = JSON.parse(written.slice('```json'.length, -3));
  assert.deepEqual(json, JSON.parse(agents[0]?.text ?? ''));
});

const POSITION = { repo: 'github.com/acme/web', path: 'src/[id] #1.ts', line: 12, column: 3 };
const CHOICE = { editor: 'vscode', cloneFolder: '/home/me/{name}/', editorTemplate: '' } as const;

test('each editor has its link', () => {
  const path = 'src/%5Bid%5D%20%231.ts';
  assert.equal(editorLink(CHOICE, POSITION), `vscode://file/home/me/web/${path}:12:3`);
  const windows = { ...CHOICE, cloneFolder: 'C:\\src\\{repo}' };
  assert.equal(
    editorLink(windows, POSITION),
    `vscode://file/C:/src/github.com/acme/web/${path}:12:3`,
  );
  assert.equal(
    editorLink({ ...CHOICE, editor: 'zed' }, POSITION),
    `zed://file/home/me/web/${path}:12:3`,
  );
  assert.equal(
    editorLink({ ...CHOICE, editor: 'jetbrains', cloneFolder: '' }, POSITION),
    `jetbrains://idea/navigate/reference?project=web&path=${path}:12`,
  );
  const editorTemplate = 'mine://open?f={file}&l={line}&x={other}{constructor}';
  assert.equal(
    editorLink({ ...CHOICE, editor: 'custom', editorTemplate }, POSITION),
    `mine://open?f=/home/me/web/${path}&l=12&x={other}{constructor}`,
  );
});

test('invalid editor links are refused', () => {
  assert.equal(editorLink({ ...CHOICE, editor: 'none' }, POSITION), undefined);
  assert.equal(editorLink({ ...CHOICE, cloneFolder: ' ' }, POSITION), undefined);
  for (const editorTemplate of [
    '',
    'no scheme',
    'javascript:alert(1)//{path}',
    ' JavaScript:alert(1)',
    'data:text/html,{path}',
    'file://{path}',
  ])
    assert.equal(
      editorLink({ ...CHOICE, editor: 'custom', editorTemplate }, POSITION),
      undefined,
      editorTemplate,
    );
});

// Every number of `stats` (API.md 7.2) on docs where it can be computed by hand: matches, reads, work skipped by a
// limit, broken and out-of-service shards, and docs with the same content.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { SECTION_POSTINGS, SKIP_TOO_LARGE } from '../../../core/shared/format.ts';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import type { LiveShard, QuarantinedShard } from '../../../daemon/engine/search/snapshot.ts';
import { ShardTables } from '../../../daemon/engine/shards/tables.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import {
  buildShard,
  coreModule,
  Engine,
  environmentOf,
  permitOf,
  REPO,
  repoRecord,
  requestOf,
  streamEvents,
  temporaryFolder,
} from '../host/harness.ts';
import type { SearchAnswer, TestDoc } from '../host/harness.ts';
import { sealShard } from '../host/seal.ts';

const module = await coreModule('release');
const folder = temporaryFolder();
const OTHER = repoRecord(2, 'host/other');
/** The default of how long a search stays on its thread; and all by the pool. */
const ENGINES = [{}, { inlineNs: 0n, workers: 2 }].map(
  (options) => new Engine(module, { wantsRead: true, ...options }),
);
after(() => Promise.all(ENGINES.map((engine) => engine.close())));

const doc = (path: string, text: string, more: Partial<TestDoc> = {}): TestDoc => ({
  path,
  bytes: Buffer.from(text),
  ...more,
});
const shardOf = (docs: readonly TestDoc[], repo = REPO): LiveShard =>
  buildShard(module, folder, repo, docs);

/** A line that is a separate block, as it is longer than any block of several lines. */
const LINE_SIZE = 20_000;
const line = (text: string): string => text.padEnd(LINE_SIZE - 1, '.') + '\n';
/** Docs that a unit of work has at most. */
const UNIT = 512;

type Numbers = Readonly<Record<string, number>>;
interface Case {
  readonly query: string;
  readonly request?: Partial<SearchRequest>;
  readonly numbers: Numbers;
  readonly reasons?: readonly string[];
}

async function check(
  shards: readonly LiveShard[],
  cases: readonly Case[],
  quarantined: readonly QuarantinedShard[] = [],
  engines: readonly Engine[] = ENGINES,
): Promise<void> {
  for (const engine of engines) {
    engine.publish(shards, [REPO, OTHER], quarantined);
    for (const { query, request, numbers, reasons } of cases) {
      const { stats, incompleteReasons } = await engine.search(query, request);
      const name = `${query} ${JSON.stringify(request ?? {})}`;
      const found = Object.fromEntries(Object.keys(numbers).map((key) => [key, stats[key]]));
      assert.deepEqual(found, numbers, name);
      assert.deepEqual(incompleteReasons, reasons, name);
    }
  }
}

void test('a limit: matches when it was reached, and skipped shards', async () => {
  const many = Array.from({ length: 600 }, (_, i) => doc(`d${i}`, `${i} plum\n`));
  const size = (docs: readonly TestDoc[]): number =>
    docs.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const few = ['a', 'b', 'c'].map((name) => doc(name, `${name} plum\n`));
  const all = {
    totalMatchCount: 603,
    fileCount: 603,
    filesSkipped: 0,
    filesConsidered: 603,
    filesLoaded: 603,
    contentBytesLoaded: size(many) + size(few),
    shardFilesConsidered: 603,
    shardsScanned: 2,
    shardsSkipped: 0,
    ngramMatches: 603,
    ngramLookups: 4,
  };
  const cut = {
    actualMatchCount: 5,
    totalMatchCount: UNIT,
    fileCount: UNIT,
    filesSkipped: 600 - UNIT + 3,
    filesConsidered: UNIT,
    filesLoaded: UNIT,
    contentBytesLoaded: size(many.slice(0, UNIT)),
    shardFilesConsidered: 600,
    shardsScanned: 1,
    shardsSkipped: 1,
    ngramMatches: 600,
    ngramLookups: 2,
  };
  await check(
    [shardOf(many), shardOf(few)],
    [
      { query: 'plum', numbers: { ...all, actualMatchCount: 603 } },
      { query: 'plum', request: { matches: 603 }, numbers: { ...all, actualMatchCount: 603 } },
      {
        query: 'plum',
        request: { matches: 602 },
        numbers: { ...all, actualMatchCount: 602 },
        reasons: ['match_limit'],
      },
      { query: 'plum', request: { matches: 5 }, numbers: cut, reasons: ['match_limit'] },
    ],
  );
});

void test('docs with the same content: each counts, shared work counts once', async () => {
  const docs = [
    doc('a1', 'red plum\n'),
    doc('b', 'plum\n'),
    doc('a2', 'red plum\n'),
    doc('a3', 'red plum\n'),
  ];
  const found = { totalMatchCount: 4, fileCount: 4, filesConsidered: 4, ngramMatches: 2 };
  const read = { filesLoaded: 4, contentBytesLoaded: 9 + 5 };
  const pathOnly = { totalMatchCount: 3, fileCount: 3, ngramMatches: 0, ngramLookups: 0 };
  await check(
    [shardOf(docs)],
    [
      { query: 'plum', numbers: { ...found, ...read } },
      { query: 'plum', request: { whole: true, contextLines: 3 }, numbers: { ...found, ...read } },
      { query: 'file:a', numbers: { ...pathOnly, filesLoaded: 0, contentBytesLoaded: 0 } },
      {
        query: 'file:a',
        request: { whole: true },
        numbers: { ...pathOnly, filesLoaded: 3, contentBytesLoaded: 9 },
      },
      // The content decides for a1; a2 and a3 match without it, and are read for rendering.
      { query: '-(file:a1 plum) file:a', numbers: { fileCount: 2, filesLoaded: 1 } },
      {
        query: '-(file:a1 plum) file:a',
        request: { whole: true },
        numbers: { fileCount: 2, filesLoaded: 3 },
      },
    ],
  );
});

void test('only the needed blocks of a doc are read', async () => {
  const docs = [
    doc('one', ['plum', 'pear', 'plum', 'jam', 'x'].map(line).join('')),
    doc('two', line('jam') + line('tart')),
  ];
  const bytes = (blocks: number, docCount = 1): Numbers => ({
    contentBytesLoaded: blocks * LINE_SIZE,
    filesLoaded: docCount,
  });
  await check(
    [shardOf(docs)],
    [
      { query: 'pear', numbers: { ...bytes(1), ngramMatches: 1 } },
      { query: 'plum', numbers: { ...bytes(2), ngramMatches: 2 } },
      { query: 'pear', request: { contextLines: 1 }, numbers: bytes(3) },
      { query: 'plum', request: { contextLines: 1 }, numbers: bytes(4) },
      { query: 'plum', request: { whole: true }, numbers: bytes(5) },
      { query: 'jam', numbers: { ...bytes(2, 2), ngramMatches: 2 } },
      { query: 'plum jam', numbers: { ...bytes(3), filesConsidered: 1, ngramMatches: 3 } },
      { query: 'x or one', numbers: { ...bytes(1), totalMatchCount: 2 } },
      // Shown is only the first range, with the lines around it: the others were read to be counted.
      {
        query: 'plum',
        request: { matches: 1, contextLines: 1 },
        numbers: { ...bytes(3), totalMatchCount: 2 },
        reasons: ['match_limit'],
      },
    ],
  );
});

void test('list sizes: none for one block, two bytes for two neighbours, a bitmap for many', async () => {
  const two = [doc('a', 'a plu\n'), doc('b', 'b plum\n'), doc('c', 'c plum\n')];
  await check(
    [shardOf(two.slice(1))],
    [
      { query: 'plu', numbers: { indexBytesLoaded: 2, ngramLookups: 1, ngramMatches: 2 } },
      { query: 'plum', numbers: { indexBytesLoaded: 4, ngramLookups: 2, ngramMatches: 2 } },
      { query: '"b plu"', numbers: { ngramLookups: 3, ngramMatches: 1 } },
      { query: '"b p"', numbers: { indexBytesLoaded: 0, ngramLookups: 1, ngramMatches: 1 } },
      { query: 'zzz', numbers: { indexBytesLoaded: 0, ngramLookups: 1, shardsSkippedFilter: 1 } },
    ],
  );
  const many = Array.from({ length: 2048 }, (_, i) => doc(`d${i}`, `${i} plum\n`));
  await check(
    [shardOf(many)],
    [{ query: 'plu', numbers: { indexBytesLoaded: 1024, ngramLookups: 1, ngramMatches: 2048 } }],
  );
});

void test('filters: remaining docs are considered, and expressions run on paths', async () => {
  const docs = [
    doc('src/a.go', 'func plum\n', { language: 'Go' }),
    doc('src/b.py', 'plum\n', { language: 'Python' }),
    doc('big.bin', '', { skipReason: SKIP_TOO_LARGE, language: 'Go' }),
    doc('empty', ''),
  ];
  const none = { filesLoaded: 0, contentBytesLoaded: 0, ngramLookups: 0, ngramMatches: 0 };
  await check(
    [shardOf(docs), shardOf([doc('other', 'plum\n')], OTHER)],
    [
      { query: 'lang:go', numbers: { ...none, filesConsidered: 2, totalMatchCount: 2 } },
      { query: 'lang:go plum', numbers: { filesConsidered: 1, filesLoaded: 1, fileCount: 1 } },
      { query: '-()', numbers: { ...none, filesConsidered: 5, fileCount: 5, shardsScanned: 2 } },
      { query: 'file:/[ab]\\.', numbers: { ...none, filesConsidered: 2, regexpsConsidered: 0 } },
      { query: 'file:[ab].*[goy]$', numbers: { ...none, filesConsidered: 2, fileCount: 2 } },
      { query: 'repo:host/repo file:b.*p', numbers: { fileCount: 1, regexpsConsidered: 4 } },
      { query: 'file:.*', numbers: { ...none, fileCount: 5, regexpsConsidered: 0 } },
      { query: '-file:.*', numbers: { ...none, filesConsidered: 0, shardsSkippedFilter: 2 } },
      {
        query: 'repo:other',
        numbers: { ...none, shardFilesConsidered: 1, shardsScanned: 1, filesConsidered: 1 },
      },
      {
        query: 'repo:none plum',
        numbers: { ...none, shardFilesConsidered: 0, shardsScanned: 0, shardsSkippedFilter: 0 },
      },
      {
        query: '-()',
        request: { whole: true },
        numbers: { filesLoaded: 3, contentBytesLoaded: 10 + 5 + 5 },
      },
    ],
  );
});

void test('expressions: one run for each block and path, however often it is visited', async () => {
  const docs = [
    doc('one', ['plum1', 'plum', 'pear2'].map(line).join('')),
    doc('two', line('plum22 plum3')),
  ];
  const request = { isRegexEnabled: true, contextLines: 2, whole: true };
  await check(
    [shardOf(docs)],
    [
      { query: 'plum\\d+', request, numbers: { regexpsConsidered: 3, totalMatchCount: 3 } },
      { query: 'plum\\d+ pear\\d+', request, numbers: { regexpsConsidered: 3, fileCount: 1 } },
      { query: '[a-z]+\\d+', request, numbers: { regexpsConsidered: 4, totalMatchCount: 4 } },
      { query: 'file:[nw]+o? plum', request, numbers: { regexpsConsidered: 2 } },
    ],
  );
});

void test('broken and out-of-service shards', async () => {
  const docs = Array.from({ length: 40 }, (_, i) => doc(`d${i}`, `plum ${i}\n`));
  const valid = shardOf([doc('a', 'plum plum\n')]);
  const broken = shardOf(docs);
  const bytes = readFileSync(broken.path);
  const { start, size } = new ShardTables(bytes).section(SECTION_POSTINGS);
  bytes.fill(0xff, start, start + size);
  sealShard(module, bytes, SECTION_POSTINGS);
  writeFileSync(broken.path, bytes);
  const away = { ...shardOf(docs.slice(0, 7)), reason: 'checksum' };
  const found = { totalMatchCount: 2, fileCount: 1, filesConsidered: 1 };
  await check(
    [valid, broken],
    [
      {
        query: 'plum',
        // Nothing is known of what the broken shard holds: all its docs were left out.
        numbers: { ...found, crashes: 1, filesSkipped: 40, shardFilesConsidered: 41 },
        reasons: ['shard_crashed'],
      },
    ],
  );
  await check(
    [valid, broken],
    [
      {
        query: 'plum',
        request: { matches: 2 },
        numbers: { ...found, actualMatchCount: 2, crashes: 1, shardsSkipped: 1, filesSkipped: 47 },
        reasons: ['shard_crashed', 'shard_quarantined'],
      },
    ],
    [away],
  );
  // On one thread: another one may have met the broken shard before the limit is passed.
  await check(
    [valid, broken],
    [
      {
        query: 'plum',
        request: { matches: 1 },
        numbers: { actualMatchCount: 1, crashes: 0, shardsSkipped: 2, filesSkipped: 47 },
        reasons: ['match_limit', 'shard_quarantined'],
      },
    ],
    [away],
    ENGINES.slice(0, 1),
  );
});

void test('durations count from the arrival of the request, on each path', async () => {
  await using engine = await Engine.over([doc('a', 'plum\n')], { inlineNs: 60_000_000_000n });
  const permit = permitOf(performance.now() - 5000);
  const environment = environmentOf({ permit });
  const request = requestOf('plum');
  const { json } = await search(engine.parts, request, environment);
  assert.ok(json instanceof Uint8Array);
  const answer = JSON.parse(Buffer.from(json).toString()) as SearchAnswer;
  const short = await engine.searchShort(request, environment);
  const events = await streamEvents<{ accumulatedStats?: SearchAnswer['stats'] }>(
    engine.parts,
    request,
    { permit },
  );
  for (const stats of [answer.stats, short!.stats, events.at(-1)!.accumulatedStats!])
    for (const name of ['duration', 'wait']) assert.ok(stats[name]! >= 5e9, name);
});

void test('durations: waiting is part of the whole; skipped work takes no time', async () => {
  const shard = shardOf([doc('a', 'plum\n')]);
  for (const engine of ENGINES) {
    engine.publish([shard], [REPO]);
    const times = ({ stats }: SearchAnswer): boolean[] =>
      ['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch'].map(
        (name) => stats[name]! > 0,
      );
    assert.deepEqual(times(await engine.search('plum')), [true, true, true, true]);
    // Ruled out: bound, but no unit.
    assert.deepEqual(times(await engine.search('zzz')), [true, true, true, false]);
  }
});

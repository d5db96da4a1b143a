// Whole answers with over a million ranges: a corpus of many equal files, searched with large and small limits,
// literals, alternations and classes, both case modes, on one thread and several, blocking and streamed. Each range
// must be one that JavaScript finds in that file, at its line and column; totals add up; a limited answer is part of
// the unlimited one; a repeated search gives the same answer.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../bench/samples.ts';
import { UNIT_DOCS_MAX } from '../../core/shared/plan.ts';
import { SEES_ALL } from '../../daemon/repos/repo-access.ts';
import type { SearchRequest } from '../../daemon/engine/query/request.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { startStream } from '../../daemon/engine/search/stream.ts';
import {
  buildShard,
  coreModule,
  Engine,
  type EngineOptions,
  type FileResult,
  type Range,
  REPO,
  type SearchAnswer,
  temporaryFolder,
  type TestDoc,
} from '../engine/host/harness.ts';

const RANGES_MIN = 1_000_000;
const FOREVER_NS = 10n ** 12n;

const WORDS = [
  ['#define', '#undef', 'ossl_check_X509_type', 'ossl_check_BIO_sk_type', 'sk_set', '_sk_set'],
  ['const', 'static const', 'nst', 'inline', 'DEFINE', 'Undef', 'sk_SETX', 'café', '日本', '😀'],
  ['x', '(', ')', '{ return 0; }', '1024', '0x1F', '/* */', '"é\u0301"', ' ', '\t', '\n', '\n'],
].flat();
/** Copies of each text: one has more than a unit holds docs of, most fill units and a little more, some are alone. */
const COPIES = [700, ...Array.from({ length: 17 }, (_, i) => 70 - i), 12, 5, 3, 1, 1];

/** Texts of one block and of several, all different. */
function makeTexts(): string[] {
  const random = seededRandom(11);
  return COPIES.map((copies, index) => {
    const words = Array.from(
      { length: copies > 12 ? 25 + 3 * index : 100 * index },
      () => WORDS[Math.floor(random() * WORDS.length)]!,
    );
    return `/* ${index} */ ${words.join(' ')}`;
  });
}

/** A text with what the checks need of it: its bytes, and place, line and column of each UTF-16 index. */
interface Source {
  readonly text: string;
  readonly bytes: Buffer;
  readonly locations: readonly Range['start'][];
}

function sourceOf(text: string): Source {
  const locations: Range['start'][] = [];
  let [byteOffset, lineNumber, column] = [0, 1, 1];
  for (const point of text) {
    for (let i = 0; i < point.length; i++) locations.push({ byteOffset, lineNumber, column });
    byteOffset += Buffer.byteLength(point);
    column++;
    if (point === '\n') [lineNumber, column] = [lineNumber + 1, 1];
  }
  locations.push({ byteOffset, lineNumber, column });
  return { text, bytes: Buffer.from(text), locations };
}

/** What is asked, and the expressions that JavaScript looks for: all of them must hold, or any. */
interface Question {
  readonly query: string;
  readonly isRegex: boolean;
  readonly patterns: readonly string[];
  readonly isAny?: boolean;
}

const QUESTIONS: readonly Question[] = [
  { query: '"(_sk_set|sk_setx)"', isRegex: true, patterns: ['_sk_set|sk_setx'] },
  { query: 'define|undef', isRegex: true, patterns: ['define|undef'] },
  { query: 'const.*nst', isRegex: true, patterns: ['const.*nst'] },
  {
    query: 'ossl_check_[a-zA-Z0-9_]+_type',
    isRegex: true,
    patterns: ['ossl_check_[a-zA-Z0-9_]+_type'],
  },
  { query: '[0-9]+|é', isRegex: true, patterns: ['[0-9]+|é'] },
  { query: 'nst\\s+\\S+', isRegex: true, patterns: ['nst[\\t\\n ]+[^\\t\\n ]+'] },
  { query: 'const', isRegex: false, patterns: ['const'] },
  { query: 'x', isRegex: false, patterns: ['x'] },
  { query: 'sk_set or 日本', isRegex: false, patterns: ['sk_set', '日本'], isAny: true },
  { query: 'undef const', isRegex: false, patterns: ['undef', 'const'] },
  { query: '1024 in[l-n]ine', isRegex: true, patterns: ['1024', 'in[l-n]ine'] },
];

/** Ranges of a text, by start; none: the text must not be found. */
function expectedRanges(
  { text, locations }: Source,
  question: Question,
  isExact: boolean,
): Range[] {
  const flags = isExact ? 'gmu' : 'gimu';
  const found = question.patterns.map((pattern) => [...text.matchAll(new RegExp(pattern, flags))]);
  const isMatched = found.map((matches) => matches.length > 0);
  if (!(question.isAny === true ? isMatched.includes(true) : !isMatched.includes(false))) return [];
  const all = found.flat().map((match) => [match.index, match.index + match[0].length] as const);
  all.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let end = 0;
  const kept = all.filter((range) => range[0] >= end && (end = range[1]) > 0);
  return kept.map((range) => ({ start: locations[range[0]]!, end: locations[range[1]]! }));
}

const keyOf = ({ start, end }: Range): string =>
  `${start.byteOffset}:${start.lineNumber}:${start.column}-${end.byteOffset}:${end.lineNumber}:${end.column}`;

/** A file as it must be shown, and what is known of it beforehand. */
interface Expected {
  readonly source: Source;
  /** Keys of the ranges, to their index. */
  readonly ranges: ReadonlyMap<string, number>;
}

/** Checks that a file shows nothing but its own ranges, each once, amid their own lines; returns how many. */
function checkFile(file: FileResult, { source, ranges }: Expected): number {
  assert.equal(file.fileName.matchRanges.length, 0);
  const displayed = new Set<number>();
  let count = 0;
  for (const { content, contentStart, matchRanges } of file.chunks) {
    const start = contentStart.byteOffset;
    const end = start + Buffer.byteLength(content);
    assert.ok(start === 0 || source.bytes[start - 1] === 10, 'whole lines');
    assert.ok(end === source.bytes.length || source.bytes[end - 1] === 10, 'whole lines');
    assert.ok(source.bytes.subarray(start, end).equals(Buffer.from(content)), 'lines of the file');
    for (const range of matchRanges) {
      const index = ranges.get(keyOf(range));
      if (index === undefined) assert.fail(`${file.fileName.text}: ${keyOf(range)} is no match`);
      assert.ok(range.start.byteOffset >= start && range.end.byteOffset <= end, 'in its chunk');
      displayed.add(index);
      count++;
    }
  }
  assert.equal(displayed.size, count, 'each range once');
  return count;
}

/** Checks one answer; returns how many ranges it showed. */
function checkAnswer(
  answer: SearchAnswer,
  expected: ReadonlyMap<string, Expected>,
  matches: number,
): number {
  let displayed = 0;
  const paths = new Set<string>();
  let cutCount = 0;
  for (const file of answer.files) {
    const own = expected.get(file.fileName.text);
    assert.ok(own, `${file.fileName.text} does not match`);
    const count = checkFile(file, own);
    if (count < own.ranges.size) cutCount++;
    displayed += count;
    paths.add(file.fileName.text);
  }
  assert.equal(paths.size, answer.files.length, 'each file once');
  const total = [...expected.values()].reduce((sum, { ranges }) => sum + ranges.size, 0);
  assert.equal(displayed, Math.min(total, matches));
  assert.equal(answer.stats['actualMatchCount'], displayed);
  assert.equal(answer.isSearchExhaustive, total <= matches);
  assert.ok(cutCount <= (total <= matches ? 0 : 1), 'only the last file is cut');
  if (total <= matches) {
    assert.equal(answer.stats['totalMatchCount'], total);
    assert.equal(answer.stats['fileCount'], expected.size);
  }
  return displayed;
}

/** Checks that files of a limited answer stand as in the whole one, and show what they show there. */
function checkHead(limited: SearchAnswer, whole: SearchAnswer): void {
  const locations = new Map(whole.files.map(({ fileName }, index) => [fileName.text, index]));
  let last = -1;
  for (const file of limited.files) {
    const index = locations.get(file.fileName.text)!;
    assert.ok(index > last, 'in the same order');
    last = index;
    const all = whole.files[index]!.chunks.flatMap(({ matchRanges }) => matchRanges);
    const head = file.chunks.flatMap(({ matchRanges }) => matchRanges);
    assert.deepEqual(head.map(keyOf), all.slice(0, head.length).map(keyOf));
  }
}

/** Pulls a stream to its end; its files and the numbers of its final event. */
async function streamed({ parts }: Engine, request: SearchRequest): Promise<SearchAnswer> {
  const stream = await startStream(parts, request, {
    signal: new AbortController().signal,
    baseUrl: 'http://localhost',
    repoAccess: SEES_ALL,
    eventSizeMax: 16_000_000,
  });
  const files: FileResult[] = [];
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    assert.ok('json' in event);
    const one = JSON.parse(Buffer.from(event.json).toString()) as StreamEvent;
    if (one.type === 'chunk') files.push(...one.files);
    else {
      stream.close();
      return { ...one, files, stats: one.accumulatedStats };
    }
  }
  assert.fail('a stream without a final event');
}

type StreamEvent =
  | { readonly type: 'chunk'; readonly files: readonly FileResult[] }
  | {
      readonly type: 'final';
      readonly accumulatedStats: SearchAnswer['stats'];
      readonly isSearchExhaustive: boolean;
    };

interface World {
  readonly module: WebAssembly.Module;
  readonly shards: readonly LiveShard[];
  readonly sources: ReadonlyMap<string, Source>;
}

/** Two shards whose docs stand mixed, so that copies of one text lie everywhere and come in both. */
async function makeWorld(): Promise<World> {
  const module = await coreModule('release');
  const sources = makeTexts().map(sourceOf);
  const random = seededRandom(5);
  const docs = COPIES.flatMap((copies, index) => Array.from({ length: copies }, () => index))
    .map((index) => ({ index, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ index }, doc) => ({ path: `d${doc % 7}/doc${doc}.h`, source: sources[index]! }));
  const folder = temporaryFolder();
  const testDocs = docs.map(({ path, source }): TestDoc => ({ path, bytes: source.bytes }));
  const border = Math.floor(docs.length * 0.8);
  const shards = [testDocs.slice(0, border), testDocs.slice(border)].map((some) =>
    buildShard(module, folder, REPO, some),
  );
  return { module, shards, sources: new Map(docs.map(({ path, source }) => [path, source])) };
}

function expectedFiles({ sources }: World, question: Question, isExact: boolean) {
  const rangesBySource = new Map<Source, ReadonlyMap<string, number>>();
  const expected = new Map<string, Expected>();
  for (const [path, source] of sources) {
    const ranges =
      rangesBySource.get(source) ??
      new Map(expectedRanges(source, question, isExact).map((range, i) => [keyOf(range), i]));
    rangesBySource.set(source, ranges);
    if (ranges.size > 0) expected.set(path, { source, ranges });
  }
  return expected;
}

const ENGINES: Readonly<Record<string, EngineOptions>> = {
  'one thread': { workers: 1, inlineNs: FOREVER_NS },
  'two threads': { workers: 2, inlineNs: 0n },
};

void test('each of over a million ranges is a match of its file, in order', async (t) => {
  const world = await makeWorld();
  // Four fifths of the copies, about, are in one shard, and in one unit of it.
  assert.ok(COPIES[0]! * 0.75 > UNIT_DOCS_MAX);
  const engines = Object.values(ENGINES).map((options) => new Engine(world.module, options));
  t.after(() => Promise.all(engines.map((engine) => engine.close())));
  for (const engine of engines) engine.publish(world.shards, [REPO]);
  let displayed = 0;
  for (const question of QUESTIONS) {
    for (const isCaseSensitivityEnabled of [false, true]) {
      const expected = expectedFiles(world, question, isCaseSensitivityEnabled);
      assert.ok(expected.size > 0, question.query);
      const requested = {
        query: question.query,
        contextLines: 0,
        whole: false,
        isRegexEnabled: question.isRegex,
        isCaseSensitivityEnabled,
      };
      let whole: SearchAnswer | undefined;
      let least: SearchAnswer | undefined;
      for (const matches of [100_000, 8000, 1000]) {
        for (const engine of engines) {
          const answer = await engine.search(question.query, { ...requested, matches });
          displayed += checkAnswer(answer, expected, matches);
          whole ??= answer;
          least = answer;
          checkHead(answer, whole);
          displayed += checkAnswer(
            await streamed(engine, { ...requested, matches }),
            expected,
            matches,
          );
        }
      }
      for (const other of await Promise.all(
        engines.map((engine) => engine.search(question.query, { ...requested, matches: 1000 })),
      ))
        assert.deepEqual(other.files, least!.files, 'asked again');
    }
  }
  assert.ok(displayed > RANGES_MIN, `${displayed} ranges`);
});

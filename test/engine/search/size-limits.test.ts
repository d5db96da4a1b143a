// Answers of limited size: file results end before the JSON exceeds `maxBytes`, lines in chunks are cut around their
// ranges to `maxLineBytes`, and each answer says what is missing; blocking and streamed.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import {
  array,
  assert as assertProperty,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  string,
} from 'fast-check';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import { allBytes } from '../../../daemon/base/lazy-bytes.ts';
import {
  Engine,
  environmentOf,
  type FileResult,
  requestOf,
  streamEvents,
} from '../host/harness.ts';
import { checkInvariants } from '../host/invariants.ts';
import { SEED } from '../../seed.ts';

interface Answer {
  readonly files: readonly FileResult[];
  readonly stats: Record<string, number>;
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
  readonly hints?: readonly object[];
}

const ENVIRONMENT = environmentOf();
const TOO_SMALL_HINTS = [{ message: 'The best file alone exceeds maxBytes: raise it.' }];

const LONG = `${'ä'.repeat(200)}needle${'ö'.repeat(200)}needle${'x'.repeat(200)}`;

let engine: Engine;

before(async () => {
  const docs = Array.from({ length: 50 }, (_, doc) => ({
    path: `d${doc}`,
    bytes: Buffer.from(`first\nneedle ${doc}\nlast\n`),
  }));
  engine = await Engine.over([
    ...docs,
    { path: 'long', bytes: Buffer.from(`a\n${LONG}\nlong ${LONG}`) },
  ]);
});

after(() => engine.close());

function needles({ query = 'needle', ...more }: Partial<SearchRequest>): SearchRequest {
  const flags = { isRegexEnabled: true, isCaseSensitivityEnabled: true };
  return requestOf(query, { matches: 1000, ...flags, ...more });
}

async function answerTo(more: Partial<SearchRequest>): Promise<Answer & { size: number }> {
  const { json } = await search(engine.parts, needles(more), ENVIRONMENT);
  const bytes = allBytes(json);
  const answer = JSON.parse(Buffer.from(bytes).toString()) as Answer;
  return { ...answer, size: bytes.byteLength };
}

type Event = Partial<Answer> & { readonly accumulatedStats?: Answer['stats'] };

async function streamOf(more: Partial<SearchRequest>): Promise<Answer> {
  const events = await streamEvents<Event>(engine.parts, needles(more));
  const { accumulatedStats: stats = {}, isSearchExhaustive = true, ...final } = events.at(-1)!;
  return { ...final, isSearchExhaustive, stats, files: events.flatMap(({ files = [] }) => files) };
}

void test('results end before the answer exceeds its size, and the answer says so', async () => {
  const whole = await answerTo({});
  assert.equal(whole.isSearchExhaustive, true);
  for (const maxBytes of [1024, 2000, 5000, whole.size - 1, whole.size, whole.size + 100]) {
    const answer = await answerTo({ maxBytes });
    assert.ok(answer.size <= maxBytes, `${answer.size} of ${maxBytes}`);
    assert.deepEqual(answer.files, whole.files.slice(0, answer.files.length));
    assert.equal(answer.stats['totalMatchCount'], whole.stats['totalMatchCount']);
    checkInvariants(answer, { matches: 1000 });
    const isCut = answer.files.length < whole.files.length;
    assert.deepEqual(answer.incompleteReasons, isCut ? ['size_limit'] : undefined);
    assert.equal(isCut, maxBytes < whole.size + 64);
    const isEmptied = answer.files.length === 0;
    assert.deepEqual(answer.hints, isEmptied ? TOO_SMALL_HINTS : undefined);
  }
  const both = await answerTo({ maxBytes: 5000, matches: 40 });
  assert.deepEqual(both.incompleteReasons, ['match_limit', 'size_limit']);
});

void test('a stream ends its results in the same way', async () => {
  const answer = await streamOf({ maxBytes: 8000 });
  assert.ok(JSON.stringify(answer.files).length <= 8000);
  assert.ok(answer.files.length > 5);
  assert.deepEqual(answer.incompleteReasons, ['size_limit']);
  checkInvariants(answer, { matches: 1000 });
  const { files, hints } = await streamOf({ maxBytes: 1024, contextLines: 100, whole: true });
  assert.deepEqual([files, hints], [[], TOO_SMALL_HINTS]);
  assert.equal((await streamOf({ maxBytes: 1_000_000 })).incompleteReasons, undefined);
});

void test('long lines are cut around their ranges, whose positions stay', async () => {
  const long = { query: 'needle', maxLineBytes: 64 };
  const [whole, cut] = await Promise.all(
    [{}, long].map(async (more) => {
      const { files } = await answerTo(more);
      return files.find(({ fileName }) => fileName.text === 'long');
    }),
  );
  const lines = (file: FileResult | undefined) => file?.chunks.map(({ content }) => content) ?? [];
  assert.equal(lines(cut).length, 2);
  for (const line of lines(cut)) {
    assert.match(line, /^…ä+needleö+…ö+needlex+…\n?$/);
    assert.ok(Buffer.byteLength(line.replaceAll(/[…\n]/g, '')) <= 64, line);
  }
  const ranges = (file: FileResult | undefined) =>
    file?.chunks.map(({ matchRanges }) => matchRanges);
  assert.deepEqual(ranges(cut), ranges(whole));
  const short = await answerTo({ query: '^first', maxLineBytes: 32 });
  assert.equal(short.files[0]?.chunks[0]?.content, 'first\n');
});

void test('a range longer than the line limit is cut, and so are lines around it', async () => {
  const { files } = await answerTo({ query: 'needleö+', maxLineBytes: 32, contextLines: 1 });
  const [chunk] = files[0]?.chunks ?? [];
  const [first, second] = chunk?.content.split('\n') ?? [];
  assert.equal(first, 'a');
  assert.match(second ?? '', /^…needleö{13}…$/);
});

void test('a backslash and an n in a line are not a line end', async () => {
  await using one = await Engine.over([
    { path: 'one', bytes: Buffer.from(`needle${String.raw`0123456789\n`.repeat(500)}\n`) },
  ]);
  // Longer than what stands around the text in the JSON.
  const request = needles({ maxLineBytes: 3000 });
  const { json } = await search(one.parts, request, ENVIRONMENT);
  const { files } = JSON.parse(Buffer.from(allBytes(json)).toString()) as Answer;
  assert.match(files[0]?.chunks[0]?.content ?? '', /…\n$/);
});

void test('no line is longer than the limit, for any content', async () => {
  const text = string({
    unit: constantFrom('a', 'ß', '€', '😀', ' ', '\\n', '\\'),
    maxLength: 200,
  });
  const doc = array(oneof(text, constant('needle')), { maxLength: 20 });
  await assertProperty(
    asyncProperty(doc, integer({ min: 32, max: 200 }), async (parts, maxLineBytes) => {
      const content = parts.join('');
      await using one = await Engine.over([
        { path: 'one', bytes: Buffer.from(`needle ${content}\n`) },
      ]);
      const request = needles({ maxLineBytes });
      const { json } = await search(one.parts, request, ENVIRONMENT);
      const { files } = JSON.parse(Buffer.from(allBytes(json)).toString()) as Answer;
      const answered = files[0]?.chunks[0]?.content.replaceAll(/[…\n]/g, '') ?? '';
      assert.ok(Buffer.byteLength(answered) <= maxLineBytes);
      assert.ok(answered.includes('needle'));
    }),
    { seed: SEED, numRuns: 20 },
  );
});

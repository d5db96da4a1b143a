// Hostile queries: huge and deep expressions, many of them at once, and random bytes. Each is refused with a position
// inside the query and a reason, or answered; no shard fails. Times are not asserted, but exponential time would not
// end.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { QueryError } from '../../daemon/engine/regex/query-error.ts';
import { Engine, type SearchAnswer } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';

const raw = String.raw;
const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 750);

const DOCS = [
  ['a.txt', 'red plum jam\naaaaaaaaaaaaaaaaaaaaaa\n'],
  ['z.txt', `${'z'.repeat(3000)}\n`],
  ['b.txt', '\u00fcn\u00ef c\u00f4d\u00e9 \u03a3\u0391\u03a3\r\n\x80'],
  ['c/d.txt', 'line of text\n'.repeat(300)],
] as const;

const list = (count: number, make: (index: number) => string, between = ' or '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(between);
const nested = (count: number, open: string, inner: string, close: string): string =>
  open.repeat(count) + inner + close.repeat(count);

const REFUSED: readonly (readonly [query: string, reason: RegExp])[] = [
  ['((a{1000}){1000})', /multiply to more than 1000 at position 11$/],
  [raw`(\pL{100}){100}`, /multiply to more than 1000 at position 11$/],
  [raw`\pL{1000}`.repeat(11), /too large, limit 10000 states at position 0$/],
  [raw`x ${raw`(\pL{10}x){100}`.repeat(11)}`, /too large, limit 10000 states at position 2$/],
  [list(100_000, (index) => `w${index}`, '|'), /bytes, limit 4096 at position 0$/],
  [`"${nested(251, '(', 'a', ')')}"`, /more than 250 nested groups at position 251$/],
  [list(500, (index) => raw`\pL{10}${index}`), /too large together, limit 100000 states/],
  [list(500, (index) => raw`file:\pL{10}${index}`), /too large together, limit 100000 states/],
  ['a{1001}', /repeat count above 1000 at position 2$/],
  ['(', /group without \) at position 0$/],
  ['x [a', /class without \] at position 2$/],
  ['"(a"', /group without \) at position 1$/],
  [raw`foo\ `, /lone backslash at the end at position 3$/],
  ['(?=a)', /unsupported group: .* at position 2$/],
  [raw`(a)\1`, /back-references are not supported at position 4$/],
];

/** Number of ranges in any case. */
const ANSWERED: readonly (readonly [query: string, matches: number])[] = [
  ['a{22}', 1],
  ['(z{1000})', 3],
  ['(.{1000})', 3],
  [raw`\pL{1000}`, 3],
  [raw`\pL{50}`, 60],
  [raw`(\p{Lu}\p{Ll}{0,30}){1,20}`, 912],
  ['.{500}.{500}', 3],
  [nested(249, '(', 'plum', ')'), 1],
  [`"${nested(249, '(?:', 'plum', ')*')}"`, 1],
  [`"${nested(200, '(?:', 'a*', ')*')}"`, 2],
  [`"${'z?'.repeat(1000)}${'z'.repeat(1000)}"`, 2],
  ['(z*)*q', 0],
  ['(z|z)*q', 0],
  ['(z|zz|zzz)+q', 0],
  ['z.*z.*z.*q', 0],
  ['z(?:.*q)?', 3000],
  [raw`(?s)l.*?q|l`, 301],
  [raw`[az].{200}q`, 0],
  ['a*?', 0],
  [raw`\b`, 0],
  [`(${list(600, (index) => `w${(index * 7919) % 9973}`, '|')})`, 0],
  [list(500, (index) => `w${index}.*x`), 0],
  [list(500, (index) => `[a-z]+${index}[a-z]*`), 0],
  [list(500, (index) => raw`foo${index}\s+(bar|baz)${index}`), 0],
  [`[${list(1360, (index) => String.fromCodePoint(0x4e00 + index * 3), '')}]`, 0],
  [`(?i)[${list(1350, (index) => String.fromCodePoint(0x3a3 + index * 3), '')}]{2}`, 0],
  [raw`\x{10ffff}|\x{d800}|[^\x{0}-\x{10ffff}]`, 0],
  ['\ufffd', 0],
];

function openEngine(): Promise<Engine> {
  return Engine.over(DOCS.map(([path, text]) => ({ path, bytes: Buffer.from(text) })));
}

/** The answer, or the refusal, whose position lies in the query. */
async function searchFor(
  engine: Engine,
  query: string,
  isRegexEnabled: boolean,
  isCaseSensitivityEnabled: boolean,
): Promise<SearchAnswer | QueryError> {
  try {
    return await engine.search(query, {
      isRegexEnabled,
      isCaseSensitivityEnabled,
      matches: 10_000,
    });
  } catch (error) {
    assert.ok(error instanceof QueryError, `${String(error)} of ${JSON.stringify(query)}`);
    assert.ok(error.position >= 0 && error.position <= Array.from(query).length, error.message);
    return error;
  } finally {
    assert.deepEqual(engine.failures, [], query);
  }
}

void test('huge and hostile expressions are refused with a reason, or answered', async () => {
  await using engine = await openEngine();
  for (const [query, reason] of REFUSED) {
    const refusal = await searchFor(engine, query, true, false);
    assert.ok(refusal instanceof QueryError, query.slice(0, 80));
    assert.match(refusal.message, reason);
  }
  for (const [query, matches] of ANSWERED) {
    const answer = await searchFor(engine, query, true, false);
    if (answer instanceof QueryError) throw answer;
    assert.equal(answer.isSearchExhaustive, true);
    assert.equal(answer.stats['totalMatchCount'], matches, query.slice(0, 80));
    await searchFor(engine, query, true, true);
  }
});

const FRAGMENTS: readonly string[] = [
  ...Array.from('()[]{}*+?|^$.\\"-:,aAkz019 \n\r\t'),
  '(?i)',
  '(?-s:',
  '(?P<n>',
  '[:alpha:]',
  '[^',
  raw`\pL`,
  raw`\p{Greek}`,
  raw`\Q`,
  raw`\E`,
  '{1000}',
  '{2,3}',
  '{,2}',
  'file:',
  'repo:',
  'lang:',
  ' or ',
  '-(',
  'plum',
  '.*',
  '.*?',
  raw`\b`,
  raw`\x{1F600}`,
  raw`\x{110000}`,
  raw`\s`,
  '\u{1f600}',
  '\ud800',
  '\ufffd',
  '\0',
];

void test(`random text as a query, seed ${SEED}`, async () => {
  await using engine = await openEngine();
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString());
  const chunks = fc
    .array(fc.constantFrom(...FRAGMENTS), { maxLength: 24 })
    .map((list) => list.join(''));
  const counts = { answered: 0, refused: 0 };
  const property = fc.asyncProperty(
    fc.oneof({ weight: 1, arbitrary: bytes }, { weight: 6, arbitrary: chunks }),
    fc.boolean(),
    fc.boolean(),
    async (query, isRegexEnabled, isCaseSensitive) => {
      const outcome = await searchFor(engine, query, isRegexEnabled, isCaseSensitive);
      counts[outcome instanceof QueryError ? 'refused' : 'answered']++;
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
  assert.ok(counts.answered > RUNS / 10 && counts.refused > RUNS / 10, JSON.stringify(counts));
});

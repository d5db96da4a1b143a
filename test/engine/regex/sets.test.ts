// Sets of code points: folding as in the core, properties as in JavaScript, and the automata of sets, which
// accept the UTF-8 of their members and nothing else.
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { normalizeRanges } from '../../../daemon/engine/regex/code-points.ts';
import { foldCodePoint, foldRanges, foldVariants } from '../../../daemon/engine/regex/fold.ts';
import { isPropertyName, propertyRanges } from '../../../daemon/engine/regex/properties.ts';
import {
  CATEGORY_NAMES,
  CATEGORY_RUNS,
  SCRIPT_NAMES,
  SCRIPT_RUNS,
  UNICODE_VERSION,
} from '../../../daemon/engine/regex/property-table.ts';
import { simplify } from '../../../daemon/engine/regex/simplify.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import type { CodePointRange } from '../../../daemon/engine/regex/tree.ts';
import { BUILDS, instantiateCore } from '../../core/driver.ts';
import { matchesOf, readTwin, startOf } from './twin.ts';
import { compileRegex } from '../query/at-once.ts';

const raw = String.raw;

/** Why: an engine of another version of Unicode says something else, rightly. */
const OTHER_UNICODE =
  process.versions.unicode === UNICODE_VERSION ? false : `Unicode ${process.versions.unicode}`;

interface FoldExports {
  foldCodePoint(point: number): number;
}

test('the fold tables equal the generated ones', { skip: OTHER_UNICODE }, () => {
  execFileSync(process.execPath, ['scripts/make-fold-table.mjs', '--check'], { stdio: 'pipe' });
});

test('daemon and core fold the same', async () => {
  const [build] = BUILDS;
  const { exports } = await instantiateCore<FoldExports>('test/core/assembly/kernels.ts', build);
  for (let point = 0; point < 0x110000; point++) {
    if (exports.foldCodePoint(point) !== foldCodePoint(point)) assert.fail(`U+${point}`);
  }
});

function has(ranges: readonly CodePointRange[], point: number): boolean {
  return ranges.some(({ start, end }) => start <= point && point < end);
}

function setOf(pattern: string, isFolded = false): readonly CodePointRange[] {
  const tree = simplify(parseRegex(pattern, { isFolded }));
  assert.equal(tree.kind, 'set');
  return tree.kind === 'set' ? tree.ranges : [];
}

test('variants fold to the same code point', () => {
  assert.deepEqual(new Set(foldVariants(0x4b)), new Set([0x4b, 0x6b, 0x212a]));
  assert.deepEqual(new Set(foldVariants(0x17f)), new Set([0x53, 0x73, 0x17f]));
  assert.deepEqual(foldVariants(0x31), [0x31]);
});

test('a folded set has all variants of its members', () => {
  const rangeArbitrary = fc
    .tuple(fc.integer({ min: 0, max: 0x2200 }), fc.integer({ min: 1, max: 0x1000 }))
    .map(([start, size]) => ({ start, end: start + size }));
  fc.assert(
    fc.property(fc.array(rangeArbitrary, { maxLength: 4 }), (parts) => {
      const ranges = normalizeRanges(parts);
      const folded = foldRanges(ranges);
      for (let point = 0; point < 0x3300; point++) {
        const isMember = foldVariants(point).some((variant) => has(ranges, variant));
        if (has(folded, point) !== isMember) assert.fail(`U+${point.toString(16)}`);
      }
    }),
    { numRuns: 100 },
  );
});

const CASES: readonly (readonly [pattern: string, members: string, others: string])[] = [
  ['k', 'kK\u{212a}', 'l'],
  ['[^k]', 'l\n', 'kK\u{212a}'],
  [raw`\w`, 'sS\u{17f}\u{212a}', '-\u{e9}'],
  [raw`\W`, '-\u{e9}', 'sSkK\u{17f}\u{212a}'],
  ['[[:^upper:]]', '1', 'aAs\u{17f}'],
  [raw`\p{Lu}`, 'aA\u{e9}', '1'],
  [raw`\P{Lu}`, '1', 'aA'],
  [raw`[^\P{Lu}]`, 'aA', '1'],
  ['[a-z]', 'aZ\u{17f}', '['],
];

for (const [pattern, members, others] of CASES) {
  test(`case-insensitive ${pattern} has ${JSON.stringify(members)}`, () => {
    const ranges = setOf(pattern, true);
    for (const member of members) assert.ok(has(ranges, member.codePointAt(0)!), member);
    for (const other of others) assert.ok(!has(ranges, other.codePointAt(0)!), other);
  });
}

test('surrogates are in no set', () => {
  for (const pattern of [raw`\p{Any}`, raw`\p{Cs}`, raw`\P{L}`, '[^a]', raw`[\x{d700}-\x{e100}]`]) {
    assert.ok(!has(setOf(pattern), 0xd800) && !has(setOf(pattern), 0xdfff), pattern);
  }
  assert.deepEqual(setOf(raw`\x{d800}`), []);
});

/** Every name, and what JavaScript calls it. */
const PROPERTIES = [
  ...'Any C Combining_Mark L LC Letter M Mark N Number P punct S Symbol Z Separator Other Cased_Letter'.split(
    ' ',
  ),
  ...CATEGORY_NAMES.split(/[ =]/),
].map((name) => [name, name] as const);
const SCRIPTS = SCRIPT_NAMES.split(/[ =]/).map((name) => [name, `sc=${name}`] as const);

test('each code point has one category and one script, and both tables use one Unicode version', () => {
  for (const runs of [CATEGORY_RUNS, SCRIPT_RUNS]) {
    const sizes = Array.from(runs.matchAll(/[0-9a-z]+/g), ([size]) => Number.parseInt(size, 36));
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      0x110000,
    );
  }
  const folds = readFileSync('core/shared/fold-table.ts', 'utf8');
  assert.ok(folds.includes(`from Unicode ${UNICODE_VERSION}.`));
  for (const name of ['', 'l', 'constructor', 'Lx', 'Cased', 'greek', 'gc'])
    assert.ok(!isPropertyName(name), name);
});

test('the property tables equal the generated ones', { skip: OTHER_UNICODE }, () => {
  execFileSync(process.execPath, ['scripts/make-property-table.mjs', '--check'], { stdio: 'pipe' });
});

test('properties equal those of JavaScript', { skip: OTHER_UNICODE }, () => {
  const names = [...PROPERTIES, ...SCRIPTS];
  // Between them nothing changes: the tables equal the generated ones.
  const ends = names.flatMap(([name]) =>
    propertyRanges(name).flatMap(({ start, end }) => [start - 1, start, end - 1, end]),
  );
  const isText = (point: number): boolean => point < 0xd800 || point >= 0xe000;
  const points = [...new Set(ends)]
    .filter((point) => point >= 0 && point < 0x110000 && isText(point))
    .sort((a, b) => a - b);
  const text = String.fromCodePoint(...points);
  for (const [name, property] of names) {
    assert.ok(isPropertyName(name), name);
    const ranges = propertyRanges(name);
    let index = 0;
    const members = points.filter((point) => {
      while ((ranges[index]?.end ?? Infinity) <= point) index++;
      return (ranges[index]?.start ?? Infinity) <= point;
    });
    const expected = text.match(new RegExp(`\\p{${property}}`, 'gu')) ?? [];
    assert.equal(String.fromCodePoint(...members), expected.join(''), name);
  }
});

/** Code points at which the size of UTF-8 or a leading byte changes, and their neighbours. */
const EDGES = [
  0, 0x7f, 0x80, 0xbf, 0xc0, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff,
  0x40000, 0xfffff, 0x100000, 0x10ffff,
];
const pointArbitrary = fc
  .oneof(
    fc.constantFrom(...EDGES),
    fc.integer({ min: 0, max: 0x900 }),
    fc.integer({ min: 0, max: 0x10ffff }),
  )
  .map((point) => (point >= 0xd800 && point < 0xe000 ? 0xe000 : point));

test('a set matches exactly its members in both directions', () => {
  const pairs = fc.array(fc.tuple(pointArbitrary, pointArbitrary), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pairs, fc.array(pointArbitrary, { maxLength: 10 }), (ends, others) => {
      const ranges = ends.map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) + 1 }));
      const members = ranges
        .map(({ start, end }) => raw`\x{${start.toString(16)}}-\x{${(end - 1).toString(16)}}`)
        .join('');
      const twin = readTwin(compileRegex(parseRegex(`[${members}]`)).program);
      const points = [
        ...ranges.flatMap(({ start, end }) => [start, end - 1, end]),
        ...EDGES,
        ...others,
      ];
      for (const point of points) {
        if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) continue;
        const bytes = Buffer.from(String.fromCodePoint(point));
        const expected = has(ranges, point) ? [{ start: 0, end: bytes.length, from: 0 }] : [];
        assert.deepEqual(matchesOf(twin, bytes), expected, `${members} on ${point.toString(16)}`);
        const start = startOf(twin, bytes, 0, bytes.length);
        assert.equal(start, has(ranges, point) ? 0 : undefined, `back: ${members} on ${point}`);
      }
    }),
    { numRuns: 500 },
  );
});

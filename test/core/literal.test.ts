// The literal searcher against plain JavaScript: small worlds, random texts, vector borders, engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore, type CoreInstance } from './driver.ts';
import { findAll, flagsOf, FOLDS_INTO_ASCII, foldsTogether, textArbitrary } from './oracle.ts';

interface ScanExports {
  compileNeedle(
    ptr: number,
    size: number,
    caseSensitive: number,
    out: number,
    capacity: number,
  ): number;
  needleSizeMax(size: number): number;
  findNeedle(needle: number, start: number, end: number, flags: number): number;
  foundEnd(): number;
  countNeedle(needle: number, start: number, end: number, flags: number): number;
  countNeedleScalar(n: number, nEnd: number, start: number, end: number, isFolding: number): number;
}

const EXACT = 1;
const ASCII_FOLD = 2;
const GENERAL = 3;

const NEEDLE_CAPACITY = 1 << 16;
const encoder = new TextEncoder();

/** The searcher on one instance, with places for a needle, its compiled form and a haystack. */
class Searcher {
  private readonly core: CoreInstance<ScanExports>;
  private readonly text: number;
  private readonly needle: number;
  private readonly haystack: number;

  constructor(core: CoreInstance<ScanExports>) {
    this.core = core;
    this.text = core.base;
    this.needle = this.text + NEEDLE_CAPACITY;
    this.haystack = this.needle + 4 * NEEDLE_CAPACITY;
  }

  /** Compiles `needle`; returns the engine, which is the first number of the compiled form. */
  compile(needle: Uint8Array, isCaseSensitive: boolean): number {
    const { exports, bytes } = this.core;
    bytes.set(needle, this.text);
    const capacity = exports.needleSizeMax(needle.length);
    bytes.fill(0xee, this.needle, this.needle + capacity + 16);
    const used = exports.compileNeedle(
      this.text,
      needle.length,
      +isCaseSensitive,
      this.needle,
      capacity,
    );
    assert.ok(used > 0 && used <= capacity);
    const behind = bytes.subarray(this.needle + used, this.needle + capacity + 16);
    assert.ok(behind.subarray(capacity - used).every((byte) => byte === 0xee));
    bytes.fill(0xcc, this.text, this.text + needle.length);
    return new DataView(bytes.buffer).getUint32(this.needle, true);
  }

  /** All matches in `haystack`, placed `shift` bytes from a multiple of 64 between bytes `around`. */
  find(haystack: Uint8Array, flags: number, shift = 0, around = 0x61): [number, number][] {
    const { exports, bytes } = this.core;
    const start = this.haystack + 64 + shift;
    const end = start + haystack.length;
    bytes.fill(around, start - 64, end + 64);
    bytes.set(haystack, start);
    const matches: [number, number][] = [];
    let ptr = start;
    while (ptr < end) {
      const found = exports.findNeedle(this.needle, ptr, end, flags);
      if (found === end) break;
      matches.push([found - start, exports.foundEnd() - start]);
      ptr = exports.foundEnd();
    }
    assert.equal(exports.countNeedle(this.needle, start, end, flags), matches.length);
    return matches;
  }

  countScalar(needle: Uint8Array, haystack: Uint8Array, isCaseSensitive: boolean): number {
    const { exports, bytes } = this.core;
    bytes.set(needle, this.text);
    bytes.set(haystack, this.haystack);
    const needleEnd = this.text + needle.length;
    const end = this.haystack + haystack.length;
    return exports.countNeedleScalar(this.text, needleEnd, this.haystack, end, +!isCaseSensitive);
  }
}

for (const build of BUILDS) {
  test(`literal (${build})`, async (t) => {
    const core = await instantiateCore<ScanExports>('test/core/assembly/kernels.ts', build);
    const searcher = new Searcher(core);

    await t.test('chooses the cheapest exact engine', () => {
      const cases: [string | Uint8Array, boolean, number][] = [
        ['return', true, EXACT],
        ['->1_2', false, EXACT],
        ['日本', false, EXACT],
        ['σ', true, EXACT],
        ['return', false, ASCII_FOLD],
        ['日本 ok', false, ASCII_FOLD],
        ['İ', false, EXACT],
        ['é', false, GENERAL],
        ['task\u212a', false, GENERAL],
        ['\u017f', false, GENERAL],
        ['\u017f', true, EXACT],
        ['a\ufffd', true, GENERAL],
        [Uint8Array.of(0x61, 0xc3), true, GENERAL],
      ];
      for (const [needle, isCaseSensitive, engine] of cases) {
        const bytes = typeof needle === 'string' ? encoder.encode(needle) : needle;
        assert.equal(searcher.compile(bytes, isCaseSensitive), engine, String(needle));
      }
    });

    await t.test('refuses invalid input', () => {
      const { exports, base } = core;
      const out = base + NEEDLE_CAPACITY;
      assert.equal(exports.compileNeedle(base, 0, 1, out, 4096), -1);
      assert.equal(exports.compileNeedle(base, 5, 1, out, exports.needleSizeMax(5) - 1), -2);
      assert.equal(exports.compileNeedle(base, 65537, 1, out, 1 << 30), -3);
    });

    await t.test('finds needles of each size at each border', () => {
      for (let size = 1; size <= 70; size++) {
        const needle = encoder.encode('aB_cDeF('.repeat(9).slice(0, size));
        const lower = encoder.encode(new TextDecoder().decode(needle).toLowerCase());
        for (const isCaseSensitive of [true, false]) {
          searcher.compile(needle, isCaseSensitive);
          const text = isCaseSensitive ? needle : lower;
          for (const before of [0, 1, 15, 16, 17, 47, 63, 64, 65, 128 - size, 130]) {
            if (before < 0) continue;
            const haystack = new Uint8Array(before + size).fill(0x2e);
            haystack.set(text, before);
            const shift = (size * 7 + before) % 65;
            assert.deepEqual(searcher.find(haystack, 0, shift), [[before, before + size]]);
            assert.deepEqual(searcher.find(haystack.subarray(0, -1), 0, shift, text.at(-1)), []);
            assert.deepEqual(searcher.find(haystack.subarray(before + 1), 0, shift, text[0]), []);
          }
        }
      }
    });

    await t.test('agrees with the oracle on all small texts', () => {
      const alphabet = ['k', 'K', '\u212a', 'σ', 'ς', '\ufffd'].map((char) => [
        ...encoder.encode(char),
      ]);
      const chars = [...alphabet, [0xc3], [0x84]];
      const texts = chars.flatMap((a) => [
        a,
        ...chars.flatMap((b) => [
          [...a, ...b],
          [...a, ...b, ...a],
        ]),
      ]);
      const needles = chars.flatMap((a) => [a, ...chars.map((b) => [...a, ...b])]);
      for (const needle of needles.map((list) => Uint8Array.from(list))) {
        for (const isCaseSensitive of [true, false]) {
          searcher.compile(needle, isCaseSensitive);
          for (const text of texts.map((list) => Uint8Array.from(list))) {
            const expected = findAll(text, needle, isCaseSensitive);
            assert.deepEqual(
              searcher.find(text, flagsOf(text)),
              expected,
              `${needle.join()} in ${text.join()}`,
            );
          }
        }
      }
    });

    await t.test('agrees with the oracle on random texts', () => {
      const input = fc.record({
        needle: textArbitrary(6).filter((bytes) => bytes.length > 0),
        haystack: textArbitrary(60),
        isCaseSensitive: fc.boolean(),
        shift: fc.nat(64),
        around: fc.constantFrom(0x61, 0x80, 0x84, 0xaa, 0xbf, 0x6b, 0xc3),
      });
      fc.assert(
        fc.property(input, ({ needle, haystack, isCaseSensitive, shift, around }) => {
          searcher.compile(needle, isCaseSensitive);
          const expected = findAll(haystack, needle, isCaseSensitive);
          const flags = flagsOf(haystack);
          assert.deepEqual(searcher.find(haystack, flags, shift, around), expected);
          assert.deepEqual(
            searcher.find(haystack, flags | FOLDS_INTO_ASCII, shift, around),
            expected,
          );
          assert.equal(searcher.countScalar(needle, haystack, isCaseSensitive), expected.length);
        }),
        { numRuns: 750 },
      );
    });
  });
}

test('the oracle folds as the contract requires', () => {
  assert.ok(foldsTogether(0x6b, 0x212a) && foldsTogether(0x73, 0x17f));
  assert.ok(!foldsTogether(0x69, 0x130) && !foldsTogether(0x69, 0x131));
});

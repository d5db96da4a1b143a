// UTF-8 and case folding against JavaScript: all code points, all short byte strings, vector borders.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';
import { decodeText, foldsTogether, textArbitrary } from './oracle.ts';

interface TextExports {
  decodeUtf8(ptr: number, end: number): number;
  decodeUtf8Before(start: number, ptr: number): number;
  encodeUtf8(ptr: number, point: number): number;
  countCodePoints(start: number, end: number): number;
  countCodePointsScalar(start: number, end: number): number;
  isAscii(start: number, end: number): number;
  foldCodePoint(point: number): number;
  foldVariants(point: number, out: number): number;
  isFoldable(point: number): number;
  gramCharsInit(): void;
  appendGramChar(key: number, point: number): number;
}

const POINT_MAX = 0x10ffff;
const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;

/** Bytes at which the rules of UTF-8 change. */
const EDGE_BYTES = [
  0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
  0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
];

function* edgeStrings(size: number): Generator<number[]> {
  if (size === 0) yield [];
  else
    for (const rest of edgeStrings(size - 1)) for (const byte of EDGE_BYTES) yield [...rest, byte];
}

for (const build of BUILDS) {
  test(`text (${build})`, async (t) => {
    const { exports, bytes, base } = await instantiateCore<TextExports>(
      'test/core/assembly/kernels.ts',
      build,
    );
    const memory = new DataView(bytes.buffer);

    /** Puts `text` at `base + shift` between bytes `around`; returns its start. */
    function put(text: Uint8Array, shift = 0, around = 0x80): number {
      const start = base + 64 + shift;
      bytes.fill(around, start - 64, start + text.length + 64);
      bytes.set(text, start);
      return start;
    }

    function forward(text: Uint8Array, around = 0x80): { point: number; size: number }[] {
      const start = put(text, 0, around);
      const points = [];
      for (let ptr = start; ptr < start + text.length;) {
        const result = exports.decodeUtf8(ptr, start + text.length);
        points.push({ point: result >>> 3, size: result & 7 });
        ptr += result & 7;
      }
      return points;
    }

    function backward(text: Uint8Array): { point: number; size: number }[] {
      const start = put(text, 0, 0xf0);
      const points = [];
      for (let ptr = start + text.length; ptr > start;) {
        const result = exports.decodeUtf8Before(start, ptr);
        points.unshift({ point: result >>> 3, size: result & 7 });
        ptr -= result & 7;
      }
      return points;
    }

    /** The variants of `point` that the core names, itself left out. */
    function variantsOf(point: number): number[] {
      const count = exports.foldVariants(point, base);
      const all = Array.from({ length: count }, (_, index) =>
        memory.getUint32(base + index * 4, true),
      );
      assert.ok(all.includes(point));
      return all.filter((variant) => variant !== point).sort((a, b) => a - b);
    }

    await t.test('encodes and decodes every code point', () => {
      for (let point = 0; point <= POINT_MAX; point++) {
        if (isSurrogate(point)) continue;
        const end = exports.encodeUtf8(base, point);
        const size = end - base;
        const result = exports.decodeUtf8(base, end);
        const before = exports.decodeUtf8Before(base, end);
        const isRight = result === before && result >>> 3 === point && (result & 7) === size;
        if (!isRight) assert.fail(`U+${point.toString(16)}`);
        if (point % 257 !== 0 && point > 0x900) continue;
        const expected = Buffer.from(String.fromCodePoint(point));
        assert.deepEqual(Buffer.from(bytes.subarray(base, end)), expected);
      }
    });

    await t.test('agrees with the oracle on strings of edge bytes', () => {
      for (const size of [1, 2, 3]) {
        for (const list of edgeStrings(size)) {
          const text = Uint8Array.from(list);
          const expected = decodeText(text).map((found) => ({
            point: found.point,
            size: found.size,
          }));
          assert.deepEqual(forward(text), expected, list.join(' '));
          assert.deepEqual(backward(text), expected, list.join(' '));
        }
      }
    });

    await t.test('agrees with the oracle on four bytes', () => {
      const lead = fc.constantFrom(0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5);
      const next = fc.constantFrom(0x41, 0x7f, 0x80, 0x8f, 0x90, 0xbf, 0xc2, 0xf0);
      const input = fc.tuple(fc.constantFrom(0x61, 0xc3), lead, next, next, next);
      fc.assert(
        fc.property(input, (list) => {
          const text = Uint8Array.from(list);
          const expected = decodeText(text).map(({ point, size }) => ({ point, size }));
          assert.deepEqual(forward(text), expected);
          assert.deepEqual(backward(text), expected);
        }),
        { numRuns: 1500 },
      );
    });

    await t.test('counts code points', () => {
      const ascii = fc.nat(40).map((size) => new Uint8Array(size).fill(0x61));
      const input = fc.tuple(ascii, textArbitrary(40), ascii, textArbitrary(3));
      fc.assert(
        fc.property(
          input,
          fc.nat(16),
          fc.constantFrom(0x61, 0x80, 0xc3),
          (parts, shift, around) => {
            const text = Buffer.concat(parts);
            const start = put(text, shift, around);
            const count = exports.countCodePoints(start, start + text.length);
            assert.equal(count, decodeText(text).length);
          },
        ),
        { numRuns: 500 },
      );
    });

    await t.test('separates ASCII from the rest, at each border', () => {
      for (let size = 0; size <= 140; size++) {
        const text = new Uint8Array(size).fill(0x7f);
        const shift = size % 17;
        const start = put(text, shift, 0x80);
        assert.equal(exports.isAscii(start, start + size), 1, `${size} bytes`);
        for (let index = 0; index < size; index++) {
          bytes[start + index] = 0x80;
          assert.equal(exports.isAscii(start, start + size), 0, `${index} of ${size}`);
          bytes[start + index] = 0x7f;
        }
      }
    });

    await t.test('folds every code point as regular expressions do', () => {
      const cased = /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u;
      for (let point = 0; point <= POINT_MAX; point++) {
        if (isSurrogate(point)) continue;
        const folded = exports.foldCodePoint(point);
        if (!cased.test(String.fromCodePoint(point))) {
          if (folded !== point) assert.fail(`U+${point.toString(16)} has no case`);
          continue;
        }
        const isRight = foldsTogether(point, folded) && exports.foldCodePoint(folded) === folded;
        if (!isRight) assert.fail(`U+${point.toString(16)} folds to U+${folded.toString(16)}`);
      }
    });

    await t.test('keys of grams do not depend on case', () => {
      exports.gramCharsInit();
      let casedCount = 0;
      for (let point = 0; point <= POINT_MAX; point++) {
        const folded = exports.foldCodePoint(point);
        if (folded !== point) casedCount++;
        const keys = [point, folded].map((one) => exports.appendGramChar(0, one));
        if (keys[0] !== keys[1]) assert.fail(`U+${point.toString(16)}`);
      }
      assert.ok(casedCount > 1000);
    });

    await t.test('lists all variants of every code point', () => {
      const cased = /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u;
      const byFold = new Map<number, number[]>();
      const members = [];
      for (let point = 0; point <= POINT_MAX; point++) {
        if (isSurrogate(point) || !cased.test(String.fromCodePoint(point))) continue;
        members.push(point);
        const folded = exports.foldCodePoint(point);
        byFold.set(folded, [...(byFold.get(folded) ?? []), point]);
      }
      const text = String.fromCodePoint(...members);
      for (const [folded, points] of byFold) {
        const pattern = new RegExp(`\\u{${folded.toString(16)}}`, 'giu');
        const expected = [...text.matchAll(pattern)].map(([char]) => char.codePointAt(0));
        assert.deepEqual(points, expected, `U+${folded.toString(16)}`);
        for (const point of points) {
          const others = points.filter((other) => other !== point);
          assert.deepEqual(variantsOf(point), others, `U+${point.toString(16)}`);
          assert.equal(exports.isFoldable(point), others.length > 0 ? 1 : 0);
        }
      }
      for (const point of [0x31, 0x7f, 0x80, 0xd7, 0x4e00, 0xfffd, POINT_MAX]) {
        assert.deepEqual(variantsOf(point), []);
        assert.equal(exports.isFoldable(point), 0);
      }
    });
  });
}

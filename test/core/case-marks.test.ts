// Case marks against their definition, pair by pair: a block with a text has all its marks, at any position, and
// other cases differ.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CASE_MARKS_SIZE } from '../../core/shared/format.ts';
import { BUILDS, instantiateCore } from './driver.ts';

interface Exports {
  markBlock(start: number, end: number, marks: number): void;
  marksOfText(start: number, end: number, marks: number): number;
  hasMarks(marks: number, requested: number): number;
}

const isCapital = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

/** The marks of the pairs of `bytes` that `isMarked` picks, by the words of FORMAT.md. */
function marksOf(bytes: Uint8Array, isMarked = (_first: number, _second: number) => true) {
  const marks = new Uint8Array(CASE_MARKS_SIZE);
  for (let i = 0; i + 1 < bytes.length; i++) {
    const [first, second] = [bytes[i]!, bytes[i + 1]!];
    if (!isCapital(first) && !isCapital(second)) continue;
    if (first === 10 || second === 10 || !isMarked(first, second)) continue;
    const bit = Number(((BigInt(first * 256 + second) * 2654435761n) % 2n ** 32n) >> 24n);
    marks[bit >> 3]! |= 1 << (bit & 7);
  }
  return marks;
}

for (const build of BUILDS) {
  test(`case marks (${build})`, async (t) => {
    const core = await instantiateCore<Exports>('test/core/assembly/kernels.ts', build);
    const [marks, requested, text] = [core.base, core.base + 64, core.base + 192];
    const at = (ptr: number): Uint8Array => core.bytes.slice(ptr, ptr + CASE_MARKS_SIZE);
    const put = (bytes: Uint8Array): void => {
      // Capitals all around: nothing beyond the block may count.
      core.bytes.fill(0x51, text - 64, text + bytes.length + 64);
      core.bytes.set(bytes, text);
    };
    const mark = (bytes: Uint8Array): Uint8Array => {
      put(bytes);
      core.exports.markBlock(text, text + bytes.length, marks);
      return at(marks);
    };
    const requestMarks = (bytes: Uint8Array): boolean => {
      put(bytes);
      return core.exports.marksOfText(text, text + bytes.length, requested) !== 0;
    };
    const alphabet = fc.constantFrom(...Buffer.from('aZAz_0 \n\u00e9'), 0xff);
    const bytesOf = (maxLength: number) =>
      fc.array(alphabet, { maxLength }).map((bytes) => Uint8Array.from(bytes));
    const numRuns = build === 'debug' ? 300 : 3000;

    await t.test('of blocks of all sizes around a step', () => {
      for (let size = 0; size < 70; size++) {
        const bytes = Uint8Array.from({ length: size }, (_, i) => 0x41 + ((i * 7) % 58));
        assert.deepEqual(mark(bytes), marksOf(bytes), `${size} bytes`);
      }
    });

    await t.test('random blocks, and the texts in them', () => {
      fc.assert(
        fc.property(bytesOf(120), bytesOf(12), bytesOf(120), (before, own, behind) => {
          const block = Uint8Array.from([...before, ...own, ...behind]);
          assert.deepEqual(mark(block), marksOf(block));
          const expected = marksOf(own, (first, second) => first < 0x80 && second < 0x80);
          assert.equal(
            requestMarks(own),
            expected.some((byte) => byte !== 0),
          );
          assert.deepEqual(at(requested), expected);
          assert.notEqual(core.exports.hasMarks(marks, requested), 0);
        }),
        { numRuns },
      );
    });

    await t.test('a missing mark at any position is detected', () => {
      core.bytes.fill(0xff, marks, marks + CASE_MARKS_SIZE);
      core.bytes.fill(0, requested, requested + CASE_MARKS_SIZE);
      for (let bit = 0; bit < CASE_MARKS_SIZE * 8; bit++) {
        core.bytes[requested + (bit >> 3)] = 1 << (bit & 7);
        assert.notEqual(core.exports.hasMarks(marks, requested), 0);
        core.bytes[marks + (bit >> 3)] = 0xff ^ (1 << (bit & 7));
        assert.equal(core.exports.hasMarks(marks, requested), 0, `bit ${bit}`);
        core.bytes[marks + (bit >> 3)] = 0xff;
        core.bytes[requested + (bit >> 3)] = 0;
      }
    });

    await t.test('the same letters in another case are distinguished', () => {
      mark(Buffer.from('static int pm_resume(void)\n'));
      requestMarks(Buffer.from('PM_RESUME'));
      assert.equal(core.exports.hasMarks(marks, requested), 0);
    });
  });
}

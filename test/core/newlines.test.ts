// Finding and counting bytes: the SIMD versions and their scalar twins over the same cases.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';

type Scan = (start: number, end: number, byte: number) => number;

interface ByteExports {
  countByte: Scan;
  countByteScalar: Scan;
  findByte: Scan;
  findByteScalar: Scan;
  findLastByte: Scan;
  findLastByteScalar: Scan;
  findNonAscii(start: number, end: number): number;
}

const NEWLINE = 10;

for (const build of BUILDS) {
  test(`newlines (${build})`, async (t) => {
    const { exports, bytes, base } = await instantiateCore<ByteExports>(
      'test/core/assembly/kernels.ts',
      build,
    );

    /** Puts `text` at `base + shift` between bytes `around`; returns its start. */
    function put(text: Uint8Array, shift: number, around: number): number {
      const start = base + 64 + shift;
      bytes.fill(around, start - 64, start + text.length + 64);
      bytes.set(text, start);
      return start;
    }

    /** Checks every function on [start, start + size) against JavaScript and its twin. */
    function check(start: number, size: number, byte: number): void {
      const end = start + size;
      const text = bytes.subarray(start, end);
      const count = text.filter((other) => other === byte).length;
      const first = text.indexOf(byte);
      const last = text.lastIndexOf(byte);
      const nonAscii = text.findIndex((other) => other > 0x7f);
      const at = (index: number): number => (index < 0 ? end : start + index);
      for (const [name, expected] of [
        ['countByte', count],
        ['countByteScalar', count],
        ['findByte', at(first)],
        ['findByteScalar', at(first)],
        ['findLastByte', at(last)],
        ['findLastByteScalar', at(last)],
      ] as const) {
        assert.equal(exports[name](start, end, byte), expected, `${name}, ${size} bytes`);
      }
      assert.equal(exports.findNonAscii(start, end), at(nonAscii), `findNonAscii, ${size} bytes`);
    }

    await t.test('finds every position at every size, and nothing outside', () => {
      for (let size = 0; size <= 140; size++) {
        const start = put(new Uint8Array(size), size % 65, NEWLINE);
        check(start, size, NEWLINE);
        for (let index = 0; index < size; index++) {
          bytes[start + index] = NEWLINE;
          check(start, size, NEWLINE);
          bytes[start + index] = 0;
        }
      }
    });

    await t.test('reads nothing around an empty range', () => {
      const start = put(new Uint8Array(0), 5, NEWLINE);
      check(start, 0, NEWLINE);
    });

    await t.test('counts beyond the capacity of a byte sum', () => {
      for (const size of [255 * 64 - 1, 255 * 64, 255 * 64 + 1, 256 * 64, 511 * 64 + 63]) {
        const start = put(new Uint8Array(size).fill(NEWLINE), 3, NEWLINE);
        check(start, size, NEWLINE);
      }
    });

    await t.test('agrees on random texts', () => {
      const byte = fc.constantFrom(0, NEWLINE, 11, 0x7f, 0x80, 0x8a, 0xff);
      const text = fc.array(byte, { maxLength: 300 }).map((list) => Uint8Array.from(list));
      fc.assert(
        fc.property(text, fc.nat(64), byte, byte, (input, shift, around, target) => {
          check(put(input, shift, around), input.length, target);
        }),
        { numRuns: 500 },
      );
    });
  });
}

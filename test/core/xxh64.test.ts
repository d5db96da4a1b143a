// XXH64 against the xxhash-wasm package: all small sizes, whole and in chunks.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import xxhash from 'xxhash-wasm';
import { BUILDS, instantiateCore } from './driver.ts';

interface HashExports {
  xxh64(ptr: number, size: number, seed: bigint): bigint;
  xxh64Begin(state: number, seed: bigint): void;
  xxh64Update(state: number, ptr: number, size: number): void;
  xxh64End(state: number): bigint;
}

const TEXT_OFFSET = 128;
const GUARD = 0xee;
const STATE_SIZE = 88;

for (const build of BUILDS) {
  test(`xxh64 (${build})`, async (t) => {
    const hasher = await xxhash();
    const { exports, bytes, base } = await instantiateCore<HashExports>(
      'test/core/assembly/kernels.ts',
      build,
    );
    const state = base;

    /** Hash of `text`, placed `shift` bytes from a multiple of 64. */
    function hash(text: Uint8Array, seed: bigint, shift = 0): bigint {
      const ptr = base + TEXT_OFFSET + shift;
      bytes.set(text, ptr);
      return BigInt.asUintN(64, exports.xxh64(ptr, text.length, seed));
    }

    /** The same over pieces that end at `cuts`. */
    function hashChunks(text: Uint8Array, seed: bigint, cuts: number[]): bigint {
      const ptr = base + TEXT_OFFSET;
      bytes.set(text, ptr);
      bytes.fill(GUARD, state, state + TEXT_OFFSET);
      exports.xxh64Begin(state, seed);
      let start = 0;
      for (const end of [...cuts, text.length]) {
        exports.xxh64Update(state, ptr + start, end - start);
        const soFar = BigInt.asUintN(64, exports.xxh64End(state));
        assert.equal(soFar, hasher.h64Raw(text.subarray(0, end), seed), `piece ends at ${end}`);
        start = end;
      }
      const behind = bytes.subarray(state + STATE_SIZE, state + TEXT_OFFSET);
      assert.ok(behind.every((byte) => byte === GUARD));
      return BigInt.asUintN(64, exports.xxh64End(state));
    }

    await t.test('gives the documented value of the empty input', () => {
      assert.equal(hash(Uint8Array.of(), 0n), 0xef46db3751d8e999n);
    });

    await t.test('agrees with the package for each size', () => {
      for (let size = 0; size <= 200; size++) {
        const text = Uint8Array.from({ length: size }, (_, index) => (index * 167 + size) & 255);
        for (const seed of [0n, 1n, 0xfedcba9876543210n]) {
          const expected = hasher.h64Raw(text, seed);
          assert.equal(hash(text, seed, size % 9), expected, `${size} bytes`);
          assert.equal(hashChunks(text, seed, [size >> 2, size >> 1]), expected);
        }
      }
    });

    await t.test('agrees with the package for any chunks', () => {
      const input = fc.record({
        text: fc.uint8Array({ maxLength: 300 }),
        seed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        locations: fc.array(fc.nat(300), { maxLength: 8 }),
      });
      fc.assert(
        fc.property(input, ({ text, seed, locations }) => {
          const cuts = locations
            .map((position) => Math.min(position, text.length))
            .sort((a, b) => a - b);
          assert.equal(hashChunks(text, seed, cuts), hasher.h64Raw(text, seed));
        }),
        { numRuns: 500 },
      );
    });
  });
}

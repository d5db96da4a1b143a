// XXH64 against the xxhash-wasm package: all small sizes, and without the field that stores the hash.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import xxhash from 'xxhash-wasm';
import { BUILDS, instantiateCore } from './driver.ts';

interface HashExports {
  xxh64(ptr: number, size: number): bigint;
  xxh64Without(ptr: number, size: number, field: number): bigint;
}

for (const build of BUILDS) {
  test(`xxh64 (${build})`, async (t) => {
    const hasher = await xxhash();
    const { exports, bytes, base } = await instantiateCore<HashExports>(
      'test/core/assembly/kernels.ts',
      build,
    );

    /** Hash of `text`, placed `shift` bytes from a multiple of 64. */
    function hash(text: Uint8Array, shift = 0): bigint {
      const ptr = base + shift;
      bytes.set(text, ptr);
      return BigInt.asUintN(64, exports.xxh64(ptr, text.length));
    }

    await t.test('gives the documented value of the empty input', () => {
      assert.equal(hash(Uint8Array.of()), 0xef46db3751d8e999n);
    });

    await t.test('agrees with the package for each size', () => {
      for (let size = 0; size <= 200; size++) {
        const text = Uint8Array.from({ length: size }, (_, index) => (index * 167 + size) & 255);
        assert.equal(hash(text, size % 9), hasher.h64Raw(text, 0n), `${size} bytes`);
      }
    });

    await t.test('agrees with the package for any bytes', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), (text) => {
          assert.equal(hash(text), hasher.h64Raw(text, 0n));
        }),
        { numRuns: 500 },
      );
    });

    await t.test('the field that stores the hash counts as zeros', () => {
      for (const [size, field] of [
        [8, 0],
        [264, 40],
        [4096, 56],
        [4096, 4088],
      ] as const) {
        const header = Uint8Array.from({ length: size }, (_, index) => (index * 167 + size) & 255);
        bytes.set(header, base);
        const found = BigInt.asUintN(64, exports.xxh64Without(base, size, field));
        assert.deepEqual(bytes.subarray(base, base + size), header, 'it is not changed');
        assert.equal(found, hasher.h64Raw(header.fill(0, field, field + 8), 0n), `${size} bytes`);
      }
    });
  });
}

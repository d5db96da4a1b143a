// Arenas: allocations are aligned, inside and disjoint; resets release them; debug builds poison them.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';

interface ArenaExports {
  arenaInit(arena: number, start: number, end: number): void;
  arenaAlloc(arena: number, size: number, align: number): number;
  arenaMark(arena: number): number;
  arenaReset(arena: number, mark: number): void;
}

const RECORD_SIZE = 64;
const FRESH = 0x11;
const POISON = 0xa5;

for (const build of BUILDS) {
  test(`arena (${build})`, async (t) => {
    const { exports, bytes, base } = await instantiateCore<ArenaExports>(
      'test/core/assembly/kernels.ts',
      build,
    );
    const arena = base;
    const start = base + RECORD_SIZE;

    await t.test('hands out all of its range and no more', () => {
      exports.arenaInit(arena, start, start + 100);
      assert.equal(exports.arenaAlloc(arena, 1, 1), start);
      assert.equal(exports.arenaAlloc(arena, 3, 16), start + 16);
      assert.equal(exports.arenaAlloc(arena, 82, 1), 0, 'one byte too many');
      assert.equal(exports.arenaAlloc(arena, 81, 1), start + 19, 'the last byte');
      assert.equal(exports.arenaAlloc(arena, 1, 1), 0);
      assert.equal(exports.arenaAlloc(arena, 0, 1), start + 100);
    });

    await t.test('refuses sizes that would wrap around', () => {
      exports.arenaInit(arena, start, start + 100);
      exports.arenaAlloc(arena, 5, 1);
      for (const size of [0xffffffff, 0xffffff00, -start]) {
        assert.equal(exports.arenaAlloc(arena, size, 1), 0);
      }
      assert.equal(exports.arenaAlloc(arena, 1, 0x80000000), 0);
      exports.arenaInit(arena, 0xfffffff0, 0xffffffff);
      assert.equal(exports.arenaAlloc(arena, 1, 32), 0);
      assert.equal(exports.arenaAlloc(arena, 15, 1) >>> 0, 0xfffffff0);
    });

    await t.test('poisons exactly what a reset takes back, in debug builds', () => {
      bytes.fill(FRESH, start, start + 200);
      exports.arenaInit(arena, start, start + 200);
      exports.arenaAlloc(arena, 40, 1);
      const mark = exports.arenaMark(arena);
      exports.arenaAlloc(arena, 60, 1);
      exports.arenaReset(arena, mark);
      const taken = build === 'debug' ? POISON : FRESH;
      assert.ok(bytes.subarray(start, start + 40).every((byte) => byte === FRESH));
      assert.ok(bytes.subarray(start + 40, start + 100).every((byte) => byte === taken));
      assert.ok(bytes.subarray(start + 100, start + 200).every((byte) => byte === FRESH));
      assert.equal(exports.arenaAlloc(arena, 160, 1), start + 40, 'what was taken back is free');
    });

    await t.test('keeps ranges aligned, inside and disjoint', () => {
      const request = fc.record({
        size: fc.nat(300),
        align: fc.constantFrom(1, 2, 4, 8, 16, 64, 4096),
      });
      const input = fc.array(request, { minLength: 1, maxLength: 30 });
      fc.assert(
        fc.property(input, fc.nat(6000), fc.nat(63), (requests, capacity, shift) => {
          const end = start + shift + capacity;
          exports.arenaInit(arena, start + shift, end);
          let previousEnd = start + shift;
          for (const { size, align } of requests) {
            const ptr = exports.arenaAlloc(arena, size, align);
            const expected = Math.ceil(previousEnd / align) * align;
            assert.equal(ptr, expected + size <= end ? expected : 0);
            if (ptr !== 0) previousEnd = ptr + size;
          }
        }),
      );
    });

    if (build === 'debug') {
      await t.test('asserts on wrong marks and alignments', () => {
        exports.arenaInit(arena, start, start + 100);
        assert.throws(() => exports.arenaAlloc(arena, 1, 3), /arena alignment/);
        assert.throws(() => exports.arenaReset(arena, start - 1), /arena mark/);
        assert.throws(() => exports.arenaReset(arena, start + 1), /arena mark/);
        assert.throws(() => exports.arenaInit(arena, start, start - 1), /arena range/);
      });
    }
  });
}

// Percent-encoding of paths against encodeURIComponent: every byte at each vector border, and random texts.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';
import { decodeText, textArbitrary } from './oracle.ts';

interface PercentExports {
  writeEncodedPath(out: number, start: number, end: number): number;
}

const OUTPUT_OFFSET = 1 << 16;
const GUARD = 0xee;

function encode(path: Uint8Array): string {
  const text = decodeText(path).map(({ point }) => String.fromCodePoint(point));
  return text.join('').split('/').map(encodeURIComponent).join('/');
}

for (const build of BUILDS) {
  test(`percent-encoded paths (${build})`, async (t) => {
    const { exports, bytes, base } = await instantiateCore<PercentExports>(
      'test/core/assembly/kernels.ts',
      build,
    );
    const out = base + OUTPUT_OFFSET;

    function write(path: Uint8Array, behind: number): string {
      bytes.fill(behind, base, base + path.length + 64);
      bytes.set(path, base);
      const capacity = 9 * path.length + 16;
      bytes.fill(GUARD, out - 1, out + capacity + 16);
      const end = exports.writeEncodedPath(out, base, base + path.length);
      assert.equal(bytes[out - 1], GUARD);
      const after = bytes.subarray(out + capacity, out + capacity + 16);
      assert.ok(after.every((byte) => byte === GUARD));
      return Buffer.from(bytes.slice(out, end)).toString('latin1');
    }

    await t.test('each byte at each position of a step', () => {
      for (let byte = 0; byte < 256; byte++)
        for (let position = 0; position < 33; position++) {
          const path = Buffer.from('drivers/net-2_x.c/drivers/net-2_x');
          path[position] = byte;
          assert.equal(write(path, 0x61), encode(path));
        }
    });

    await t.test('agrees with encodeURIComponent on random texts', () => {
      const raw = fc.uint8Array({ maxLength: 40 });
      const text = fc.oneof(textArbitrary(60), raw);
      fc.assert(
        fc.property(text, fc.constantFrom(0x61, 0x2f, 0x80, 0xbf), (path, behind) => {
          assert.equal(write(path, behind), encode(path));
        }),
        { numRuns: 2000 },
      );
    });
  });
}

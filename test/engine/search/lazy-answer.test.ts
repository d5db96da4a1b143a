// An answer assembled while it is sent, against the same answer in one buffer, read in order, in any order, and
// repeatedly.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { allBytes } from '../../../daemon/base/lazy-bytes.ts';
import { freeBuffers } from '../../../daemon/engine/host/free-buffers.ts';
import { writeWithFiles } from '../../../daemon/engine/search/answer.ts';
import { LazyAnswer } from '../../../daemon/engine/search/lazy-answer.ts';
import { FileResults } from '../../../daemon/engine/search/render.ts';

const SUMS = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
const HEAD = { stats: { duration: 12 } };
const TAIL = { isSearchExhaustive: true };

/** Results of these sizes, rendered in two groups that alternate. */
function resultsOf(sizes: readonly number[]): FileResults {
  const files = new FileResults(sizes.length);
  for (const group of [0, 1]) {
    const locations = [...sizes.keys()].filter((index) => index % 2 === group);
    const own = locations.map((index) => sizes[index]!);
    const texts = locations.map((index) => String.fromCharCode(97 + (index % 26)));
    const json = new Uint8Array(Buffer.from(own.map((size, i) => texts[i]!.repeat(size)).join('')));
    files.add(
      { ...SUMS, json, sizes: Uint32Array.from(own), bytesRead: new Uint32Array(own.length) },
      locations,
    );
  }
  return files;
}

const size = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 200_000, max: 600_000 }) },
);

void test('a lazy answer equals the whole one at any offset', () => {
  fc.assert(
    fc.property(
      fc.array(size, { maxLength: 60 }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 20 }),
      (sizes, locations) => {
        const files = resultsOf(sizes);
        const whole = writeWithFiles(HEAD, files, TAIL);
        const lazy = new LazyAnswer(HEAD, files, TAIL);
        assert.equal(lazy.byteLength, whole.length);
        assert.ok(whole.equals(allBytes(lazy)));
        for (const share of locations) {
          const offset = Math.floor(share * whole.length);
          const chunk = lazy.from(offset);
          assert.ok(chunk.length > 0);
          assert.ok(whole.subarray(offset, offset + chunk.length).equals(chunk), `at ${offset}`);
        }
      },
    ),
    { numRuns: 150 },
  );
});

void test('a released large answer is freed without a garbage collection', () => {
  const files = resultsOf([8_000_000, 4_000_000]);
  const lazy = new LazyAnswer(HEAD, files, TAIL);
  const before = process.memoryUsage().arrayBuffers;
  lazy.release();
  assert.ok(before - process.memoryUsage().arrayBuffers > 11_900_000);
  // A second time there is nothing to free.
  lazy.release();
});

void test('small, shared and repeated buffers: only large own ones are freed', () => {
  const small = new ArrayBuffer(1000);
  const large = new ArrayBuffer(1_000_000);
  const shared = new SharedArrayBuffer(1_000_000);
  freeBuffers([small, large, shared, large]);
  assert.deepEqual([small.byteLength, large.byteLength, shared.byteLength], [1000, 0, 1_000_000]);
});

// All fuzzing targets, for a short time each; `npm run fuzz` runs them for long. TRAWL_FUZZ_RUNS: cases of each;
// TRAWL_TEST_SEED: the seed, which is printed.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { TARGETS } from './targets.ts';
import { SEED } from '../seed.ts';

const RUNS = process.env['TRAWL_FUZZ_RUNS'];
/** Cases that take a second at most. */
const SHORT: Readonly<Record<string, number>> = {
  parser: 700,
  engine: 200,
  javascript: 300,
  program: 700,
};

for (const [name, make] of Object.entries(TARGETS)) {
  void test(`fuzzing ${name}, seed ${SEED}`, async () => {
    const target = await make();
    await fc.assert(target.property, { seed: SEED, numRuns: Number(RUNS ?? SHORT[name]) });
    for (const [what, count] of Object.entries(target.counts)) assert.ok(count > 0, what);
  });
}

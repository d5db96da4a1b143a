// Fuzzes one target for some time: `npm run fuzz -- TARGET [SECONDS] [SEED]`. Ends with exit code 1 and the smallest
// failing case, with the seed and path that reproduce it.

import * as fc from 'fast-check';
import { TARGETS } from './targets.ts';

const [name = '', seconds = '60', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const make = TARGETS[name];
if (make === undefined) {
  console.error(`usage: fuzz TARGET [SECONDS] [SEED]; targets: ${Object.keys(TARGETS).join(', ')}`);
  process.exit(2);
}
const target = await make();
const details = await fc.check(target.property, {
  seed: Number(seed),
  numRuns: 1_000_000_000,
  interruptAfterTimeLimit: Number(seconds) * 1000,
  // Else a run that is interrupted would count as failed.
  markInterruptAsFailure: false,
});
const counts = Object.entries(target.counts).map(([what, count]) => `${what} ${count}`);
console.log(`${name}: seed ${seed}, ${details.numRuns} cases, ${counts.join(', ')}`);
if (details.failed) console.error(fc.defaultReportMessage(details), details.errorInstance);
process.exit(details.failed ? 1 : 0);

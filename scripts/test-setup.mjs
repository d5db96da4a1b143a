// Loaded into the process of each test file before the file itself (`--import`, by scripts/test.mjs).
// - All properties have the seed of test/seed.ts.
// - A test that leaves a server, a thread or a program open keeps its process running: once the file's tests are over and
//   nothing has been reported for a while, the file fails, and what is still open is named. Why not --test-force-exit: it
//   hides what is open, and now and then cuts off the end of a report.
// - Where TRAWL_TEST_COSTS names a file, each test file adds a line to it: seconds of processor, seconds, path.

import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The file's own `after` hooks run in this time. */
const GRACE_MS = Number(process.env['TRAWL_TEST_GRACE_MS'] ?? 10_000);

/** Looks again as long as reports are written; runs only while something keeps the process going. */
function failOnceQuiet(reportedSize) {
  const { bytesWritten } = process.stdout;
  if (bytesWritten !== reportedSize) setTimeout(failOnceQuiet, GRACE_MS, bytesWritten).unref();
  else {
    const names = process.getActiveResourcesInfo().sort().join(', ');
    console.error(
      `${process.argv[1]}: still open ${GRACE_MS} ms after its last test: ${names} (threads are not named; a PipeWrap or two are the report's own)`,
    );
    process.stdout.write('', () => process.exit(1));
  }
}

/** Of this process and, on Linux, of those that it has waited for. */
function processorSeconds() {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // Source: proc(5): user and system time, and those of children, in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ');
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

function noteCost(file) {
  const [cost, time] = [processorSeconds(), performance.now() / 1000].map((one) => one.toFixed(1));
  appendFileSync(file, `${cost} ${time} ${process.argv[1]}\n`);
}

// Threads and programs that a test starts may be given the same options. Why modules are loaded here: each thread would.
if (isMainThread && /\.test\.m?js$/.test(process.argv[1] ?? '')) {
  const { after } = await import('node:test');
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env['TRAWL_TEST_SEED'] ?? '1') });
  after(() => failOnceQuiet(-1));
  const costs = process.env['TRAWL_TEST_COSTS'];
  if (costs !== undefined) process.on('exit', () => noteCost(costs));
}

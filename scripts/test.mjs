// Installs what is missing, builds what is stale, runs tests: all of them, or the files named as arguments, by their path
// below test/. `npm test` runs what needs nothing but Node and git, in minutes; `npm run test:all` everything. A test file
// of the second tier says so in its head, with the reason: `// tier: ci (browser)`.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'build', 'test');
const SLOWEST_MAX = 10;

/** A file system in memory, if it is there and has room. */
const MEMORY_FOLDER = '/dev/shm';
/** Bytes. */
const MEMORY_ROOM_MIN = 4 * 2 ** 30;

/**
 * Where tests create their folders: TMPDIR, where it is set. Why in memory: on a disk, syncs of small databases and
 * repositories are most of the time of a third of the files.
 */
function scratchParent() {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY_FOLDER)) return tmpdir();
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY_FOLDER);
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  const isUsable = mount !== undefined && !/\b(?:noexec|ro)\b/.test(mount.split(' ')[3]);
  return isUsable && bavail * bsize >= MEMORY_ROOM_MIN ? MEMORY_FOLDER : tmpdir();
}

/** The compiled test files, by path from the end: those of the page take longest, so they begin first. */
function testFiles() {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .sort((a, b) => (a > b ? -1 : 1))
    .map((name) => path.join(folder, name));
}

/** Why a file is of the second tier; undefined: it is of the first. */
function ciReasonOf(file) {
  const source = path.join(root, 'test', path.relative(folder, file).replace(/\.js$/, '.ts'));
  const line = /^\/\/ tier:.*$/m.exec(readFileSync(source, 'utf8'))?.[0];
  if (line === undefined) return undefined;
  const reason = /^\/\/ tier: ci \((.+)\)$/.exec(line)?.[1];
  if (reason === undefined) throw new Error(`${source}: not "// tier: ci (REASON)": ${line}`);
  return reason;
}

function node(args, env = process.env) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status ?? 1;
}

/** The files that took longest, of lines "processor seconds, seconds, path" (test-setup.mjs). */
function slowest(costs) {
  // No file came to its end.
  if (!existsSync(costs)) return [];
  const lines = readFileSync(costs, 'utf8').trim().split('\n');
  return lines
    .map((line) => line.split(' '))
    .sort((a, b) => b[1] - a[1])
    .slice(0, SLOWEST_MAX)
    .map(
      ([cpu, seconds, file]) =>
        `  ${seconds} s (${cpu} s of processor)  ${path.relative(folder, file)}`,
    );
}

/** Counts of files by their reason. */
function byReason(files) {
  const counts = new Map();
  for (const file of files) {
    const reason = ciReasonOf(file);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `${count} ${reason}`).join(', ');
}

function readArguments() {
  const options = { all: { type: 'boolean' }, ci: { type: 'boolean' } };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

const { values, positionals: words } = readArguments();
const { all: isAll = false, ci: isCiOnly = false } = values;
if (process.env['TRAWL_TEST_SEED'] === 'random') {
  process.env['TRAWL_TEST_SEED'] = String(Date.now() % 1_000_000);
  console.log(`seed ${process.env['TRAWL_TEST_SEED']}`);
}
ensureInstalled(root);
const buildStart = performance.now();
if (node(['scripts/build.mjs']) !== 0) process.exit(1);
console.log(`Built in ${((performance.now() - buildStart) / 1000).toFixed(0)} s`);
const named = testFiles().filter(
  (file) =>
    words.length === 0 ||
    words.some((name) => path.relative(folder, file).includes(name.replace(/\.ts$/, ''))),
);
if (named.length === 0) {
  console.error(`no test file has ${words.join(' or ')} in its path below test/`);
  process.exit(1);
}
// Files that are named are run, whatever their tier.
const isRun = (file) => {
  const isOfCi = ciReasonOf(file) !== undefined;
  return isCiOnly ? isOfCi : isAll || words.length > 0 || !isOfCi;
};
const files = named.filter(isRun);
const setup = new URL('test-setup.mjs', import.meta.url).href;
// Of a file as a whole: the longest takes 80 s, and four times as long beside other runs.
const flags = ['--import', setup, '--test-timeout=900000', '--test-reporter=spec'];
// Why not Node's default, one less than the cores: files wait half of their time, for daemons, commands and timeouts. With
// two more than cores, two cores were idle for a quarter of the time.
const concurrency = availableParallelism() + 4;
const scratch = mkdtempSync(path.join(scratchParent(), 'trawl-tests-'));
const costs = process.env['TRAWL_TEST_COSTS'] ?? path.join(scratch, 'costs');
const status = node(['--test', `--test-concurrency=${concurrency}`, ...flags, ...files], {
  ...process.env,
  TRAWL_TEST_COSTS: costs,
  TMPDIR: scratch,
});
console.log(`\nSlowest of ${files.length} files:\n${slowest(costs).join('\n')}`);
rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
const leftOut = named.filter((file) => !isRun(file) && !isCiOnly);
if (leftOut.length > 0)
  console.log(
    `Not run: ${leftOut.length} files (${byReason(leftOut)}); npm run test:all runs them.`,
  );
process.exit(status);

// `npm test`: installs what is missing, builds what is stale, runs every test (or the files named as
// arguments, by their path below test/). `--fast` leaves out what takes long: daemons, databases, random searches.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The compiled test files below build/test, sorted by path. */
function testFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => path.join(folder, name));
}

function node(args) {
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Whether a test is left out by `--fast`: its head has the line `// tier: ci`. */
function isOfCi(file) {
  const source = path.join(root, 'test', path.relative(folder, file).replace(/\.js$/, '.ts'));
  return readFileSync(source, 'utf8').split('\n', 12).includes('// tier: ci');
}

if (process.env['TRAWL_TEST_SEED'] === 'random') {
  process.env['TRAWL_TEST_SEED'] = String(Date.now() % 1_000_000);
  console.log(`seed ${process.env['TRAWL_TEST_SEED']}`);
}
ensureInstalled(root);
node(['scripts/build.mjs']);
const isFast = process.argv.includes('--fast');
const wanted = process.argv.slice(2).filter((word) => word !== '--fast');
const folder = path.join(root, 'build', 'test');
const files = testFiles(folder)
  .filter((file) => !isFast || !isOfCi(file))
  .filter(
    (file) =>
      wanted.length === 0 ||
      wanted.some((name) => path.relative(folder, file).includes(name.replace(/\.ts$/, ''))),
  );
if (files.length === 0) {
  console.error(`no test file has ${wanted.join(' or ')} in its path below test/`);
  process.exit(1);
}
const setup = new URL('test-setup.mjs', import.meta.url).href;
// Of a file as a whole: the longest takes 80 s, and four times as long beside other runs.
const flags = ['--import', setup, '--test-timeout=900000', '--test-reporter=spec'];
// Why not Node's default, one less than the cores: a file waits, for a daemon or a command, a quarter of its time.
const concurrency = availableParallelism() + 1;
node(['--test', `--test-concurrency=${concurrency}`, ...flags, ...files]);

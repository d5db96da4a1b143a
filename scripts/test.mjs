// `npm test`: installs what is missing, builds what is stale, runs every test (or the files named as
// arguments, by their path below test/). `--fast` leaves out what takes long: daemons, databases, random searches.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

/** What `--fast` leaves out, by path below test/: what took more than 3.3 s of a processor on 2026-11-25 and 26, and each browser. */
const SLOW = [
  'accounts/host-lists',
  'accounts/http',
  'accounts/limits/stores',
  'accounts/sign-on/(?:attacks|bearer|sign-on)',
  'accounts/store',
  'bench',
  'cli/cli',
  'cli/index-files',
  'cli/license',
  'core/arena',
  'core/literal',
  'core/regex-calls',
  'core/regex-text',
  String.raw`core/(?:text|well-formed)\.`,
  'e2e',
  'engine/host/corruption',
  'engine/host/heap',
  'engine/host/held-threads',
  'engine/host/mappings',
  'engine/host/pool',
  'engine/host/symbols-corruption',
  'engine/query/encode',
  'engine/query/properties',
  'engine/regex/compile-oracle',
  'engine/regex/sets',
  'engine/search/large-queries',
  'engine/search/stop',
  'engine/search/visible',
  'fuzz',
  'http/[^/]*$',
  'http/mcp/(?:local-tools|transport)',
  'http/oauth',
  'hosts/transport',
  'oracle',
  'sources/disk/ignoring',
  'sources/git/objects',
  'sources/git/reached',
  'sources/git/ref-state',
  'sources/history',
  'sources/mirrors',
  'symbols/extractor',
  'structure/test-setup',
  'symbols/faults',
  'symbols/hostile',
  'symbols/patterns',
  String.raw`symbols/pass\.`,
  'sync/all-at-once',
  'sync/built',
  'sync/catalog-files',
  'sync/changed-repos',
  'sync/changed-revisions',
  'sync/connections',
  'sync/damaged-files',
  'sync/delta',
  'sync/disk-delta',
  'sync/found-repos',
  'sync/full-disk',
  String.raw`sync/jobs\.`,
  'sync/killed',
  'sync/lock',
  'sync/lost-git',
  'sync/many-revisions',
  'sync/members',
  String.raw`sync/merge(?:-faults)?\.`,
  'sync/on-demand',
  'sync/open-catalog',
  'sync/queued-jobs',
  'sync/same-look',
  'sync/shown-histories',
  'sync/source-rules',
  'sync/symbol-keeper',
  'sync/watched-files',
  'web/(?!routes|rows|tokens)',
];
const isSlow = new RegExp(`^(?:${SLOW.join('|')})`);

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
  .filter((file) => !isFast || !isSlow.test(path.relative(folder, file)))
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

// Experiment X12: what a commit costs an index that follows: commits of 1, 10 and 1,000 changed files of a tree, then many
// of one file one after the other, from the start of the job to the moment at which searches see it.
//   node build/bench/experiments/x12-changes.js FOLDER [COMMITS]
// FOLDER is any tree of source files; a bare repository of it is made in a temporary place.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { search } from '../../daemon/engine/search/search.ts';
import { type Instance, openInstance } from '../../daemon/app/instance.ts';
import { SEES_ALL } from '../../daemon/repos/repo-access.ts';
import { MERGE_LIMITS, type MergeLimits } from '../../daemon/index/merge/merge-plan.ts';

const [folder, commitCount = '200'] = process.argv.slice(2);
if (folder === undefined) throw new Error('which folder?');
const SIZES = [1, 10, 1000];
const ROUNDS = 5;
const RARE_WORDS = [
  'sb800_fch_wdt_probe',
  'PM_RESUME_NOTHING',
  'mutex_lock_io_nested',
  'xfs_iunlink_item_recover',
];
const REQUEST = {
  matches: 100,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

const work = mkdtempSync(path.join(tmpdir(), 'trawl-changes-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true, maxRetries: 10 }));
const repo = path.join(work, 'repo.git');
git(['init', '-q', '--bare', '-b', 'main', repo]);
git(['--git-dir', repo, '--work-tree', folder, 'add', '-A', '-f', '.']);
git([...author(), '--git-dir', repo, '--work-tree', folder, 'commit', '-q', '-m', 'all']);
const names = git(['--git-dir', repo, 'ls-files'])
  .split('\n')
  .filter((name) => /\.(?:c|h|ts|js|py|go|java)$/.test(name));

const log = createLog({
  level: 'warn',
  format: 'text',
  write: (line) => void process.stderr.write(line),
});
let instance = await open(MERGE_LIMITS);
let indexer = instance.indexer;
const { records } = await indexer.sources.add([repo], 'commits');
instance.served.publish();
print('build', await job());
const builtSize = diskSize();
let version = 0;
for (const size of SIZES) {
  const costs: Cost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    commit(size);
    costs.push(await job());
  }
  print(`${size} changed files`, medianOf(costs));
}
let peak = 0;
const sampling = setInterval(() => (peak = Math.max(peak, diskSize())), 20);
const before = usage().bytes;
const costs: Cost[] = [];
for (let i = 0; i < Number(commitCount); i++) {
  commit(1);
  costs.push(await job());
}
print(`${commitCount} commits of one file`, medianOf(costs));
await indexer.merger.run();
await report('shards, by docs');
const writtenByCommits = usage().bytes - before;
const fresh = await builtAnew();
await compare('under way');
const beforeRest = usage().bytes;
await instance.close();
instance = await open({ ...MERGE_LIMITS, restMs: 0 });
indexer = instance.indexer;
await indexer.merger.run();
await report('at rest');
await compare('at rest');
const writtenAtRest = usage().bytes - beforeRest;
const written = (writtenByCommits + writtenAtRest) / 1e6 / Number(commitCount);
process.stdout.write(`${written.toFixed(2)} MB written a commit of one file, all merges with it\n`);
clearInterval(sampling);
process.stdout.write(
  `disk at the worst moment of commits and merges: ${(peak / 1e6).toFixed(0)} MB, ${(peak / builtSize).toFixed(2)} of a build\n`,
);
await fresh.close();
await instance.close();

async function builtAnew(): Promise<Instance> {
  const built = await open(MERGE_LIMITS, 'built-anew');
  const { sources, jobs } = built.indexer;
  await jobs.indexAll((await sources.add([repo], 'commits')).records, false);
  built.served.publish();
  return built;
}

/** In turn with a new build, as warm code is faster. */
async function compare(what: string): Promise<void> {
  const costs: { grown: number; built: number }[] = [];
  for (let round = 0; round < 9; round++)
    costs.push({ grown: await rareMs(instance), built: await rareMs(fresh) });
  const middle = costs.sort((a, b) => a.grown / a.built - b.grown / b.built)[costs.length >> 1]!;
  const ratio = (middle.grown / middle.built).toFixed(2);
  process.stdout.write(
    `${what} against built anew (${docCounts(fresh).join(', ')}): ${middle.grown.toFixed(2)} and ${middle.built.toFixed(2)} ms, ${ratio}\n`,
  );
}

function open(mergeLimits: MergeLimits, name = 'data'): Promise<Instance> {
  const flags = { dataDir: path.join(work, name) };
  const settings = { maxFileSize: 2 << 20 };
  return openInstance({
    configuration: readConfiguration({ env: {}, flags, settings }),
    findsSymbols: false,
    mergeLimits,
    log,
  });
}

async function report(what: string): Promise<void> {
  // Warms up the threads, which run code several times as fast later.
  await rareMs(instance);
  const ms = await rareMs(instance);
  process.stdout.write(
    `${what}: ${docCounts(instance).join(', ')}; rare words p50 ${ms.toFixed(2)} ms\n`,
  );
}

function docCounts({ catalog }: Instance): number[] {
  return catalog.repos[0]!.shards.map(({ docCount }) => docCount);
}

async function rareMs({ parts }: Instance): Promise<number> {
  const signal = new AbortController().signal;
  const costs: number[] = [];
  for (let round = 0; round < 50; round++)
    for (const query of RARE_WORDS) {
      const start = performance.now();
      const request = { ...REQUEST, query };
      await search(parts, request, {
        signal,
        baseUrl: 'http://localhost',
        repoAccess: SEES_ALL,
      });
      costs.push(performance.now() - start);
    }
  return costs.sort((a, b) => a - b)[costs.length >> 1]!;
}

interface Cost {
  readonly ms: number;
  /** Of this process and its git processes. */
  readonly cpuMs: number;
  readonly bytes: number;
}

async function job(): Promise<Cost> {
  const before = usage();
  const start = performance.now();
  const [result] = await indexer.jobs.indexAll(records, false);
  if (result?.error !== undefined) throw new Error(result.error);
  const ms = performance.now() - start;
  const after = usage();
  return { ms, cpuMs: after.cpuMs - before.cpuMs, bytes: after.bytes - before.bytes };
}

function usage(): { cpuMs: number; bytes: number } {
  // Source: proc(5): times of the process and its waited-for children, in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]!.split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  const io = readFileSync('/proc/self/io', 'latin1');
  return { cpuMs: ticks * 10, bytes: Number(/^write_bytes: (\d+)$/m.exec(io)?.[1]) };
}

/** Bytes on disk, with removed files that are still mapped. */
function diskSize(): number {
  const dataDir = path.join(work, 'data');
  let size = 0;
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
    size += (statSync(path.join(dataDir, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  // Source: proc(5): "START-END PERMISSIONS OFFSET DEVICE INODE PATH (deleted)".
  const removed = new Map<string, number>();
  for (const line of readFileSync('/proc/self/maps', 'latin1').split('\n')) {
    if (!line.includes(dataDir) || !line.endsWith(' (deleted)')) continue;
    const [range = '', , offset = '', , inode = ''] = line.split(/ +/);
    const [start = 0, end = 0] = range.split('-').map((text) => Number.parseInt(text, 16));
    removed.set(`${inode} ${offset}`, end - start);
  }
  for (const one of removed.values()) size += one;
  return size;
}

function commit(count: number): void {
  version++;
  const changed = Array.from(
    { length: count },
    (_, i) => names[(version * 7919 + i * 104_729) % names.length]!,
  );
  const parts = [...new Set(changed)].map((name) => {
    const old = readFileSync(path.join(folder!, name));
    const content = Buffer.concat([old, Buffer.from(`\n// version ${version}\n`)]);
    const head = `M 100644 inline ${JSON.stringify(name)}\ndata ${content.length}\n`;
    return Buffer.concat([Buffer.from(head), content, Buffer.from('\n')]);
  });
  const head = `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + version} +0000\n`;
  const input = Buffer.concat([
    Buffer.from(`${head}data 1\nx\nfrom refs/heads/main^0\n`),
    ...parts,
  ]);
  git(['--git-dir', repo, 'fast-import', '--quiet'], input);
}

function author(): string[] {
  return ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
}

function git(args: readonly string[], input?: Buffer): string {
  const done = spawnSync('git', args, { maxBuffer: 1 << 28, ...(input && { input }) });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr.toString()}`);
  return done.stdout.toString();
}

function medianOf(all: readonly Cost[]): Cost {
  const median = (of: (cost: Cost) => number): number =>
    all.map(of).sort((a, b) => a - b)[all.length >> 1]!;
  return {
    ms: median(({ ms }) => ms),
    cpuMs: median(({ cpuMs }) => cpuMs),
    bytes: median(({ bytes }) => bytes),
  };
}

function print(what: string, { ms, cpuMs, bytes }: Cost): void {
  const figures = `${ms.toFixed(0)} ms, ${(cpuMs / 1000).toFixed(2)} CPU s, ${(bytes / 1e6).toFixed(2)} MB written`;
  process.stdout.write(`${what.padEnd(32)} ${figures}\n`);
}

// Experiment X10: many small shards with symbols, as thousands of small repositories make them: are they all open, what
// do searches of all of them take, how many mappings are there, and how long does starting git stop the event loop?
//   node build/bench/experiments/x10-many-shards.js [SHARDS]
// Measured: 2026-11-22, 12,000 shards, 65,530 mappings, a busy machine: open in 1.7 s, first answer after 7.8 s, 52,963
// mappings; git stops the loop for 0.5 ms at least, p50 0.74 (0.67 with nothing mapped), forking would for 190.
// A word that stands nowhere p50 0.9 s, since threads map most shards in turns; with 6,000, which are all mapped, 0.26.

import { spawn } from 'node:child_process';
import { linkSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startGit } from '../../daemon/sources/git/git.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import {
  buildShard,
  coreModule,
  Engine,
  repoRecord,
  temporaryFolder,
} from '../../test/engine/host/harness.ts';
import { mappingShares, mappingWarning } from '../../daemon/engine/host/mapping-budget.ts';

const SHARD_COUNT = Number(process.argv[2] ?? 12_000);
/** The others are links to them, which are mapped like files of their own. */
const DISTINCT_COUNT = 50;
const RUNS = 20;
const THREADS = 2;

const module = await coreModule('release');
const folder = temporaryFolder();
const repo = repoRecord(1, 'host/repo');
const distinct = Array.from({ length: DISTINCT_COUNT }, (_, i) => makeShard(i));
const shards = Array.from({ length: SHARD_COUNT }, (_, i) =>
  linkOf(distinct[i % DISTINCT_COUNT]!, i),
);

const warning = mappingWarning(shards, THREADS);
if (warning !== undefined) print('warning', warning);
await measureGit('before');
const shares = mappingShares(THREADS);
const options =
  shares === undefined ? {} : { mappingMax: shares.main, poolMappingMax: shares.thread };
const engine = new Engine(module, { workers: THREADS, ...options });
const start = performance.now();
engine.publish(shards, [repo]);
print('open on the main thread', `${Math.round(performance.now() - start)} ms`);
await engine.pool.ready();
await engine.search('nowhere at all');
print('first answer', `${Math.round(performance.now() - start)} ms`);
print('mappings', String(readFileSync('/proc/self/maps', 'latin1').split('\n').length));
for (const query of ['"zqxj"', 'function0', 'sym:function3', 'common']) await measureSearch(query);
await measureGit('with all open');
print(
  'RssAnon',
  /^RssAnon:\s+(.*)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '?',
);
await engine.close();

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(40)} ${value}\n`);
}

function makeShard(number: number): LiveShard {
  const docs = Array.from({ length: 8 }, (_, doc) => {
    const name = `function${(number * 8 + doc) % 97}`;
    const bytes = Buffer.from(`${name}() {\n${'  common line of code;\n'.repeat(400)}}\n`);
    return {
      path: `src/${number}/${doc}.c`,
      bytes,
      symbols: [{ start: 0, size: name.length, kind: 8 }],
    };
  });
  return buildShard(module, folder, repo, docs);
}

function linkOf(shard: LiveShard, index: number): LiveShard {
  const shardId = (index + 1_000_000).toString(16).padStart(16, '0');
  const file = path.join(folder, `${shardId}.shard`);
  const symbolsFile = path.join(folder, `${shardId}.tags`);
  linkSync(shard.path, file);
  linkSync(shard.symbols!.path, symbolsFile);
  return { ...shard, shardId, path: file, symbols: { ...shard.symbols!, path: symbolsFile } };
}

async function measureSearch(query: string): Promise<void> {
  const times: number[] = [];
  let outcome = '';
  for (let run = 0; run < RUNS; run++) {
    const startMs = performance.now();
    const { stats, isSearchExhaustive } = await engine.search(query, { matches: 100 });
    times.push(performance.now() - startMs);
    outcome = `${stats['totalMatchCount']} ranges, exhaustive ${isSearchExhaustive}`;
  }
  print(query, `${describe(times)}; ${outcome}`);
}

/** How long the calls that start a process stop this thread: as the daemon does it, and by forking. */
async function measureGit(when: string): Promise<void> {
  const ours: number[] = [];
  const forked: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    let startMs = performance.now();
    const git = startGit(['version']);
    ours.push(performance.now() - startMs);
    git.stdout.resume();
    await git.ended;
    startMs = performance.now();
    const child = spawn('git', ['version'], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    forked.push(performance.now() - startMs);
    child.stdout.resume();
    await new Promise((resolve) => child.once('close', resolve));
  }
  print(`git starts ${when}`, describe(ours));
  print(`  by forking`, describe(forked));
}

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(2);
  return `least ${at(0)} ms, p50 ${at(0.5)}, most ${at(1)}`;
}

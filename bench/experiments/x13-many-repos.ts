// Experiment X13: thousands of small repositories in one index: indexing them, a round of checks that finds nothing, the start,
// searches, memory, and commits.
//   node build/bench/experiments/x13-many-repos.js TREE COUNT WORK
// The files of TREE, in the order of their paths, become COUNT bare repositories of about one size below WORK, unless they
// are there; the data directory is there too.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { search, createClient } from '../client.ts';
import { send } from '../../daemon/cli/bench/load.ts';
import { buildIndex, findSymbols, folderSize, privateMemorySize, startDaemon } from '../daemon.ts';

const [tree = '', count = '5000', work = ''] = process.argv.slice(2);
if (work === '') throw new Error('which tree, how many, where?');
const ROUNDS = 40;
const QUERIES: readonly (readonly [name: string, query: string, more?: object])[] = [
  ['absent word, a gram missing', 'qzxvjwk'],
  ['absent word, grams present', 'suspend_resume_lock'],
  ['rare word, one place', 'sb800_fch_wdt_probe'],
  ['rare word, many places', 'PM_RESUME'],
  ['`kmalloc`, first 100', 'kmalloc'],
  ['`kmalloc`, all', 'kmalloc', { matches: 100_000 }],
  ['`return`, first 100', 'return'],
  ['`[A-Z]+_SUSPEND`, first 100', '[A-Z]+_SUSPEND', { isRegexEnabled: true }],
  [String.raw`\`file:mutex\.c$\``, String.raw`file:mutex\.c$`, { isRegexEnabled: true }],
];

const repos = makeRepos();
const dataDir = path.join(work, 'data');
if (!existsSync(dataDir)) {
  const { durationMs, cpuMs, memoryPeakSize } = await buildIndex(repos, dataDir);
  print('index', `${seconds(durationMs)}, ${megabytes(memoryPeakSize)} at most`);
  print('index, CPU a repository', `${(cpuMs / repos.length).toFixed(1)} ms`);
  const symbols = await findSymbols(repos, dataDir);
  print('symbols of all', seconds(symbols.durationMs));
  const shards = readdirSync(path.join(dataDir, 'shards')).filter((name) =>
    name.endsWith('.shard'),
  );
  print('shards', `${shards.length} in ${megabytes(folderSize(dataDir))}`);
}
await checkAll();
const startMs = performance.now();
const daemon = await startDaemon([], dataDir);
const client = createClient(daemon.url, 1);
await answerOf('PM_RESUME', {});
print('start to first answer', `${(performance.now() - startMs).toFixed(0)} ms`);
await healthSinceStart();
for (const [name, query, more = {}] of QUERIES) await time(name, query, more);
const mappings = readFileSync(`/proc/${daemon.pid}/maps`, 'latin1').split('\n').length;
print('after these', `${megabytes(privateMemorySize(daemon.pid))} private, ${mappings} mappings`);
await followSome();
client.close();
await daemon.stop();

async function checkAll(): Promise<void> {
  const { durationMs, cpuMs } = await buildIndex([], dataDir);
  print('nothing changed', `${seconds(durationMs)}, ${(cpuMs / 1000).toFixed(1)} CPU s`);
}

async function healthSinceStart(): Promise<void> {
  const waits: number[] = [];
  for (const endMs = performance.now() + 5000; performance.now() < endMs; await sleep(10)) {
    const sentMs = performance.now();
    await send(new URL('/api/health', daemon.url), {});
    waits.push(performance.now() - sentMs);
  }
  const p99 = waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)]!;
  print('health in the first 5 s, p99', `${p99.toFixed(1)} ms`);
}

async function followSome(): Promise<void> {
  const some = [5, 4, 3, 2, 1.5].map((part) => repos[Math.floor(repos.length / part)]!);
  print('a commit until it is found, calm', await medianOf(some));
  print('a commit until it is found, busy', await medianOf(some.map(() => some[0]!)));
}

async function medianOf(some: readonly string[]): Promise<string> {
  const costs: number[] = [];
  for (const repo of some) {
    const word = `followed${Date.now()}`;
    commit(repo, `${word}.txt`, word);
    const beganMs = performance.now();
    while ((await answerOf(word, {})) === 0) await sleep(5);
    costs.push(performance.now() - beganMs);
  }
  return `${costs.sort((a, b) => a - b)[costs.length >> 1]!.toFixed(0)} ms`;
}

async function answerOf(query: string, more: object): Promise<number> {
  const { files } = await search(client, JSON.stringify({ query, matches: 100, ...more }));
  return files.length;
}

async function time(name: string, query: string, more: object): Promise<void> {
  const costs: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const beganMs = performance.now();
    await client.post(JSON.stringify({ query, matches: 100, ...more }));
    costs.push(performance.now() - beganMs);
  }
  costs.sort((a, b) => a - b);
  const [p50, p99] = [costs[ROUNDS / 2]!, costs[ROUNDS - 1]!];
  print(name, `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms`);
}

function makeRepos(): string[] {
  const folder = path.join(work, 'repos');
  if (existsSync(folder)) return readdirSync(folder).map((name) => path.join(folder, name));
  const files = filesBelow(tree);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const made: string[] = [];
  let [next, size] = [0, 0];
  for (let i = 0; i < Number(count); i++) {
    const first = next;
    while (next < files.length && size < (total / Number(count)) * (i + 1))
      size += files[next++]!.size;
    made.push(makeRepo(path.join(folder, `${i}.git`), files.slice(first, next)));
  }
  return made;
}

function filesBelow(folder: string): { file: string; size: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({ file, size: statSync(file).size }));
}

function makeRepo(repo: string, files: readonly { file: string }[]): string {
  rmSync(repo, { recursive: true, force: true });
  mkdirSync(repo, { recursive: true });
  git(repo, ['init', '-q', '--bare', '-b', 'main', '--template='], '');
  const parts = files.map(({ file }) => {
    const bytes = readFileSync(file);
    const head = `M 100644 inline "${path.relative(tree, file)}"\ndata ${bytes.length}\n`;
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\n')]);
  });
  git(repo, ['fast-import', '--quiet'], Buffer.concat([Buffer.from(commitHead()), ...parts]));
  return repo;
}

function commit(repo: string, name: string, text: string): void {
  const head = `${commitHead()}from refs/heads/main^0\n`;
  git(
    repo,
    ['fast-import', '--quiet'],
    `${head}M 100644 inline ${name}\ndata ${text.length}\n${text}\n`,
  );
}

function commitHead(): string {
  return 'commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n';
}

function git(repo: string, args: readonly string[], input: string | Buffer): void {
  const done = spawnSync('git', ['--git-dir', repo, ...args], { input });
  if (done.status !== 0) throw new Error(done.stderr.toString());
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
function megabytes(size: number): string {
  return `${(size / 1e6).toFixed(0)} MB`;
}
function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(40)}${text}\n`);
}

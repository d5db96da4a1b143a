// Endurance: a daemon serves a mix of requests at 80% of its capacity for hours, while commits are indexed. Each minute
// is a row of the record: memory, threads, files, answers, latency, and how long the last commit waited. Memory, files
// and latency must not grow.
//   node build/bench/endurance.js TREE RECORD [HOURS [RATE]]
// TREE is any tree of source files; a bare repository of it is made in a temporary folder. RATE (requests a second)
// skips the measurement of the capacity.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { closedLoop, openLoop, type Reply, send } from '../daemon/cli/bench/load.ts';
import { quantile } from '../daemon/cli/bench/statistics.ts';
import { buildIndex, folderSize, privateMemorySize, procSize, startDaemon } from './daemon.ts';
import { processorMs } from './load.ts';

const [tree, record, hours = '2', givenRate] = process.argv.slice(2);
if (tree === undefined || record === undefined || !(Number(hours) > 0))
  throw new Error('endurance TREE RECORD [HOURS [RATE]]');
if (givenRate !== undefined && !(Number(givenRate) > 0))
  throw new Error(`a rate is a number of requests a second, not ${givenRate}`);
const SHARE = 0.8;
const ROW_MS = 60_000;
/** On one core a new process took four minutes until a request cost what it costs later. */
const WARMUP_MS = 240_000;
const CAPACITY_MS = 30_000;
const CONNECTIONS = 8;
const COMMIT_EVERY_MS = 10_000;
/** Of the commits, one in so many changes a thousand files, the others ten. */
const LARGE_COMMIT_EVERY = 60;

const work = mkdtempSync(path.join(tmpdir(), 'trawl-endurance-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true, maxRetries: 10 }));
const repoPath = path.join(work, 'repo.git');
const dataDir = path.join(work, 'data');
git(['init', '-q', '--bare', '-b', 'main', repoPath]);
git(['--git-dir', repoPath, '--work-tree', tree, 'add', '-A', '-f', '.']);
const author = [
  '-c',
  'user.name=A',
  '-c',
  'user.email=a@example.com',
  '-c',
  'commit.gpgSign=false',
];
git([...author, '--git-dir', repoPath, '--work-tree', tree, 'commit', '-q', '-m', 'all']);
const names = git(['--git-dir', repoPath, 'ls-files'])
  .split('\n')
  .filter((name) => /\.(?:c|h|ts|js|py|go|java)$/.test(name));
if (names.length === 0) throw new Error(`${tree} has no source file`);
await buildIndex([repoPath], dataDir);
const daemon = await startDaemon([repoPath], dataDir);
const agent = new Agent({ keepAlive: true, maxSockets: 1000 });

interface Call {
  readonly path: string;
  readonly body?: object;
  /** The client leaves after this many ms. */
  readonly leavesAfterMs?: number;
}

const repo = 'local/repo.git';
const at = { repoName: repo, revisionName: 'main' };
const search = (query: string, more: object = {}): Call => ({
  path: '/api/search',
  body: { query, matches: 100, isCaseSensitivityEnabled: true, ...more },
});
const get = (endpoint: string, values: Record<string, string>): Call => ({
  path: `${endpoint}?${new URLSearchParams(values).toString()}`,
});
const wordAt = (i: number): string =>
  path
    .basename(nameAt(i))
    .replace(/\.\w+$/, '')
    .replaceAll(/\W/g, '_');
const fileAt = (i: number): Record<string, string> => ({ repo, path: nameAt(i), ref: 'main' });

/** One of each in a hundred requests; the others are for the names of files, most of them rare words. */
const OTHERS: readonly ((i: number) => Call)[] = [
  () => search('return'),
  () => search('Copyright', { matches: 10_000 }),
  () => search('include', { isCaseSensitivityEnabled: false, contextLines: 3 }),
  () => search(String.raw`"static.*inline.*void"`, { isRegexEnabled: true }),
  (i) => search(`"${wordAt(i)}\\s*[(;]"`, { isRegexEnabled: true, matches: 1000 }),
  (i) => search(`sym:${wordAt(i)}`),
  (i) => search(`file:${wordAt(i)}`),
  (i) => search(`rev:main~${String(1 + (i % 2))} ${wordAt(i)}`),
  (i) => search(`(${wordAt(i)}`),
  () => ({ ...search('return', { matches: 100_000 }), path: '/api/stream_search' }),
  () => ({ ...search('int', { matches: 100_000 }), path: '/api/stream_search', leavesAfterMs: 20 }),
  (i) => ({ path: '/api/find_references', body: { symbolName: wordAt(i) } }),
  (i) => get('/api/source', fileAt(i)),
  (i) => get('/api/blame', fileAt(i)),
  (i) => get('/api/commits', { ...fileAt(i), perPage: '20' }),
  () => get('/api/diff', { repo, base: 'main~2', head: 'main' }),
  (i) => get('/api/folder_contents', { ...at, path: path.dirname(nameAt(i)) }),
  () => get('/api/refs', { repo }),
];

function callAt(i: number): Call {
  return OTHERS[i % 100]?.(i) ?? search(wordAt(i));
}

async function ask(i: number): Promise<Reply> {
  const { path: endpoint, body, leavesAfterMs } = callAt(i);
  const url = new URL(endpoint, daemon.url);
  const headers = { 'content-type': 'application/json' };
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (leavesAfterMs !== undefined) return leave(url, text ?? '', leavesAfterMs);
  return send(url, { agent, method: text === undefined ? 'GET' : 'POST', headers }, text);
}

/** Sends a request on a connection of its own, which it destroys. */
async function leave(url: URL, body: string, afterMs: number): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  const call = httpRequest(url, { method: 'POST', agent: false, headers });
  call.on('error', () => undefined);
  call.on('response', (reply) => reply.on('error', () => undefined).resume());
  call.end(body);
  await setTimeout(afterMs);
  call.destroy();
  return { status: 499, body: Buffer.alloc(0) };
}

/** Ten or a thousand files get a line more, with a word that no other commit has. */
async function commit(version: number): Promise<string> {
  const count = version % LARGE_COMMIT_EVERY === 0 ? 1000 : 10;
  const word = `endurance_${String(version)}_word`;
  const changed = new Set(
    Array.from({ length: count }, (_, i) => nameAt(version * 7919 + i * 104_729)),
  );
  const parts = [...changed].map((name) => {
    const content = `${readFileSync(path.join(tree!, name), 'latin1')}\n// ${word}\n`;
    return `M 100644 inline ${JSON.stringify(name)}\ndata ${String(content.length)}\n${content}\n`;
  });
  const head = `commit refs/heads/main\ncommitter A <a@example.com> ${String(1_700_000_000 + version)} +0000\n`;
  // Not `spawnSync`: it would stop the load.
  const child = spawn('git', ['--git-dir', repoPath, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(
    Buffer.from(`${head}data 1\nx\nfrom refs/heads/main^0\n${parts.join('')}`, 'latin1'),
  );
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`git fast-import ended with ${String(code)}`);
  return word;
}

/** Milliseconds until a search finds the word; undefined after a minute. */
async function lagOf(word: string): Promise<number | undefined> {
  const startMs = performance.now();
  const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } };
  while (performance.now() - startMs < ROW_MS) {
    const body = JSON.stringify(search(word).body);
    const reply = await send(new URL('/api/search', daemon.url), options, body);
    if (reply.status === 200 && reply.body.includes(`// ${word}`))
      return performance.now() - startMs;
    await setTimeout(100);
  }
  return undefined;
}

function nameAt(i: number): string {
  return names[Math.abs(i * 31) % names.length]!;
}

function git(args: readonly string[]): string {
  const done = spawnSync('git', args, { maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr.toString()}`);
  return done.stdout.toString();
}

const lags: (number | undefined)[] = [];
const end = new AbortController();
async function commitForHours(): Promise<void> {
  for (let version = 1; !end.signal.aborted; version++) {
    const dueMs = performance.now() + COMMIT_EVERY_MS;
    lags.push(await lagOf(await commit(version)));
    await setTimeout(Math.max(0, dueMs - performance.now()));
  }
}

async function answersASecond(ms: number): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  await closedLoop(
    ask,
    CONNECTIONS,
    () => performance.now() - startMs > ms,
    () => count++,
  );
  return (count * 1000) / (performance.now() - startMs);
}

const rows: object[] = [];
const statuses = new Map<number, number>();
let times: number[] = [];
try {
  const commits = commitForHours();
  // Reported as soon as one fails, not after hours.
  await Promise.race([commits, serveForHours()]);
  end.abort();
  await commits;
} finally {
  await daemon.stop();
}

async function serveForHours(): Promise<void> {
  await answersASecond(WARMUP_MS);
  const rate =
    givenRate === undefined ? SHARE * (await answersASecond(CAPACITY_MS)) : Number(givenRate);
  process.stdout.write(`${rate.toFixed(0)} requests a second\n`);
  for (let minute = 1; minute <= Number(hours) * 60; minute++) {
    await openLoop(ask, rate, Math.ceil((rate * ROW_MS) / 1000), (_, reply, ms) => {
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      times.push(ms);
    });
    addRow(minute, rate);
  }
}

function addRow(minute: number, rate: number): void {
  const proc = `/proc/${String(daemon.pid)}`;
  const sorted = times.sort((a, b) => a - b);
  const knownLags = lags.filter((ms) => ms !== undefined).sort((a, b) => a - b);
  rows.push({
    minute,
    privateMB: privateMemorySize(daemon.pid) / 1e6,
    anonymousMB: procSize(daemon.pid, 'status', 'RssAnon') / 1e6,
    mappings: readFileSync(`${proc}/maps`, 'latin1').split('\n').length - 1,
    files: readdirSync(`${proc}/fd`).length,
    threads: readdirSync(`${proc}/task`).length,
    dataMB: folderSize(dataDir) / 1e6,
    processorS: (processorMs(daemon.pid) ?? 0) / 1000,
    answers: Object.fromEntries(statuses),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    commits: lags.length,
    unseen: lags.length - knownLags.length,
    lagP50: knownLags.length === 0 ? null : quantile(knownLags, 0.5),
    lagMax: knownLags.at(-1) ?? null,
  });
  times = [];
  lags.length = 0;
  statuses.clear();
  writeFileSync(
    record!,
    `${JSON.stringify({ rate, hours: Number(hours), node: process.version, rows }, null, 1)}\n`,
  );
  process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`);
}

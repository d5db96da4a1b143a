// Experiment X14: connections to a code host that is 2 ms away: cloning and indexing its repositories from nothing, a round
// that finds nothing new, memory, searches meanwhile, and a push that a webhook tells of. How it is listed: X15.
//   node build/bench/experiments/x14-connections.js FOLDER [COUNT] [BIG.git]
// FOLDER holds bare repositories (that of X13, for example), of which COUNT are served; BIG.git is one of the size of Linux,
// for the push; with - for FOLDER that alone is measured. The host runs as a process of its own (test/hosts/code-host.ts).

import { spawn, spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { search, createClient } from '../client.ts';
import { send } from '../../daemon/cli/bench/load.ts';
import { startWatch } from '../attacks/watch.ts';
import { type RunningDaemon, startDaemon } from '../daemon.ts';

const [folder = '', count = '1000', big] = process.argv.slice(2);
if (folder === '') throw new Error('which folder of repositories?');
const DELAY_MS = 2;
const SECRET = 'of-the-webhook';
const POLL_MS = 500;
/** Until symbols are found and shards merged. */
const CALM_MS = 30_000;
const KEY = `svk_${'0'.repeat(64)}`;
const OWNER = { authorization: `Bearer ${KEY}` };

const work = mkdtempSync(path.join(tmpdir(), 'trawl-connections-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));

if (folder !== '-') await measureSync();
if (big !== undefined) await measurePush(big);

async function startHost(repos: string, listed: number) {
  const script = fileURLToPath(new URL('../../test/hosts/code-host.js', import.meta.url));
  const child = spawn(process.execPath, [script, repos, String(listed), String(DELAY_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return { url: String(line).trim(), pid: child.pid ?? 0, stop: () => child.kill() };
}

async function serve(repos: string, listed: number) {
  const server = await startHost(repos, listed);
  const config = path.join(work, 'trawl.json');
  writeFileSync(
    config,
    JSON.stringify({
      settings: { webhooks: { secret: { env: 'BENCH_WEBHOOK_SECRET' } } },
      connections: { bench: { type: 'github', url: server.url, orgs: ['acme'] } },
    }),
  );
  const dataDir = mkdtempSync(path.join(work, 'data-'));
  const daemon = await startDaemon([], dataDir, {
    flags: ['--anonymous', '--config', config],
    env: {
      BENCH_WEBHOOK_SECRET: SECRET,
      TRAWL_OWNER_EMAIL: 'bench@example.com',
      TRAWL_OWNER_API_KEY: KEY,
    },
  });
  return { server, daemon };
}

async function measureSync(): Promise<void> {
  const startMs = performance.now();
  const { server, daemon } = await serve(folder, Number(count));
  let peak = 0;
  const watched = { url: daemon.url, pid: daemon.pid, headers: {}, word: 'PM_RESUME' };
  const watch = startWatch({ ...watched, expected: '"files"' }, (size) => {
    peak = Math.max(peak, size);
  });
  while (!(await areIndexed(daemon.url))) await sleep(POLL_MS);
  const cpu = `${cpuSeconds(daemon.pid).toFixed(1)} CPU s, the host ${cpuSeconds(server.pid).toFixed(1)}`;
  print(`${count} repositories from nothing`, `${seconds(performance.now() - startMs)}, ${cpu}`);
  const { calm: meanwhile } = await watch.finish();
  print('memory at most', `${(peak / 2 ** 20).toFixed(0)} MB`);
  printWaits('a rare word meanwhile', meanwhile.wordMs);
  printWaits('health meanwhile', meanwhile.healthMs);
  for (const [fault, times] of Object.entries(meanwhile.faults)) print(fault, String(times));
  await sleep(CALM_MS);
  await measureRound(daemon, server.url);
  await daemon.stop();
  server.stop();
}

function printWaits(name: string, waits: number[]): void {
  waits.sort((a, b) => a - b);
  print(`${name}, p50, p99`, `${at(waits, 0.5).toFixed(1)} ms, ${at(waits, 0.99).toFixed(1)} ms`);
}

async function measureRound({ url, pid }: RunningDaemon, host: string): Promise<void> {
  const names = (await listedRepos(url)).map(({ repoName }) => path.basename(repoName));
  const [startMs, cpu] = [performance.now(), cpuSeconds(pid)];
  for (const name of names) await report(url, host, name);
  const reported = `${names.length} are reported after ${seconds(performance.now() - startMs)}`;
  while ((await openJobs(url)) > 0) await sleep(POLL_MS);
  const spent = cpuSeconds(pid) - cpu;
  const tookMs = performance.now() - startMs;
  print('nothing changed', `${seconds(tookMs)}, ${spent.toFixed(1)} CPU s; ${reported}`);
}

async function measurePush(source: string): Promise<void> {
  const repos = path.join(work, 'big');
  mkdirSync(repos);
  const repo = path.join(repos, 'big.git');
  cpSync(source, repo, { recursive: true });
  const { server, daemon } = await serve(repos, 1);
  while ((await indexedCount(daemon.url)) < 1) await sleep(POLL_MS);
  await sleep(20_000);
  const client = createClient(daemon.url, 1);
  const costs: number[] = [];
  for (let i = 0; i < 7; i++) {
    const word = `pushed${Date.now()}`;
    commitTen(repo, word);
    const [startMs, atMs, cpu] = [performance.now(), Date.now(), cpuSeconds(daemon.pid)];
    await report(daemon.url, server.url);
    const reportedMs = performance.now() - startMs;
    const query = JSON.stringify({ query: word, matches: 10 });
    while ((await search(client, query)).files.length < 10) await sleep(20);
    const foundMs = performance.now() - startMs;
    costs.push(foundMs);
    // Repeats within 5 s are one job; the clone's maintenance is over by then.
    await sleep(6000);
    const spent = cpuSeconds(daemon.pid) - cpu;
    print(
      `push ${i + 1}`,
      `${await phasesOf(daemon.url, atMs, reportedMs, foundMs)}; ${spent.toFixed(2)} CPU s`,
    );
  }
  costs.sort((a, b) => a - b);
  print('a push of ten files until it is found', costs.map((ms) => seconds(ms)).join(', '));
  client.close();
  await daemon.stop();
  server.stop();
}

async function phasesOf(url: string, atMs: number, reportedMs: number, foundMs: number) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
  const [job] = (await get(url, '/api/jobs?queue=repo-index&perPage=1')) as {
    startedAt: string;
    finishedAt: string;
  }[];
  const [start, ended] = [job!.startedAt, job!.finishedAt].map((time) => Date.parse(time) - atMs);
  const times = { webhook: reportedMs, begun: start, found: foundMs, ended };
  return Object.entries(times)
    .map(([name, ms]) => `${name} ${seconds(ms!)}`)
    .join(', ');
}

async function report(url: string, host: string, name = 'big'): Promise<void> {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    repository: {
      id: Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 8), 16),
      name,
      full_name: `acme/${name}`,
      html_url: `${host}/acme/${name}`,
      clone_url: `${host}/acme/${name}.git`,
    },
  });
  const proof = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${proof}` };
  const { status, text } = await post(url, '/api/webhook', body, headers);
  if (status !== 202) throw new Error(`webhook: ${status} ${text}`);
}

function commitTen(repo: string, word: string): void {
  const lines = Array.from(
    { length: 10 },
    (_, i) => `M 100644 inline bench/${i}.c\ndata <<END\n/* ${word} ${i} */\nEND\n`,
  );
  const head =
    'commit refs/heads/main\ncommitter a <a@example.org> now\ndata 1\nx\nfrom refs/heads/main^0\n';
  const { status, stderr } = spawnSync(
    'git',
    ['-C', repo, 'fast-import', '--quiet', '--force', '--date-format=now'],
    { input: head + lines.join('') },
  );
  if (status !== 0) throw new Error(stderr.toString());
}

async function post(url: string, target: string, body: string, headers: object = {}) {
  const answer = await send(
    new URL(target, url),
    { method: 'POST', headers: { 'content-type': 'application/json', ...OWNER, ...headers } },
    body,
  );
  return { status: answer.status, text: answer.body.toString() };
}

async function get(url: string, target: string): Promise<unknown> {
  const answer = await send(new URL(target, url), { method: 'GET', headers: OWNER });
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status}`);
  return JSON.parse(answer.body.toString());
}

interface Listed {
  readonly repoName: string;
  readonly indexedAt?: string;
}

async function listedRepos(url: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let page = 1; ; page++) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
    const rows = (await get(url, `/api/repos?perPage=100&page=${page}`)) as Listed[];
    all.push(...rows);
    if (rows.length < 100) return all;
  }
}

async function indexedCount(url: string): Promise<number> {
  return (await listedRepos(url)).filter(({ indexedAt }) => indexedAt !== undefined).length;
}

/** Errors: one failed. */
async function areIndexed(url: string): Promise<boolean> {
  const last = await get(url, `/api/repos?perPage=1&page=${count}`);
  if (!Array.isArray(last) || last.length === 0) return false;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
  const counts = (await get(url, '/api/repository-sync-counts')) as Record<string, number>;
  if (counts['failedCount'] !== 0) throw new Error(`failed: ${counts['failedCount']}`);
  return counts['firstTimeIndexingCount'] === 0;
}

async function openJobs(url: string): Promise<number> {
  const pending = await get(url, '/api/jobs?status=PENDING');
  const running = await get(url, '/api/jobs?status=IN_PROGRESS');
  return [pending, running].flat().length;
}

/** Of the process and its waited-for children. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0) / 100;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function print(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(40)}${figure}\n`);
}

// Experiment X16: the first answer of a revision that is not indexed, and a saved file of a watched tree, over HTTP.
//   node build/bench/experiments/x16-revisions.js FOLDER WORK
// FOLDER is any tree of source files. A bare repository of it with 10,000 commits of two files each is made below WORK,
// and a work tree of that, unless they are there.

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { search, createClient } from '../client.ts';
import { buildIndex, findSymbols, startDaemon } from '../daemon.ts';

const [folder = '', work = ''] = process.argv.slice(2);
if (work === '') throw new Error('which tree, and where?');
const COMMITS = 10_000;
const BACK = [100, 110, 10_000];
const SAVES = 7;
const SETTLE_MS = 120_000;

mkdirSync(work, { recursive: true });
const repo = path.join(work, 'repo.git');
if (!existsSync(repo)) makeHistory();
await measureRevisions();
await measureSaves();

async function measureRevisions(): Promise<void> {
  const dataDir = path.join(work, 'data');
  rmSync(dataDir, { recursive: true, force: true });
  await buildIndex([repo], dataDir);
  await findSymbols([repo], dataDir);
  const daemon = await startDaemon([], dataDir);
  const client = createClient(daemon.url, 1);
  for (const back of BACK) {
    const request = JSON.stringify({ query: `kmalloc rev:main~${back}`, matches: 100 });
    const first = await timeOf(() => search(client, request));
    const others: number[] = [];
    for (let i = 0; i < 20; i++) others.push(await timeOf(() => search(client, request)));
    print(`rev: ${back} commits`, `${first.toFixed(0)} ms, again ${median(others).toFixed(1)} ms`);
  }
  client.close();
  await daemon.stop();
}

async function measureSaves(): Promise<void> {
  const tree = path.join(work, 'tree');
  if (!existsSync(tree)) run(['clone', '-q', repo, tree]);
  const dataDir = path.join(work, 'tree-data');
  rmSync(dataDir, { recursive: true, force: true });
  const daemon = await startDaemon([tree], dataDir, {
    flags: ['--anonymous', '--mode', 'worktree'],
  });
  const client = createClient(daemon.url, 1);
  const anything = JSON.stringify({ query: 'kmalloc', matches: 1 });
  while ((await search(client, anything)).files.length === 0) await sleep(500);
  await sleep(SETTLE_MS);
  const costs: number[] = [];
  const names = filesOf(tree);
  for (let i = 0; i < SAVES; i++) {
    await sleep(3000);
    const word = `saved${Date.now()}`;
    appendFileSync(path.join(tree, names[Math.floor((names.length * i) / SAVES)]!), `\n${word}\n`);
    costs.push(
      await timeOf(async () => {
        const request = JSON.stringify({ query: word, matches: 100 });
        while ((await search(client, request)).files.length === 0) await sleep(5);
      }),
    );
  }
  print('a saved file until it is found', costs.map((ms) => `${ms.toFixed(0)} ms`).join(', '));
  client.close();
  await daemon.stop();
}

function makeHistory(): void {
  run(['init', '-q', '--bare', '-b', 'main', repo]);
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  run(['--git-dir', repo, '--work-tree', folder, 'add', '-A', '-f', '.']);
  run([...author, '--git-dir', repo, '--work-tree', folder, 'commit', '-q', '-m', 'all']);
  const names = filesOf(repo).filter((name) => /\.[ch]$/.test(name));
  const stride = Math.floor(names.length / (2 * COMMITS));
  const parts: Buffer[] = [];
  for (let i = 0; i < COMMITS; i++) {
    const time = 1_700_000_000 + i;
    const from = i === 0 ? 'from refs/heads/main^0\n' : '';
    const head = `commit refs/heads/main\ncommitter A <a@example.com> ${time} +0000\ndata 1\nx\n${from}`;
    parts.push(Buffer.from(head));
    for (const name of [names[2 * i * stride]!, names[(2 * i + 1) * stride]!]) {
      const bytes = Buffer.concat([
        readFileSync(path.join(folder, name)),
        Buffer.from(`\n// ${i}\n`),
      ]);
      parts.push(Buffer.from(`M 100644 inline "${name}"\ndata ${bytes.length}\n`), bytes);
      parts.push(Buffer.from('\n'));
    }
  }
  const stream = path.join(work, 'history');
  writeFileSync(stream, Buffer.concat(parts));
  run(['--git-dir', repo, 'fast-import', '--quiet'], readFileSync(stream));
  rmSync(stream);
}

function filesOf(folder: string): string[] {
  return run(['-C', folder, 'ls-tree', '-r', '--name-only', 'HEAD']).trim().split('\n');
}

async function timeOf(what: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await what();
  return performance.now() - startMs;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

function run(args: readonly string[], input?: Buffer): string {
  const done = spawnSync('git', args, { input, maxBuffer: 1 << 28, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout;
}

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(40)}${text}\n`);
}

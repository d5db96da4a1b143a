// Times the endpoints that read repositories, beside one git process that does the same, after comparing the answers.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { send } from '../daemon/cli/bench/load.ts';
import { buildIndex, findSymbols, startDaemon } from './daemon.ts';
import { measureCalls, type Effort } from './runner.ts';
import {
  formatMs,
  formatTable,
  median,
  type Column,
  type Latency,
} from '../daemon/cli/bench/statistics.ts';

const FILE_COUNT = 10_000;
const SOURCE_PATH = 'src/library/deep/twenty.ts';
const SOURCE_SIZE = 20_000;

export interface ReadingRow {
  readonly id: string;
  readonly latency: Latency;
  readonly gitMs: number;
}

interface ReadingCase {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly git: readonly string[];
  /** Number of items, or the text. Throws if the answer has another form. */
  readonly read: (answer: unknown) => string | number;
  readonly expect: (output: string) => string | number;
}

function runGit(cwd: string, ...args: string[]): string {
  const result = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    maxBuffer: 1 << 28,
  });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr.toString()}`);
  return result.stdout.toString();
}

function makeRepos(folder: string): void {
  const tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'wide'), { recursive: true });
  mkdirSync(path.dirname(path.join(tree, SOURCE_PATH)), { recursive: true });
  for (let i = 0; i < FILE_COUNT; i++) {
    const name = `Module${String(i * 7919).padStart(8, '0')}.ts`;
    writeFileSync(path.join(tree, 'wide', name), `export const value${i} = ${i};\n`);
  }
  const line = 'export const value = 1; // "quoted"\n';
  const text = line.repeat(Math.ceil(SOURCE_SIZE / line.length)).slice(0, SOURCE_SIZE);
  writeFileSync(path.join(tree, SOURCE_PATH), text);
  runGit(tree, 'init', '-q', '-b', 'main');
  runGit(tree, 'add', '-A');
  runGit(tree, 'commit', '-q', '-m', 'made');
  runGit(folder, 'clone', '-q', '--bare', 'tree', 'bare.git');
  runGit(path.join(folder, 'bare.git'), 'gc', '-q');
}

// The answers are checked by their counts and texts; a wrong form gives a wrong count.
/* oxlint-disable typescript/no-unsafe-type-assertion */
const readSource = (answer: unknown): string => (answer as { source: string }).source;
const readList = (answer: unknown): number => (answer as unknown[]).length;
const readTree = (answer: unknown): number => {
  const { children } = (answer as { tree: { children: { name: string; children: unknown[] }[] } })
    .tree;
  return children.find(({ name }) => name === 'wide')?.children.length ?? 0;
};
/* oxlint-enable typescript/no-unsafe-type-assertion */
const countRecords = (output: string): number => output.split('\0').length - 1;
const countLines = (output: string): number => output.split('\n').length - 1;

function casesOf(kind: 'commit' | 'disk'): ReadingCase[] {
  const isCommit = kind === 'commit';
  const repo = isCommit ? 'local/bare.git' : 'local/tree';
  const where = isCommit ? 'at a ref' : 'on disk';
  const ref = isCommit ? 'main' : 'HEAD';
  const at = { repoName: repo, revisionName: ref };
  const folder = new URLSearchParams({ ...at, path: 'wide' }).toString();
  const source = new URLSearchParams({ repo, path: SOURCE_PATH, ref }).toString();
  const lsFiles = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--'];
  const lsTree = ['ls-tree', '-z', ref];
  return [
    {
      id: `source of a 20 KB file, ${where}`,
      method: 'GET',
      path: `/api/source?${source}`,
      git: ['cat-file', 'blob', `main:${SOURCE_PATH}`],
      read: readSource,
      expect: (output) => output,
    },
    {
      id: `tree of a folder with 10,000 entries, ${where}`,
      method: 'POST',
      path: '/api/tree',
      body: { ...at, paths: ['wide'] },
      git: isCommit ? [...lsTree, 'wide/'] : [...lsFiles, 'wide/'],
      read: readTree,
      expect: countRecords,
    },
    {
      id: `contents of that folder, ${where}`,
      method: 'GET',
      path: `/api/folder_contents?${folder}`,
      git: isCommit ? [...lsTree, 'wide/'] : [...lsFiles, 'wide/'],
      read: readList,
      expect: countRecords,
    },
    {
      id: `all files, ${where}`,
      method: 'POST',
      path: '/api/files',
      body: at,
      git: isCommit ? ['ls-tree', '-r', '-z', ref] : lsFiles,
      read: readList,
      expect: countRecords,
    },
    {
      id: `branches and tags, ${where}`,
      method: 'GET',
      path: `/api/refs?${new URLSearchParams({ repo }).toString()}`,
      git: ['for-each-ref', 'refs/heads/', 'refs/tags/'],
      read: readList,
      expect: countLines,
    },
  ];
}

/** Rejects if an answer is not git's. */
async function measureCase(
  url: string,
  agent: Agent,
  repoPath: string,
  reading: ReadingCase,
  effort: Effort,
): Promise<ReadingRow> {
  const body = reading.body === undefined ? undefined : JSON.stringify(reading.body);
  const call = () => send(new URL(reading.path, url), { agent, method: reading.method }, body);
  const expected = reading.expect(runGit(repoPath, ...reading.git));
  const answer: unknown = JSON.parse((await call()).body.toString());
  if (reading.read(answer) !== expected)
    throw new Error(`${reading.id}: the answer is not what git says`);
  const gitTimes = Array.from({ length: 9 }, () => {
    const startMs = performance.now();
    runGit(repoPath, ...reading.git);
    return performance.now() - startMs;
  });
  const latency = await measureCalls(call, effort);
  return { id: reading.id, latency, gitMs: median(gitTimes) };
}

export async function measureReading(effort: Effort): Promise<ReadingRow[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-bench-'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const rows: ReadingRow[] = [];
  try {
    makeRepos(folder);
    for (const kind of ['commit', 'disk'] as const) {
      const repoPath = path.join(folder, kind === 'commit' ? 'bare.git' : 'tree');
      const dataDir = path.join(folder, `data-${kind}`);
      await buildIndex([repoPath], dataDir);
      // So that the daemon is not busy with it.
      await findSymbols([repoPath], dataDir);
      const daemon = await startDaemon([repoPath], dataDir);
      try {
        for (const reading of casesOf(kind))
          rows.push(await measureCase(daemon.url, agent, repoPath, reading, effort));
      } finally {
        await daemon.stop();
      }
    }
  } finally {
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

function right(title: string): Column {
  return { title, align: 'right' };
}

export function formatReading(rows: readonly ReadingRow[]): string {
  return formatTable(
    [{ title: 'case', align: 'left' }, ...['p50', 'p95', 'p99', 'git process'].map(right)],
    rows.map(({ id, latency, gitMs }) => [
      id,
      ...[latency.p50Ms, latency.p95Ms, latency.p99Ms, gitMs].map(formatMs),
    ]),
  );
}

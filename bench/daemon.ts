// The daemon under test as child processes of its command line: `index`, then `serve`. Memory is known on Linux only.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JobResult } from '../daemon/sync/jobs/jobs.ts';
import { processorMs } from './load.ts';

const BUILD = fileURLToPath(new URL('..', import.meta.url));
const POLL_MS = 50;

/** Builds before 2026-11-23 have no bundle. */
function mainOf(build: string): string {
  const bundle = path.join(build, 'bundle', 'cli', 'main.js');
  return existsSync(bundle) ? bundle : path.join(build, 'daemon', 'cli', 'main.js');
}

export interface BuildFigures {
  readonly durationMs: number;
  /** User and system time with that of its children; 0 without /proc. */
  readonly cpuMs: number;
  /** Highest RssAnon in bytes; 0 without /proc. */
  readonly memoryPeakSize: number;
  /** Bytes of all files in the data directory. */
  readonly dataSize: number;
  readonly contentSize: number;
  readonly docCount: number;
}

export interface SymbolFigures {
  /** Of the pass, with the start of the process. */
  readonly durationMs: number;
  /** Highest RssAnon, without the parsers' processes. */
  readonly memoryPeakSize: number;
  readonly dataSize: number;
}

export interface RunningDaemon {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process until it listens. */
  readonly startMs: number;
  readonly ended: Promise<unknown>;
  /** Asks the process to exit; kills it after a minute. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Default: guests may search. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: our own. */
  readonly build?: string | undefined;
}

/** In bytes; 0 if file or field is missing. */
export function procSize(pid: number, file: string, field: string): number {
  try {
    const text = readFileSync(`/proc/${String(pid)}/${file}`, 'utf8');
    return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Heap, scratch memory and stacks, in bytes. */
export function privateMemorySize(pid: number): number {
  const fields = ['Private_Dirty', 'Swap'];
  return fields.reduce((sum, field) => sum + procSize(pid, 'smaps_rollup', field), 0);
}

export function folderSize(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
}

/** Without symbols. Rejects if the command fails; its messages are on standard error. */
export async function buildIndex(
  sources: readonly string[],
  dataDir: string,
  build = BUILD,
): Promise<BuildFigures> {
  const { results, ...figures } = await runIndex(sources, dataDir, build, ['--no-symbols']);
  return {
    ...figures,
    dataSize: folderSize(dataDir),
    contentSize: results.reduce((sum, { contentSize }) => sum + contentSize, 0),
    docCount: results.reduce((sum, { docCount }) => sum + docCount, 0),
  };
}

/** Rejects as `buildIndex`. */
export async function findSymbols(
  sources: readonly string[],
  dataDir: string,
  build = BUILD,
): Promise<SymbolFigures> {
  const before = folderSize(dataDir);
  const { results: _, ...figures } = await runIndex(sources, dataDir, build, []);
  return { ...figures, dataSize: folderSize(dataDir) - before };
}

async function runIndex(
  sources: readonly string[],
  dataDir: string,
  build: string,
  flags: readonly string[],
): Promise<
  Pick<BuildFigures, 'durationMs' | 'cpuMs' | 'memoryPeakSize'> & { results: JobResult[] }
> {
  const cpuBeforeMs = processorMs(process.pid, true) ?? 0;
  const startMs = performance.now();
  const args = [mainOf(build), 'index', '--json', ...flags, '--data-dir', dataDir, ...sources];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let memoryPeakSize = 0;
  const watch = setInterval(() => {
    memoryPeakSize = Math.max(memoryPeakSize, procSize(child.pid ?? 0, 'status', 'RssAnon'));
  }, POLL_MS);
  let text = '';
  child.stdout.on('data', (data: Buffer) => (text += data.toString()));
  const code = await exitOf(child);
  clearInterval(watch);
  if (code !== 0) throw new Error(`trawl index ended with exit code ${String(code)}`);
  const durationMs = performance.now() - startMs;
  const cpuMs = (processorMs(process.pid, true) ?? 0) - cpuBeforeMs;
  const lines = text.split('\n').filter((line) => line !== '');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own command's output
  const results = lines.map((line) => JSON.parse(line) as JobResult);
  return { results, durationMs, cpuMs, memoryPeakSize };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const deadline = setTimeout(() => {
      child.kill();
      reject(new Error(`trawl serve did not listen in time:\n${text}`));
    }, 300_000);
    child.stderr?.on('data', (data: Buffer) => {
      text += data.toString();
      const url = /^Serving on (\S+)$/m.exec(text)?.[1];
      if (url === undefined) return;
      clearTimeout(deadline);
      resolve(url);
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(deadline);
      reject(new Error(`trawl serve ended at once:\n${text}`));
    });
  });
}

/** Serves sources whose index `buildIndex` made, on a free port of the loopback address. */
export async function startDaemon(
  sources: readonly string[],
  dataDir: string,
  { flags = ['--anonymous'], env = {}, build = BUILD }: StartOptions = {},
): Promise<RunningDaemon> {
  const startMs = performance.now();
  const common = ['--port', '0', '--log-level', 'warn', '--data-dir', dataDir];
  const args = [mainOf(build), 'serve', ...common, ...flags, ...sources];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = exitOf(child);
  const url = await listening(child);
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - startMs,
    ended,
    async stop() {
      child.kill('SIGTERM');
      const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
      await ended;
      clearTimeout(deadline);
    },
  };
}

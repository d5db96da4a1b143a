// The daemon under test as child processes of its real command line: one run of `index`, timed and its
// memory watched, then `serve`. Reads memory from /proc, so memory is known on Linux only.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JobResult } from '../daemon/sync/jobs/jobs.ts';

/** The build that this file belongs to. */
const BUILD = fileURLToPath(new URL('..', import.meta.url));
const POLL_MS = 50;
const START_MS_MAX = 300_000;
const STOP_MS_MAX = 60_000;

/** What `trawl` runs; builds before 2026-11-23 have no bundle. */
function mainOf(build: string): string {
  const bundle = path.join(build, 'bundle', 'cli', 'main.js');
  return existsSync(bundle) ? bundle : path.join(build, 'daemon', 'cli', 'main.js');
}

export interface BuildFigures {
  readonly durationMs: number;
  /** Highest RssAnon of the building process, mapped files apart; 0 where /proc is missing. */
  readonly memoryPeakSize: number;
  /** Bytes of all files in the data directory. */
  readonly dataSize: number;
  readonly contentSize: number;
  readonly docCount: number;
}

export interface SymbolFigures {
  /** Of the pass, start of the process and look at the source included. */
  readonly durationMs: number;
  /** Highest RssAnon of the process, those of the parsers apart. */
  readonly memoryPeakSize: number;
  /** Bytes of the files of symbols. */
  readonly dataSize: number;
}

export interface RunningDaemon {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process until it listens. */
  readonly startMs: number;
  /** Settles with the end of the process. */
  readonly ended: Promise<unknown>;
  /** Asks it to stop, kills it after a minute, and waits until it has ended. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Default: guests may search. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of the build to run, default: our own. */
  readonly build?: string | undefined;
}

/** A field of a /proc file in bytes; 0 if the file or the field is missing. */
export function procSize(pid: number, file: string, field: string): number {
  try {
    const text = readFileSync(`/proc/${String(pid)}/${file}`, 'utf8');
    return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Private bytes that are not backed by a mapped file: heap, scratch memory, stacks. */
export function privateMemorySize(pid: number): number {
  const fields = ['Private_Dirty', 'Swap'];
  return fields.reduce((sum, field) => sum + procSize(pid, 'smaps_rollup', field), 0);
}

/** Bytes of all files below `folder`. */
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

/**
 * Indexes sources into the data directory `dataDir`, without their symbols.
 *
 * Errors: rejects if the command fails; its messages are on standard error.
 */
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

/** Finds the symbols of an index that `buildIndex` made. Errors: as there. */
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
): Promise<{ results: JobResult[]; durationMs: number; memoryPeakSize: number }> {
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
  const lines = text.split('\n').filter((line) => line !== '');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own command's output
  const results = lines.map((line) => JSON.parse(line) as JobResult);
  return { results, durationMs, memoryPeakSize };
}

/** The address that `serve` prints, once it is there. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const deadline = setTimeout(() => {
      child.kill();
      reject(new Error(`trawl serve did not listen in time:\n${text}`));
    }, START_MS_MAX);
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
      const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      await ended;
      clearTimeout(deadline);
    },
  };
}

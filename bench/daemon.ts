// The daemon under test as child processes of its real command line: one run of `index`, timed and its
// memory watched, then `serve`. Reads memory from /proc, so memory is known on Linux only.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IndexResult } from '../daemon/cli/services.ts';

const MAIN = fileURLToPath(new URL('../daemon/cli/main.js', import.meta.url));
const POLL_MS = 50;
const START_MS_MAX = 300_000;

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
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}

/** A field of a /proc file in bytes; 0 if the file or the field is missing. */
function procSize(pid: number, file: string, field: string): number {
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
 * Indexes `root` into the new data directory `dataDir`.
 *
 * Errors: rejects if the command fails; its messages are on standard error.
 */
export async function buildIndex(root: string, dataDir: string): Promise<BuildFigures> {
  const { results, ...figures } = await runIndex(root, dataDir, ['--no-symbols']);
  return {
    ...figures,
    dataSize: folderSize(dataDir),
    contentSize: results.reduce((sum, { contentSize }) => sum + contentSize, 0),
    docCount: results.reduce((sum, { docCount }) => sum + docCount, 0),
  };
}

/** Finds the symbols of an index that `buildIndex` made. Errors: as there. */
export async function findSymbols(root: string, dataDir: string): Promise<SymbolFigures> {
  const before = folderSize(dataDir);
  const { results: _, ...figures } = await runIndex(root, dataDir, []);
  return { ...figures, dataSize: folderSize(dataDir) - before };
}

async function runIndex(
  root: string,
  dataDir: string,
  flags: readonly string[],
): Promise<{ results: IndexResult[]; durationMs: number; memoryPeakSize: number }> {
  const startMs = performance.now();
  const args = [MAIN, 'index', '--json', ...flags, '--data-dir', dataDir, root];
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
  const results = lines.map((line) => JSON.parse(line) as IndexResult);
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

/** Serves an index that `buildIndex` made, on a free port of the loopback address. */
export async function startDaemon(root: string, dataDir: string): Promise<RunningDaemon> {
  const startMs = performance.now();
  const flags = ['--port', '0', '--anonymous', '--log-level', 'warn'];
  const child = spawn(process.execPath, [MAIN, 'serve', ...flags, '--data-dir', dataDir, root], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = exitOf(child);
  const url = await listening(child);
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - startMs,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

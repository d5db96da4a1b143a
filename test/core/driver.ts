// Compiles AssemblyScript entry files of the tests, with the options of asconfig.json, debug (asserts on)
// and release, and instantiates each with its own memory. A failing assert (text, file, line) becomes a JavaScript
// error. Results are cached in build/ under a hash of all inputs: the test files share few entry files, and compiling
// one takes seconds.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../base/run-program.ts';

const PAGES_MAX = 65536;
const PAGE_SIZE = 65536;

/** The two builds that every AssemblyScript function is tested in. */
export const BUILDS = ['debug', 'release'] as const;
export type Build = (typeof BUILDS)[number];

/** An instance of a test entry file. In its exports u64 is bigint; u32 may come back negative. */
export interface CoreInstance<Exports> {
  exports: Exports;
  bytes: Uint8Array;
  /** First address that static data does not use, rounded up to 64. */
  base: number;
  /** What the core asks during calls that take long (core/base/work.ts). */
  isStopRequested: () => boolean;
}

type OptionValue = string | number | boolean | string[];

/** The checkout: the closest folder above this file that holds asconfig.json. */
const root = findRoot(path.dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  try {
    readFileSync(path.join(folder, 'asconfig.json'));
    return folder;
  } catch {
    return findRoot(path.dirname(folder));
  }
}

/** The options of asconfig.json for `build` as arguments of asc, without those that name files. */
function compilerArguments(build: Build): string[] {
  const config = JSON.parse(readFileSync(path.join(root, 'asconfig.json'), 'utf8')) as {
    options: Record<string, OptionValue>;
    targets: Record<Build, Record<string, OptionValue>>;
  };
  const options = { ...config.options, ...config.targets[build] };
  return Object.entries(options).flatMap(([name, value]) => {
    if (name === 'outFile' || name === 'sourceMap' || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });
}

const modules = new Map<string, Promise<WebAssembly.Module>>();

/** `entry`, a path from the checkout, as WebAssembly; compiled once for each build and process. Errors: what asc printed. */
export function compileEntry(entry: string, build: Build): Promise<WebAssembly.Module> {
  const key = `${build} ${entry}`;
  const compiled = modules.get(key) ?? compile(entry, build);
  modules.set(key, compiled);
  return compiled;
}

/** Of everything that a compiled entry file may come from, compiler and options included. */
function hashSources(): string {
  const files = ['core', 'test/core/assembly'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(folder, name)),
  );
  const hash = createHash('sha256');
  for (const name of [...files.sort(), 'asconfig.json', 'package-lock.json']) {
    const content = readFileSync(path.join(root, name));
    hash.update(`${name} ${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

async function compile(entry: string, build: Build): Promise<WebAssembly.Module> {
  const kind = `${path.basename(entry, '.ts')}.${build}.`;
  const name = `${kind}${hashSources()}.wasm`;
  const folder = path.join(root, 'build', 'test-core');
  const file = path.join(folder, name);
  if (!existsSync(file)) {
    const { alone } = (await import(path.join(root, 'scripts', 'lock.mjs'))) as Lock;
    // Many test files begin at once: one compiles, the others wait for it.
    alone(root, () => {
      if (existsSync(file)) return;
      compileTo(file, entry, build);
      for (const old of readdirSync(folder))
        if (old.startsWith(kind) && old !== name) rmSync(path.join(folder, old));
    });
  }
  return WebAssembly.compile(readFileSync(file));
}

/** scripts/lock.mjs. */
interface Lock {
  readonly alone: (root: string, work: () => void) => void;
}

/** Errors: what asc printed. */
function compileTo(file: string, entry: string, build: Build): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const asc = path.join(root, 'node_modules/assemblyscript/bin/asc.js');
  const options = ['--outFile', `${file}.next`, '--config', 'none', ...compilerArguments(build)];
  const { status, stderr } = runProgram(process.execPath, [asc, entry, ...options], {
    cwd: root,
    env: process.env,
  });
  if (status !== 0) throw new Error(`${entry} (${build}): ${String(stderr)}`);
  renameSync(`${file}.next`, file);
}

/** The UTF-16 string of AssemblyScript at `ptr`; its size in bytes stands before it. */
function readString(memory: WebAssembly.Memory, ptr: number): string {
  const size = new DataView(memory.buffer).getUint32(ptr - 4, true);
  return Buffer.from(memory.buffer, ptr, size).toString('utf16le');
}

/**
 * A fresh instance of `entry` (a path from the checkout; it exports heapBase) on a memory of `pages` pages
 * of 64 KiB, which never grows.
 */
export async function instantiateCore<Exports>(
  entry: string,
  build: Build,
  pages = 64,
): Promise<CoreInstance<Exports>> {
  const compiled = compileEntry(entry, build);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: PAGES_MAX, shared: true });
  const abort = (message: number, file: number, line: number, column: number): never => {
    throw new Error(
      `${message === 0 ? 'abort' : readString(memory, message)} at ${readString(memory, file)}:${line}:${column}`,
    );
  };
  const isStopRequested = (): boolean => instance.isStopRequested();
  const env = {
    memory,
    abort,
    isStopRequested,
    bringIn: () => 1,
    noteChecked: () => undefined,
    willNeed: () => {},
    refusePage: () => {
      throw new Error('a page was refused');
    },
  };
  const { exports } = await WebAssembly.instantiate(await compiled, { env });
  const heapBase = exports['heapBase'] as () => number;
  const base = Math.ceil(heapBase() / 64) * 64;
  if (base > pages * PAGE_SIZE) throw new Error(`${entry}: static data does not fit in memory`);
  const typed = exports as unknown as Exports;
  const bytes = new Uint8Array(memory.buffer);
  const instance: CoreInstance<Exports> = {
    exports: typed,
    bytes,
    base,
    isStopRequested: () => false,
  };
  return instance;
}

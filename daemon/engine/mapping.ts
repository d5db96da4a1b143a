// Puts a shard file into a range of linear memory: mapped read-only where the platform allows (no copy,
// pages shared by all workers through the page cache), else read in, at the same addresses. Rules that
// keep V8 alive: MAP_PRIVATE and MAP_FIXED only, memories are never grown, addresses are multiples of
// 64 KiB; a range that is given up becomes fresh anonymous memory again, so that no hole is left.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

export const MAPPING_ALIGNMENT = 65536;

/** How the bytes of a file came into memory. */
export type MappingKind = 'mapped' | 'read';

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_PRIVATE = 2;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;

type Mmap = (
  address: Uint8Array,
  size: number,
  protection: number,
  flags: number,
  file: number,
  offset: number,
) => number | bigint;

let mmap: Mmap | undefined;
let heapTrim: (() => void) | undefined;
let isProbed = false;

/** The system's mmap; undefined where files cannot be mapped. */
function findMmap(): Mmap | undefined {
  if (isProbed) return mmap;
  isProbed = true;
  if (process.platform !== 'linux') return undefined;
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    const libc = koffi.load(null);
    mmap = libc.func(
      'intptr_t mmap(void *address, size_t size, int protection, int flags, int file, int64_t offset)',
    ) as Mmap;
    heapTrim = bindHeapTrim(libc);
  } catch {
    mmap = undefined;
  }
  return mmap;
}

/** glibc has it, other C libraries do not. */
function bindHeapTrim(libc: import('koffi').LibraryHandle): (() => void) | undefined {
  try {
    const trim = libc.func('int malloc_trim(size_t keep)');
    return () => void trim(0);
  } catch {
    return undefined;
  }
}

/** Gives free memory of the C heaps of all threads back to the system; undefined where that cannot be done. */
export function findHeapTrim(): (() => void) | undefined {
  findMmap();
  return heapTrim;
}

/** Whether files can be mapped here. */
export function canMap(): boolean {
  return findMmap() !== undefined;
}

/**
 * Places the whole file at `address` of `memory`.
 *
 * @param size      bytes that the caller has kept free there; the file must have exactly as many
 * @param wantsRead read in even where mapping is possible
 * Errors: throws if the file has another size or cannot be read.
 */
export function placeFile(
  memory: WebAssembly.Memory,
  address: number,
  path: string,
  size: number,
  wantsRead: boolean,
): MappingKind {
  const file = openSync(path, 'r');
  try {
    const actual = fstatSync(file).size;
    if (actual !== size) throw new Error(`${path}: ${actual} bytes, expected ${size}`);
    if (!wantsRead && mapRange(memory, address, size, file)) return 'mapped';
    readRange(memory, address, size, file);
    return 'read';
  } finally {
    closeSync(file);
  }
}

function mapRange(
  memory: WebAssembly.Memory,
  address: number,
  size: number,
  file: number,
): boolean {
  const call = findMmap();
  if (call === undefined) return false;
  const range = new Uint8Array(memory.buffer, address, size);
  return Number(call(range, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0)) !== -1;
}

function readRange(memory: WebAssembly.Memory, address: number, size: number, file: number): void {
  const range = new Uint8Array(memory.buffer, address, size);
  let done = 0;
  while (done < size) {
    const count = readSync(file, range, done, Math.min(size - done, 1 << 30), done);
    if (count === 0) throw new Error(`file ended after ${done} of ${size} bytes`);
    done += count;
  }
}

/** Gives up what placeFile put at `address`: the pages are free again and read as zeros. */
export function releaseRange(memory: WebAssembly.Memory, address: number, size: number): void {
  const call = findMmap();
  const range = new Uint8Array(memory.buffer, address, size);
  if (call === undefined) {
    range.fill(0);
    return;
  }
  const flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
  const result = Number(call(range, size, PROT_READ | PROT_WRITE, flags, -1, 0));
  if (result === -1) throw new Error('memory could not be released');
}

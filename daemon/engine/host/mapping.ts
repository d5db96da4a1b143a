// Places shard files in linear memory: mapped read-only (all workers share the page cache), or read where that is impossible.
// Rules that keep V8 alive: MAP_FIXED only; memories never grow; released ranges become fresh anonymous memory.

import { closeSync, constants, fstatSync, readFileSync, readSync } from 'node:fs';
import { openOwn } from '../../base/own-file.ts';
import { loadLibc } from '../../base/libc.ts';

/** A multiple of every system's page size. */
export const MAPPING_ALIGNMENT = 65536;

export type MappingKind = 'mapped' | 'read';

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
const MAP_PRIVATE = 2;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
/** As V8 does: the machine may have less memory than one whole reservation. */
const MAP_NORESERVE = 0x4000;
const MADV_RANDOM = 1;
const MADV_WILLNEED = 3;
const MADV_DONTNEED = 4;
const MADV_POPULATE_READ = 22;

type Mmap = (address: Uint8Array, ...numbers: number[]) => number | bigint;

type Madvise = (address: Uint8Array, size: number, advice: number) => number;

/** Writes a byte for each page; lowest bit: it is in memory. */
type Mincore = (address: Uint8Array, size: number, pages: Uint8Array) => number;

/** The process or the system is at its limit. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

let mmap: Mmap | undefined;
let madvise: Madvise | undefined;
let mincore: Mincore | undefined;
let errno: (() => number) | undefined;
let pageSize = MAPPING_ALIGNMENT;
let heapTrim: (() => void) | undefined;
let isProbed = false;

/** Undefined where files cannot be mapped. */
function findMmap(): Mmap | undefined {
  if (isProbed) return mmap;
  isProbed = true;
  if (process.platform !== 'linux') return undefined;
  try {
    const { functions: libc, errno: lastError } = loadLibc();
    mmap = libc.func(
      'intptr_t mmap(void *address, size_t size, int protection, int flags, int file, int64_t offset)',
    ) as Mmap;
    madvise = libc.func('int madvise(void *address, size_t size, int advice)') as Madvise;
    mincore = libc.func('int mincore(void *address, size_t size, void *pages)') as Mincore;
    errno = lastError;
    pageSize = Number(libc.func('int getpagesize()')());
    heapTrim = bindHeapTrim(libc);
  } catch {
    mmap = undefined;
  }
  return mmap;
}

/** Options of mallopt, and the bytes for both. */
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;
const FREE_SIZE_MAX = 4 << 20;

/**
 * Also fixes how much free memory a thread keeps at the end of its C heap, which trimming leaves alone. Without it glibc raises
 * the limit to twice the largest freed block. Only glibc has both.
 */
function bindHeapTrim(libc: import('koffi').LibraryHandle): (() => void) | undefined {
  try {
    const setOption = libc.func('int mallopt(int option, int value)');
    for (const option of [M_TRIM_THRESHOLD, M_MMAP_THRESHOLD]) setOption(option, FREE_SIZE_MAX);
    const trim = libc.func('int malloc_trim(size_t keep)');
    return () => void trim(0);
  } catch {
    return undefined;
  }
}

/** Returns free memory of all threads' C heaps to the system; undefined where unsupported. */
export function findHeapTrim(): (() => void) | undefined {
  findMmap();
  return heapTrim;
}

/** For threads that others may terminate: termination while a native library loads kills the process. */
export function loadMapping(): void {
  findMmap();
}

export function canMap(): boolean {
  return findMmap() !== undefined;
}

/** In bytes; addresses of mappings are multiples of it. */
export function systemPageSize(): number {
  findMmap();
  return pageSize;
}

/** Per process; undefined: unknown. */
export function mappingLimit(): number | undefined {
  try {
    return Number(readFileSync('/proc/sys/vm/max_map_count', 'latin1'));
  } catch {
    return undefined;
  }
}

/** Stops reading ahead. Measured on a disk that reads 8 MB ahead: a rare word took 13 ms with it, 259 ms without. */
export function expectLookups(memory: WebAssembly.Memory, address: number, size: number): void {
  advise(memory, address, size, MADV_RANDOM);
}

export function willNeed(memory: WebAssembly.Memory, address: number, size: number): void {
  advise(memory, address, size, MADV_WILLNEED);
}

/** Whole pages of private memory, which then read as zeros. */
export function emptyRange(memory: WebAssembly.Memory, address: number, size: number): void {
  advise(memory, address, size, MADV_DONTNEED);
}

const residency = new Uint8Array(1);

/** True where unknown. */
export function isInMemory(memory: WebAssembly.Memory, address: number): boolean {
  if (findMmap() === undefined || mincore === undefined) return true;
  const page = new Uint8Array(memory.buffer, address - (address % pageSize), 1);
  return mincore(page, 1, residency) !== 0 || (residency[0]! & 1) === 1;
}

/** Bytes of the range that are in memory; 0 where unknown. Measured 2026-11-29: 0.25 ms for 1 GiB. */
export function residentSize(memory: WebAssembly.Memory, address: number, size: number): number {
  if (findMmap() === undefined || mincore === undefined) return 0;
  const pages = Buffer.alloc(Math.ceil(size / pageSize));
  if (mincore(new Uint8Array(memory.buffer, address, size), size, pages) !== 0) return 0;
  let count = 0;
  // Run by run: a loop over all pages takes 10 ms until it is optimised.
  for (let start = pages.indexOf(1); start >= 0;) {
    const end = pages.indexOf(0, start);
    count += (end < 0 ? pages.length : end) - start;
    start = end < 0 ? end : pages.indexOf(1, end);
  }
  return count * pageSize;
}

/** `lost`: touching a page would end the process; `starved`: no memory now; `in` also where unknown (Linux before 5.14). */
export function bringIn(
  memory: WebAssembly.Memory,
  address: number,
  size: number,
): 'in' | 'lost' | 'starved' {
  const code = advise(memory, address, size, MADV_POPULATE_READ);
  if (code === 0 || code === EINVAL) return 'in';
  return [EINTR, EAGAIN, ENOMEM].includes(code) ? 'starved' : 'lost';
}

const EINTR = 4;
const EAGAIN = 11;
const ENOMEM = 12;
const EINVAL = 22;

/** 0, or the error. */
function advise(memory: WebAssembly.Memory, address: number, size: number, advice: number): number {
  if (findMmap() === undefined || madvise === undefined || size === 0) return 0;
  const start = address - (address % pageSize);
  // The call rounds the end up; a view must not exceed the memory.
  const end = Math.min(address + size, memory.buffer.byteLength);
  const range = new Uint8Array(memory.buffer, start, end - start);
  return madvise(range, range.length, advice) === 0 ? 0 : (errno?.() ?? EINVAL);
}

/** `size`: the file's exact size, reserved by the caller. Errors: MappingError; another size, or the file cannot be read. */
export function mapFile(
  memory: WebAssembly.Memory,
  address: number,
  path: string,
  size: number,
  wantsRead: boolean,
): MappingKind {
  const file = openOwn(path);
  try {
    const actual = fstatSync(file).size;
    if (actual !== size) throw new Error(`${path}: ${actual} bytes, expected ${size}`);
    if (!wantsRead && canMap()) {
      const range = new Uint8Array(memory.buffer, address, size);
      const result = findMmap()?.(range, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
      if (Number(result) !== -1) return 'mapped';
      throw new MappingError(`${path} could not be mapped (error ${errno?.()} of mmap)`);
    }
    readRange(memory, address, size, file);
    return 'read';
  } finally {
    closeSync(file);
  }
}

/** Whether files of this total size are read for a single use, not mapped. Bound: private memory. */
export function isBrief(size: number): boolean {
  return size <= 16 * 2 ** 20;
}

/** As `mapFile`, for a single use in a memory dropped afterwards. Reads small files: faster, and needs no mapping. */
export function mapBriefly(
  memory: WebAssembly.Memory,
  address: number,
  path: string,
  size: number,
): void {
  mapFile(memory, address, path, size, isBrief(size));
}

/**
 * Maps a file over the start of a memory; writes reach the file even if the process dies. False where files cannot be mapped.
 * Errors: MappingError; the file system's.
 */
export function mapShared(memory: WebAssembly.Memory, path: string, size: number): boolean {
  const call = findMmap();
  if (call === undefined) return false;
  const file = openOwn(path, constants.O_RDWR);
  try {
    const range = new Uint8Array(memory.buffer, 0, size);
    const result = call(range, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    if (Number(result) === -1) throw new MappingError(`${path} could not be mapped`);
    return true;
  } finally {
    closeSync(file);
  }
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

/** The pages of a file placed by mapFile are free again and read as zeros. */
export function releaseRange(memory: WebAssembly.Memory, address: number, size: number): void {
  const call = findMmap();
  const range = new Uint8Array(memory.buffer, address, size);
  if (call === undefined) {
    range.fill(0);
    return;
  }
  const flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
  const result = Number(call(range, size, PROT_READ | PROT_WRITE, flags, -1, 0));
  if (result === -1) throw new Error('memory could not be released');
}

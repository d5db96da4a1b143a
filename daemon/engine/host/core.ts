// Loads the core's compiled module, creates instances with their own memory, and types their exports. Only this file and
// mapping.ts use WebAssembly.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import * as status from '../../../core/shared/status.ts';
import { builtFile } from '../../base/program-files.ts';
import { giveMemoryBack } from './collect.ts';
import { canMap, releaseRange } from './mapping.ts';

interface CoreVariable {
  readonly value: number;
}

/** Of core/abi.ts. Addresses are bytes in the instance's memory. */
export interface CoreExports {
  heapBase(): number;
  shardViewSize(): number;
  coreInit(): void;
  requestArenaInit(start: number, end: number): void;
  openShard(base: number, size: number, view: number): number;
  verifiedPagesSize(): number;
  pagesInit(bitmap: number): void;
  forgetPages(start: number, end: number): void;
  arePagesValid(base: number, headSize: number, sums: number, start: number, end: number): number;
  sumPages(base: number, headSize: number, end: number, out: number): void;
  openFailSection: CoreVariable;
  openFailIndex: CoreVariable;
  headerChecksum(base: number): bigint;
  checksum(ptr: number, size: number): bigint;
  planCompile(plan: number, size: number): number;
  testNames(program: number, size: number, rows: number, count: number, out: number): number;
  regexEngine(program: number, size: number, isTest: number): number;
  docSetSize(view: number): number;
  docSetsInit(view: number, count: number, bitmapCount: number): number;
  hasHeads(view: number): number;
  planBind(view: number, mayBePart: number, stats: number): number;
  planBindHeads(view: number, stats: number): number;
  planBindDocs(view: number, ids: number, count: number): number;
  searchUnit(unit: number, out: number, stats: number, keptSize: number): number;
  scoreDoc(docId: number, out: number): number;
  renderDocs(
    requests: number,
    count: number,
    links: number,
    contextLines: number,
    returnsContent: number,
    out: number,
    outEnd: number,
  ): number;
  renderedLoadCount: CoreVariable;
  nodeCounts: CoreVariable;
  printTree(out: number): number;
  builderInit(start: number, end: number): number;
  builderBegin(): void;
  builderAddBlob(start: number, size: number, trigramMax: number): number;
  builderClose(): number;
  builderFinish(contentBase: number, blobBase: number, blockBase: number): void;
  builderContentSize: CoreVariable;
  builderBlobCount: CoreVariable;
  builderBlockCount: CoreVariable;
  builderSegmentCount: CoreVariable;
  builderSegmentEnd(index: number): number;
  builderOutput: CoreVariable;
  builderBlockRows: CoreVariable;
  builderBlobRows: CoreVariable;
  builderCaseMarks: CoreVariable;
  mergeBegin(tables: number): void;
  mergeAddSegment(ptr: number): void;
  mergeStep(out: number, outEnd: number): number;
  mergeFinish(): number;
  mergeKeys: CoreVariable;
  mergeLists: CoreVariable;
  pathGramsBuild(paths: number, ends: number, docCount: number, scratch: number): void;
  pathKeys: CoreVariable;
  pathRows: CoreVariable;
  pathKeyCount: CoreVariable;
  pathRowSize: CoreVariable;
  openSymbols(base: number, size: number, view: number): number;
  verifySymbols(base: number, view: number, bitmap: number): number;
  symbolsHeaderChecksum(base: number): bigint;
  symbolsBegin(view: number, start: number, end: number): number;
  symbolsAddBlob(blobId: number, input: number, count: number): number;
  symbolsFinish(): number;
  symbolsCount: CoreVariable;
  symbolsNameCount: CoreVariable;
  symbolsStarts: CoreVariable;
  symbolsRows: CoreVariable;
  symbolsRowsEnd: CoreVariable;
  symbolsNameOffsets: CoreVariable;
  symbolsNameSizes: CoreVariable;
  symbolsNameLists: CoreVariable;
  symbolsLists: CoreVariable;
  symbolsListsEnd: CoreVariable;
  verifyChecksums(view: number): number;
  verifyPathGrams(view: number, scratch: number): number;
  verifySegment(view: number, segment: number, scratch: number): number;
  verifySegmentSum(view: number, segment: number, sum: bigint, scratch: number): number;
  verifyFailIndex: CoreVariable;
  verifyScratchSize(): number;
  listBlocks(view: number, text: number, size: number, bitmap: number): number;
}

/** Whether a call of the core should end early. Must not call the core. */
export type StopTest = () => boolean;

export const neverStops: StopTest = () => false;

/** `heapStart`: the first address that the host may use. */
export interface Core {
  readonly exports: CoreExports;
  readonly memory: WebAssembly.Memory;
  /** Views of the whole memory: a search would make dozens of its own. */
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly data: DataView;
  readonly heapStart: number;
  /** Called during long calls (core/base/work.ts). */
  isStopRequested: StopTest;
  pages: PageHost | undefined;
}

/** Called by the core before it reads pages of shards (core/shard/pages.ts). Addresses and sizes in bytes. */
export interface PageHost {
  /** Whole pages of the file at `base`; returns a PAGES_ number of core/shared/status.ts. */
  bringIn(base: number, address: number, size: number): number;
  noteChecked(base: number, address: number, size: number): void;
  willNeed(address: number, size: number): void;
  /** The error to throw for a damaged page. The instance stays usable. */
  damageAt(address: number): Error;
}

/** Of every memory, in pages of 64 KiB: 4 GiB, the maximum. */
export const MEMORY_PAGES = 65536;

const MODULE_FILE = fileURLToPath(builtFile('core.release.wasm'));

/**
 * Must run before any other WebAssembly of the process is compiled.
 *
 * @param isForOneSearch  the process ends with its first search, before optimized code pays
 */
export async function compileCore(
  file: string = MODULE_FILE,
  isForOneSearch = false,
): Promise<WebAssembly.Module> {
  // A process for one search keeps its compiled code (scripts/main.cjs). V8 refuses code made under other flags than those with
  // which the next process begins.
  if (!isForOneSearch) {
    // V8 does not replace a running function by its optimised version: first scans would run at half speed (core/DECISIONS.md).
    v8.setFlagsFromString('--no-liftoff');
    // The heap may grow threefold before it is collected. V8's own factor counts the bytes of a large answer as growth, and
    // collected the whole heap for nearly each one (daemon/DECISIONS.md, 2026-11-28).
    v8.setFlagsFromString('--heap-growing-percent=200');
  }
  return WebAssembly.compile(readFileSync(file));
}

/** Kept, at most four, as a memory holds two mappings until it is collected. */
const spare: WebAssembly.Memory[] = [];
const dropped = new WeakSet<Core>();

/**
 * Never grows. Shared, although no other thread has it: V8 counts an unshared memory as future garbage, and each new one
 * triggers a collection of all objects of the thread (daemon/DECISIONS.md, 2026-11-26).
 */
function takeMemory(): WebAssembly.Memory {
  const size = { initial: MEMORY_PAGES, maximum: MEMORY_PAGES };
  return spare.pop() ?? new WebAssembly.Memory({ ...size, shared: true });
}

export function instantiateCore(module: WebAssembly.Module): Core {
  const memory = takeMemory();
  const imports = {
    env: {
      memory,
      abort: reportAbort,
      isStopRequested: () => core.isStopRequested(),
      bringIn: (base: number, address: number, size: number) =>
        core.pages?.bringIn(base >>> 0, address >>> 0, size >>> 0),
      noteChecked: (base: number, address: number, size: number) =>
        core.pages?.noteChecked(base >>> 0, address >>> 0, size >>> 0),
      willNeed: (address: number, size: number) => core.pages?.willNeed(address >>> 0, size >>> 0),
      refusePage: (address: number) => {
        throw core.pages?.damageAt(address >>> 0) ?? new CoreTrap('a page was refused');
      },
    },
  };
  const instance = new WebAssembly.Instance(module, imports);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: core/abi.ts exports these.
  const exports = instance.exports as unknown as CoreExports;
  exports.coreInit();
  const heapStart = Math.ceil(exports.heapBase() / 65536) * 65536;
  const { buffer } = memory;
  const core: Core = {
    exports,
    memory,
    bytes: Buffer.from(buffer),
    words: new Uint32Array(buffer),
    data: new DataView(buffer),
    heapStart,
    isStopRequested: neverStops,
    pages: undefined,
  };
  return core;

  function reportAbort(message: number, file: number, line: number, column: number): never {
    const text = `${assemblyText(memory, message)} (${assemblyText(memory, file)}:${line}:${column})`;
    throw new CoreTrap(`assertion of the core failed: ${text}`);
  }
}

/** The memory is reused, so no view of it may be used; with `isRead` it is not, and views read as zeros. */
export function dropCore(core: Core, isRead = false): void {
  // If dropped twice, its memory would be given to two instances.
  if (dropped.has(core)) return;
  dropped.add(core);
  const { memory } = core;
  if (!tryRelease(memory)) giveMemoryBack();
  else if (!isRead && spare.length < 4) spare.push(memory);
}

/** False: the system refuses. Not an error, which would hide the caller's. */
function tryRelease(memory: WebAssembly.Memory): boolean {
  if (!canMap()) return false;
  try {
    releaseRange(memory, 0, memory.buffer.byteLength);
    return true;
  } catch {
    return false;
  }
}

/** The instance must not be used again. */
export class CoreTrap extends Error {}

export function isTrap(error: unknown): boolean {
  return error instanceof CoreTrap || error instanceof WebAssembly.RuntimeError;
}

/** UTF-16, its size in bytes 4 bytes before it. */
function assemblyText(memory: WebAssembly.Memory, ptr: number): string {
  if (ptr === 0) return '';
  const size = new DataView(memory.buffer).getUint32(ptr - 4, true);
  return Buffer.from(memory.buffer, ptr, size).toString('utf16le');
}

/** `STATUS_FRAME` -> `frame`. */
export function statusName(code: number): string {
  for (const [name, value] of Object.entries(status))
    if (value === code) return name.replace('STATUS_', '').toLowerCase().replaceAll('_', ' ');
  return `status ${code}`;
}

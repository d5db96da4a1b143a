// Checks every byte of a shard file (core/shard/verify.ts), after every build and in `trawl verify`.

import { statSync } from 'node:fs';
import { STATUS_OK } from '../../../core/shared/status.ts';
import { HEADER_BLOCK_COUNT_OFFSET, SEGMENT_BLOCKS } from '../../../core/shared/format.ts';
import { type Core, dropCore, instantiateCore, MEMORY_PAGES, statusName } from './core.ts';
import { MAPPING_ALIGNMENT, mapBriefly } from './mapping.ts';

/** Bytes that fit into memory beside the scratch area. */
const FILE_SIZE_MAX = 0xe0000000;
/** Memory for the core's sets and lists, in pages of 64 KiB. */
const SCRATCH_PAGES = 256;

/**
 * The fault of a shard file; undefined: it is valid. Errors: the file cannot be read. Cost: a quarter of building its
 * postings with sums, else the same.
 * @param sums  of each segment's postings, from the build; without them the grams of every block are extracted again
 */
export function verifyShardFile(
  module: WebAssembly.Module,
  path: string,
  sums?: readonly bigint[],
): string | undefined {
  const { size } = statSync(path);
  if (size > FILE_SIZE_MAX) return `too large: ${size} bytes`;
  const core = instantiateCore(module);
  const base = core.heapStart + 65536 + SCRATCH_PAGES * 65536;
  try {
    mapBriefly(core.memory, base, path, size);
    return checkTables(core, base, size) ?? checkSegments(core, base, sums);
  } finally {
    dropCore(core);
  }
}

/** The fault of a symbols file; undefined: it is valid. Errors: a file cannot be read. */
export function verifySymbolsFile(
  module: WebAssembly.Module,
  shardPath: string,
  path: string,
): string | undefined {
  const [shardSize, size] = [statSync(shardPath).size, statSync(path).size];
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  const base = heapStart + 65536 + SCRATCH_PAGES * 65536;
  const start = Math.ceil((base + shardSize) / 65536) * 65536;
  try {
    if (start + size > MEMORY_PAGES * 65536) return `too large: ${size} bytes`;
    mapBriefly(memory, base, shardPath, shardSize);
    mapBriefly(memory, start, path, size);
    const status =
      exports.openShard(base, shardSize, heapStart) ||
      exports.openSymbols(start, size, heapStart) ||
      exports.verifySymbols(start, heapStart, heapStart + 65536);
    if (status === STATUS_OK) return undefined;
    return `${statusName(status)} (${positionOf(core)})`;
  } finally {
    dropCore(core);
  }
}

function positionOf({ exports }: Core): string {
  return `section ${exports.openFailSection.value >>> 0}, row ${exports.openFailIndex.value >>> 0}`;
}

/** The fault of a failed status. */
function faultOf(status: number, { exports }: Core, place: string): string | undefined {
  if (status === STATUS_OK) return undefined;
  return `${statusName(status)} (${place}${exports.verifyFailIndex.value >>> 0})`;
}

function checkTables(core: Core, base: number, size: number): string | undefined {
  const { exports, heapStart } = core;
  const opened = exports.openShard(base, size, heapStart);
  if (opened !== STATUS_OK) return `${statusName(opened)} (${positionOf(core)})`;
  // The mapping ends at a multiple of that.
  const scratch = Math.ceil((base + size) / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
  return (
    faultOf(exports.verifyChecksums(heapStart), core, 'section ') ??
    faultOf(exports.verifyPathGrams(heapStart, scratch), core, 'section ')
  );
}

function checkSegments(
  core: Core,
  base: number,
  sums: readonly bigint[] | undefined,
): string | undefined {
  const { exports, memory, heapStart } = core;
  const scratch = heapStart + 65536;
  if (exports.verifyScratchSize() > SCRATCH_PAGES * 65536)
    throw new Error('scratch memory too small');
  const blockCount = new DataView(memory.buffer).getUint32(base + HEADER_BLOCK_COUNT_OFFSET, true);
  for (let segment = 0; segment * SEGMENT_BLOCKS < blockCount; segment++) {
    const sum = sums?.[segment];
    const status =
      sum === undefined
        ? exports.verifySegment(heapStart, segment, scratch)
        : exports.verifySegmentSum(heapStart, segment, sum, scratch);
    const fault = faultOf(status, core, `segment ${segment}, row `);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

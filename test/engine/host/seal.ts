// Makes a shard file whose bytes were changed look sound: sums of sections, of pages and of the header are made anew, so
// that what reads it meets what no check has caught.

import {
  HEADER_CHECKSUM_OFFSET,
  HEADER_SECTIONS_OFFSET,
  HEADER_SIZE,
  SECTION_CHECKSUM_OFFSET,
  SECTION_PAGE_SUMS,
  SECTION_ROW_SIZE,
} from '../../../core/shared/format.ts';
import { dropCore, instantiateCore } from '../../../daemon/engine/host/core.ts';
import { ShardTables } from '../../../daemon/engine/shards/tables.ts';

/** @param changed  kind of the section whose bytes were changed */
export function sealShard(module: WebAssembly.Module, bytes: Buffer, changed: number): void {
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  const space = new Uint8Array(memory.buffer);
  const sealSection = (kind: number): void => {
    const { start, size } = new ShardTables(bytes).section(kind);
    space.set(bytes.subarray(start, start + size), heapStart);
    const row = HEADER_SECTIONS_OFFSET + (kind - 1) * SECTION_ROW_SIZE;
    const checksum = BigInt.asUintN(64, exports.checksum(heapStart, size));
    bytes.writeBigUInt64LE(checksum, row + SECTION_CHECKSUM_OFFSET);
  };
  sealSection(changed);
  const sums = new ShardTables(bytes).section(SECTION_PAGE_SUMS);
  const base = heapStart + 65_536;
  space.set(bytes, base);
  exports.sumPages(base, HEADER_SIZE, base + sums.start, heapStart);
  bytes.set(space.subarray(heapStart, heapStart + sums.size), sums.start);
  sealSection(SECTION_PAGE_SUMS);
  space.set(bytes.subarray(0, HEADER_SIZE), heapStart);
  const headerChecksum = BigInt.asUintN(64, exports.headerChecksum(heapStart));
  bytes.writeBigUInt64LE(headerChecksum, HEADER_CHECKSUM_OFFSET);
  dropCore(core);
}

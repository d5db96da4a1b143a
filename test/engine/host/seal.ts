// For tests of damaged files: recomputes the checksums of a changed shard, so that readers meet undetected damage;
// and all that searches of a file return.

import { NO_SCORE } from '../../../core/shared/plan.ts';
import {
  HEADER_CHECKSUM_OFFSET,
  HEADER_SECTIONS_OFFSET,
  HEADER_SIZE,
  SECTION_CHECKSUM_OFFSET,
  SECTION_PAGE_SUMS,
  SECTION_ROW_SIZE,
} from '../../../core/shared/format.ts';
import { dropCore, instantiateCore } from '../../../daemon/engine/host/core.ts';
import { PlanError, type EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import type { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { ShardError } from '../../../daemon/engine/host/space.ts';
import { LINKS } from './harness.ts';
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

/** All rows and texts that each plan gives, or that it was refused. Throws where the core traps. */
export function answersOf(
  searcher: Searcher,
  shardId: string,
  plans: readonly EncodedPlan[],
  returnsContent: boolean,
): string[] {
  const options = {
    links: [LINKS],
    ends: [],
    contextLines: returnsContent ? 1 : 0,
    returnsContent,
  };
  return plans.map((plan) => {
    try {
      searcher.beginPlan(plan);
      const { unitCount } = searcher.bind(shardId);
      const rows: string[] = [];
      for (let unit = 0; unit < unitCount; unit++) {
        const found = searcher.searchUnit(unit).rows;
        for (let i = 0; i < found.length; i += 4) {
          const requests = Uint32Array.of(found[i]!, 1000, 0, 0, NO_SCORE, 0);
          const { json } = searcher.render(requests, new Uint32Array(), options)!;
          rows.push(`${found[i]} ${found[i + 1]} ${Buffer.from(json).toString()}`);
        }
      }
      return rows.join('\n');
    } catch (error) {
      if (error instanceof ShardError || error instanceof PlanError) return 'refused';
      throw error;
    }
  });
}

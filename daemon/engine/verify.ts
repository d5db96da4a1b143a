// Checks every byte of a shard file: opens it in an instance of its own, then checksums, blocks and
// postings (core/shard/verify.ts). Used after every build and by `trawl verify`.

import { statSync } from 'node:fs';
import { STATUS_OK } from '../../core/shared/status.ts';
import { HEADER_BLOCK_COUNT_OFFSET, STRIPE_BLOCKS } from '../../core/shared/format.ts';
import { instantiateCore, statusName } from './core.ts';
import { placeFile } from './mapping.ts';

/** Memory for the core's sets and lists, in pages of 64 KiB. */
const SCRATCH_PAGES = 256;

/**
 * What is wrong with the shard file, in words; undefined if it is sound.
 *
 * Errors: throws if the file cannot be read. Cost: about as long as building its postings.
 */
export function verifyShardFile(module: WebAssembly.Module, path: string): string | undefined {
  const { size } = statSync(path);
  if (size > 0xe0000000) return `too large: ${size} bytes`;
  const pages = 64 + SCRATCH_PAGES + Math.ceil(size / 65536) + 2;
  const { exports, memory, heapStart } = instantiateCore(module, pages);
  if (exports.verifyScratchSize() > SCRATCH_PAGES * 65536)
    throw new Error('scratch memory too small');
  const scratch = heapStart + 65536;
  const base = scratch + SCRATCH_PAGES * 65536;
  placeFile(memory, base, path, size, false);
  const opened = exports.openShard(base, size, heapStart);
  if (opened !== STATUS_OK) {
    const place = `section ${exports.openFailSection() >>> 0}, row ${exports.openFailIndex() >>> 0}`;
    return `${statusName(opened)} (${place})`;
  }
  const sums = exports.verifyChecksums(heapStart);
  if (sums !== STATUS_OK) return `${statusName(sums)} (section ${exports.verifyFailIndex() >>> 0})`;
  const blockCount = new DataView(memory.buffer).getUint32(base + HEADER_BLOCK_COUNT_OFFSET, true);
  for (let stripe = 0; stripe * STRIPE_BLOCKS < blockCount; stripe++) {
    const status = exports.verifyStripe(heapStart, stripe, scratch);
    if (status !== STATUS_OK) {
      return `${statusName(status)} (stripe ${stripe}, row ${exports.verifyFailIndex() >>> 0})`;
    }
  }
  return undefined;
}

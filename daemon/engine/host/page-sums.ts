// Page sums of a file being written (core/FORMAT.md, "Page sums"), read from the file, to match what a reader gets.

import { PAGE_SIZE } from '../../../core/shared/format.ts';
import { dropCore, instantiateCore } from './core.ts';
import { mapBriefly } from './mapping.ts';

/** Reads the file once; throws if it cannot. `headSize`: bytes of its header, which has its own checksum. */
export function sumPagesOf(
  module: WebAssembly.Module,
  path: string,
  size: number,
  headSize: number,
): Uint8Array {
  const sumsSize = Math.ceil(size / PAGE_SIZE) * 4;
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  const base = heapStart + Math.ceil(sumsSize / 65536) * 65536;
  try {
    mapBriefly(memory, base, path, size);
    exports.sumPages(base, headSize, base + size, heapStart);
    return new Uint8Array(memory.buffer, heapStart, sumsSize).slice();
  } finally {
    dropCore(core);
  }
}

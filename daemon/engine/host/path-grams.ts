// Builds the path grams of a shard being written (core/shard/path-grams.ts).

import { dropCore, instantiateCore } from './core.ts';

/** As in the sections of a shard. */
export interface PathGrams {
  readonly keys: Uint8Array;
  readonly rows: Uint8Array;
}

/**
 * @param paths  concatenated
 * @param ends   end of each, in bytes from the start of the first
 */
export function pathGramsOf(
  module: WebAssembly.Module,
  paths: Uint8Array,
  ends: Uint32Array,
): PathGrams {
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  try {
    const endsStart = heapStart + Math.ceil(paths.length / 64 + 1) * 64;
    const scratch = endsStart + Math.ceil(ends.length / 16 + 1) * 64;
    new Uint8Array(memory.buffer).set(paths, heapStart);
    new Uint32Array(memory.buffer).set(ends, endsStart / 4);
    exports.pathGramsBuild(heapStart, endsStart, ends.length, scratch);
    const count = exports.pathKeyCount.value >>> 0;
    const copy = (start: number, size: number): Uint8Array =>
      new Uint8Array(memory.buffer, start >>> 0, size).slice();
    return {
      keys: copy(exports.pathKeys.value, count * 4),
      rows: copy(exports.pathRows.value, count * exports.pathRowSize.value),
    };
  } finally {
    dropCore(core);
  }
}

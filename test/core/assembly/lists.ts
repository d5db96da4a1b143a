// Entry file of the tests of frames, of the gram dictionary and of the order of names: exports their
// functions as they are.

import { ShardView, shardViewSize } from '../../../core/shard/view';

export function heapBase(): usize {
  return __heap_base;
}

export { decodeFrame, encodeFrame } from '../../../core/shard/frame';
export { lowerGram, lowerGrams } from '../../../core/shard/lists';
export { compareFolded } from '../../../core/shard/symbols';
export { compareFoldedScalar } from './scalar';

/** A view at `ptr` of a shard with only a dictionary: `count` ascending keys, u32 each. */
export function makeView(ptr: usize, keys: usize, count: u32): ShardView {
  memory.fill(ptr, 0, shardViewSize());
  const view = changetype<ShardView>(ptr);
  view.gramKeys = <u32>keys;
  view.gramCount = count;
  return view;
}

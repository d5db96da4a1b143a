// The first part of a shard: the docs of the first segments in which a literal has many blocks. Where
// a search has a limit, which it then nearly always reaches, only these are bound: reading all lists
// of a shard, and listing all candidates, would take most of the time.
// Its units are the first units of the whole shard's binding.

import { Arena } from '../base/arena.ts';
import { blobAt } from '../shard/open.ts';
import { ShardView } from '../shard/view.ts';
import { SEGMENT_BLOCKS } from '../shared/format.ts';
import { NODE_REGEX } from '../shared/plan.ts';
import { addDocsOfBlob, boundView, newDocBitmap } from './bound.ts';
import { leafAt, slotLeaves } from './node.ts';

/**
 * Whether the part may be bound alone. With several literals the order is that of all docs
 * (candidate-order.ts).
 */
export function mayHaveParts(view: ShardView): bool {
  return slotLeaves.count == 1 && view.blockCount > SEGMENT_BLOCKS;
}

/**
 * Guess: so many blocks of a literal, or of what an expression requires, have more matches than a
 * usual limit.
 */
const TEXT_BLOCKS: u32 = 256;
const REGEX_BLOCKS: u32 = 1024;

/** How many blocks are enough for a first part. Precondition: mayHaveParts. */
export function partBlocks(): u32 {
  return leafAt(slotLeaves, 0).kind == NODE_REGEX ? REGEX_BLOCKS : TEXT_BLOCKS;
}

/** The docs whose content is in the first `segments` segments; 0: failStatus is set. */
export function firstPart(arena: Arena, segments: u32): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return 0;
  for (let blobId: u32 = 0; blobId < boundView.blobCount; blobId++) {
    const blob = blobAt(boundView, blobId);
    if (blob.firstBlock + blob.blockCount > segments * SEGMENT_BLOCKS) break;
    addDocsOfBlob(docs, blobId);
  }
  return docs;
}

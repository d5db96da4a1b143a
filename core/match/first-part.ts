// The first part of a shard: the docs whose contents are in its first segment. A literal that is in
// most contents is bound to it alone where a search has a limit, which it nearly always reaches:
// reading all lists of a shard, and listing all candidates, would take most of the time.
// Its units are the first units of the whole shard's binding.

import { Arena } from '../base/arena.ts';
import { setBit } from '../base/bits.ts';
import { blobAt, docAt } from '../shard/open.ts';
import { ShardView } from '../shard/view.ts';
import { NONE_ID, SEGMENT_BLOCKS } from '../shared/format.ts';
import { addDocsFrom, boundView, newDocBitmap } from './bound.ts';
import { slotLeaves } from './node.ts';

/**
 * Whether the part may be bound alone. With several literals the order is that of all docs
 * (candidate-order.ts).
 */
export function mayHaveParts(view: ShardView): bool {
  return slotLeaves.count == 1 && view.blockCount > SEGMENT_BLOCKS;
}

/**
 * The docs before the first one that has content in another segment, each with all docs of the same
 * content; 0: failStatus is set.
 */
export function firstPart(arena: Arena): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return 0;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    const blobId = docAt(boundView, docId).blobId;
    if (blobId == NONE_ID) {
      setBit(docs, docId);
      continue;
    }
    const blob = blobAt(boundView, blobId);
    if (blob.firstBlock + blob.blockCount > SEGMENT_BLOCKS) break;
    addDocsFrom(docs, docId);
  }
  return docs;
}

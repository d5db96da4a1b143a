// The first part of a shard: the docs of the first segments in which a literal has many blocks. Where
// a search has a limit, which it then nearly always reaches, only these are bound: reading all lists
// of a shard, and listing all candidates, would take most of the time.
// Its units are the first units of the whole shard's binding.

import { Arena } from '../base/arena.ts';
import { blobAt } from '../shard/open.ts';
import { ShardView } from '../shard/view.ts';
import { BITMAP_SIZE, SEGMENT_BLOCKS } from '../shared/format.ts';
import { NODE_REGEX } from '../shared/plan.ts';
import { STATUS_STOPPED } from '../shared/status.ts';
import {
  addDocsOfBlob,
  boundView,
  countIndexBytes,
  failStatus,
  indexBytes,
  newDocBitmap,
  partSegments,
  setPartSegments,
} from './bound.ts';
import { leafAt, MatchNode, slotLeaves } from './node.ts';

/**
 * Whether the part may be bound alone. With several literals the order is that of all docs
 * (candidate-order.ts).
 */
export function mayHaveParts(view: ShardView): bool {
  return slotLeaves.count == 1 && view.blockCount > SEGMENT_BLOCKS;
}

/** The address of the only leaf with ranges. Precondition: mayHaveParts. */
export function loneLeaf(): usize {
  return changetype<usize>(leafAt(slotLeaves, 0));
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

/**
 * The candidate blocks of a literal in the first segments, recorded when there were enough for a first
 * part. Later bindings of the shard copy them instead of reading the lists again.
 */
@unmanaged
export class FoundBlocks {
  leaf: u32; // address of the literal's node; 0: nothing was recorded
  blocks: u32; // a bitmap, valid as long as the binding is kept
  segments: u32;
  bytes: u32; // of lists that were read for it
}
const found = changetype<FoundBlocks>(memory.data(16, 4));
if (offsetof<FoundBlocks>() != 16) ERROR('FoundBlocks: size');

/** Before a shard is bound. @param saved  of its kept binding; null: there is none */
export function loadFound(saved: FoundBlocks): void {
  found.leaf = 0;
  if (changetype<usize>(saved) != 0) copyFound(saved, found);
}

export function saveFound(out: FoundBlocks): void {
  copyFound(found, out);
}

@inline
function copyFound(from: FoundBlocks, to: FoundBlocks): void {
  memory.copy(changetype<usize>(to), changetype<usize>(from), offsetof<FoundBlocks>());
}

/** Copies the recorded blocks of a literal to the empty `bitmap`; returns the number of segments. */
export function reuseFound(leaf: MatchNode, bitmap: usize): u32 {
  if (found.leaf != <u32>changetype<usize>(leaf)) return 0;
  memory.copy(bitmap, found.blocks, <usize>found.segments * BITMAP_SIZE);
  countIndexBytes(found.bytes);
  setPartSegments(found.segments);
  return found.segments;
}

/**
 * Records the blocks if binding ended because the literal has many. @param bytesBefore  indexBytes
 * before this literal
 */
export function recordFound(leaf: MatchNode, bitmap: usize, bytesBefore: f64): void {
  if (failStatus != STATUS_STOPPED || partSegments == 0) return;
  found.leaf = <u32>changetype<usize>(leaf);
  found.blocks = <u32>bitmap;
  found.segments = partSegments;
  found.bytes = <u32>(indexBytes - bytesBefore);
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

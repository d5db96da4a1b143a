// For expressions across lines: drops candidate blocks by the index alone. Such a match must fill the next block with
// characters of a small set; a block whose next block has a gram with another character is dropped. The most frequent of
// these grams suffice for nearly all blocks of source code.

import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import { getBit } from '../base/bits.ts';
import { BITMAP_SIZE, GRAM_CHAR_BITS } from '../shared/format.ts';
import { STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { listSize, nextLongList } from '../shard/lists.ts';
import { countInnerBlocks, newBlockBitmap, uniteGram } from './block-sets.ts';
import {
  blockBitmapSize,
  boundSegments,
  boundView,
  failBinding,
  failStatus,
  narrowSegments,
  widenSegments,
} from './bound.ts';
import { FOREIGN_KEYS_MAX, probeGram } from './lookups.ts';

/** Guess: this few blocks, or this small a share of the shard's, are read faster than ruled out. */
const FEW_BLOCKS: u32 = 500;
const FEW_SHARE: u32 = 16;
const LISTS_MAX: u32 = FOREIGN_KEYS_MAX;
/** Lists read between two checks of the remaining blocks. */
const LISTS_AT_ONCE: u32 = 8;
const GRAM_CHAR_COUNT: u32 = 1 << GRAM_CHAR_BITS;
const GRAM_CHAR_MASK: u32 = GRAM_CHAR_COUNT - 1;

/**
 * Removes blocks whose next block certainly has an ASCII byte outside the set of 16 bytes at
 * `bytes`. The next block may be of another blob.
 */
export function dropForeign(arena: Arena, blocks: usize, bytes: usize): void {
  let segments = segmentsWithMany(blocks, boundSegments, boundView.blockCount / FEW_SHARE);
  if (segments == 0) return;
  const mark = arenaMark(arena);
  const gramChars = arenaAlloc(arena, GRAM_CHAR_COUNT, 8);
  const grams = arenaAlloc(arena, <usize>LISTS_MAX << 3, 8);
  const covered = newBlockBitmap(arena);
  if (gramChars == 0 || grams == 0) failBinding(STATUS_OUT_OF_MEMORY);
  if (failStatus != 0) return;
  listForeignGramChars(bytes, gramChars);
  const count = listDenseGrams(gramChars, grams);
  for (let i: u32 = 0; i < count && segments != 0 && failStatus == 0; ) {
    const bound = narrowSegments(segments);
    const end = min(i + LISTS_AT_ONCE, count);
    for (; i < end; i++) {
      const gram = load<u32>(grams + (<usize>i << 3));
      probeGram(boundView, load<u32>(<usize>boundView.gramKeys + (<usize>gram << 2)));
      uniteGram(gram, covered);
    }
    widenSegments(bound);
    dropBlocksBefore(blocks, covered);
    segments = segmentsWithMany(blocks, segments, 0);
  }
  arenaReset(arena, mark);
}

/** Those of `segments` with their share of `least` blocks, or of FEW_BLOCKS if that is more. */
function segmentsWithMany(blocks: usize, segments: u32, least: u32): u32 {
  const share = max(FEW_BLOCKS, least) / max(1, <u32>(blockBitmapSize / BITMAP_SIZE));
  let many: u32 = 0;
  for (let rest = segments; rest != 0; rest &= rest - 1)
    if (countInnerBlocks(blocks, ctz(rest)) >= share) many |= rest & (0 - rest);
  return many;
}

/** Sets gramChars[c] to 1 if every byte with the gram character c is ASCII and outside the set, else to 0. */
function listForeignGramChars(bytes: usize, gramChars: usize): void {
  memory.fill(gramChars, 0, GRAM_CHAR_COUNT);
  for (let gramChar: u32 = 0x20; gramChar < 0x7f; gramChar++) {
    const isSmall = gramChar >= 0x61 && gramChar <= 0x7a;
    // Capitals are the letters of non-ASCII classes; k and s have non-ASCII variants.
    const isAscii = (gramChar < 0x41 || gramChar > 0x5a) && gramChar != 0x6b && gramChar != 0x73;
    const isMember =
      getBit(bytes, gramChar) != 0 || (isSmall && getBit(bytes, gramChar - 0x20) != 0);
    store<u8>(gramChars + gramChar, isAscii && !isMember ? 1 : 0);
  }
}

/** Lists the grams with a character in `gramChars` that have the longest lists; returns how many. */
function listDenseGrams(gramChars: usize, grams: usize): u32 {
  let count: u32 = 0;
  // Shorter lists rule out too little.
  let least = max(1, boundView.blockCount >> 5);
  let gram = nextLongList(boundView, 0, least);
  for (; gram < boundView.gramCount; gram = nextLongList(boundView, gram + 1, least)) {
    if (!isForeign(gramChars, gram)) continue;
    const size = listSize(boundView, gram);
    let position = count < LISTS_MAX ? count++ : LISTS_MAX - 1;
    for (; position > 0 && load<u32>(grams + (<usize>(position - 1) << 3), 4) < size; position--) {
      store<u64>(grams + (<usize>position << 3), load<u64>(grams + (<usize>(position - 1) << 3)));
    }
    store<u32>(grams + (<usize>position << 3), gram);
    store<u32>(grams + (<usize>position << 3), size, 4);
    if (count == LISTS_MAX) least = load<u32>(grams + (<usize>(LISTS_MAX - 1) << 3), 4) + 1;
  }
  return count;
}

@inline
function isForeign(gramChars: usize, gram: u32): bool {
  const key = load<u32>(<usize>boundView.gramKeys + (<usize>gram << 2));
  const first = key >> (2 * GRAM_CHAR_BITS);
  const middle = (key >> GRAM_CHAR_BITS) & GRAM_CHAR_MASK;
  return (
    (load<u8>(gramChars + first) |
      load<u8>(gramChars + middle) |
      load<u8>(gramChars + (key & GRAM_CHAR_MASK))) !=
    0
  );
}

function dropBlocksBefore(blocks: usize, covered: usize): void {
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    const next = offset + 8 < blockBitmapSize ? load<u64>(covered + offset + 8) : 0;
    const before = (load<u64>(covered + offset) >> 1) | (next << 63);
    store<u64>(blocks + offset, load<u64>(blocks + offset) & ~before);
  }
}

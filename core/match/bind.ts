// Binds the match tree to one shard: looks up the grams of each literal, intersects their lists stripe by
// stripe into a bitmap of candidate blocks, combines the literals to candidate docs, and cuts those into
// units of work. Rarest list first; a stripe's further lists are read only while they can save more
// verifying than they cost. Everything lives in the arena until the next shard is bound.

import {
  BITMAP_SIZE,
  NONE_ID,
  SHARD_BITMAP_SIZE,
  STRIPE_BLOCKS,
  STRIPE_COUNT_MAX,
  SYMBOL_BITS,
} from '../shared/format.ts';
import {
  BIND_BLOCKS_OFFSET,
  BIND_BYTES_OFFSET,
  BIND_DOCS_OFFSET,
  BIND_INDEX_BYTES_OFFSET,
  BIND_LOOKUPS_OFFSET,
  BIND_RULED_OUT_OFFSET,
  BIND_UNITS_OFFSET,
  NODE_AND,
  NODE_CONST,
  NODE_LANGUAGE,
  NODE_OR,
  NODE_PATH,
  NODE_REPOS,
  NODE_TEXT,
  UNIT_BYTES_MAX,
  UNIT_DOCS_MAX,
} from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import {
  findGram,
  GRAM_ABSENT,
  listMask,
  listSize,
  lowerGram,
  pieceBytes,
  readStripe,
} from '../shard/lists.ts';
import { LANGUAGE_ROW_SIZE, REPO_ROW_SIZE } from '../shared/format.ts';
import { blobAt, blockAt, docAt, ShardView } from '../shard/open.ts';
import { getBit, setBit } from '../shard/piece.ts';
import { LanguageRow, RepoRow } from '../shard/rows.ts';
import { MatchNode, matchRoot, nodeAt, textNodeCount, textNodes } from './tree.ts';

/** Above this share of a shard's blocks a two-character literal is looked for in all of them. */
const PREFIX_SHARE_NUMERATOR: u32 = 6;
const PREFIX_SHARE_DENOMINATOR: u32 = 10;
/** Guess: verifying a block costs 700 ns, decoding a coded byte 8 ns; a full bitmap of 1,024 bytes 80 ns. */
const VERIFY_NS: u32 = 700;
const DECODE_NS_PER_BYTE: u32 = 8;
const BITMAP_NS: u32 = 80;

/** The shard that the tree is bound to, its candidate docs (u32, docs of one blob together), its units. */
export let boundView: ShardView = changetype<ShardView>(0);
export let candidateDocs: usize = 0;
export let candidateDocCount: u32 = 0;
/** First candidate of each unit, u32, with one more element for the end. */
export let unitStarts: usize = 0;
export let unitCount: u32 = 0;

let lookups: u32 = 0;
let indexBytes: f64 = 0;
let failStatus: i32 = 0;
let scratchBitmap: usize = 0;

/** What a subtree says about blobs: none, all, or those in a bitmap. */
const NO_BLOBS: usize = 1;
const ALL_BLOBS: usize = 2;

/**
 * Binds the compiled tree to `view`; counters go to `stats` (BIND_*).
 * Errors: STATUS_PIECE for a damaged list, STATUS_OUT_OF_MEMORY.
 */
export function bindShard(arena: Arena, view: ShardView, stats: usize): i32 {
  boundView = view;
  lookups = 0;
  indexBytes = 0;
  failStatus = STATUS_OK;
  scratchBitmap = arenaAlloc(arena, BITMAP_SIZE, 16);
  if (scratchBitmap == 0) return STATUS_OUT_OF_MEMORY;
  // An AND that is ruled out leaves its other children as they are: those of the shard before.
  for (let i: u32 = 0; i < textNodeCount; i++) nodeAt(textNodes, i).isRuledOut = 1;
  const verdict = bindNode(arena, matchRoot);
  if (failStatus != STATUS_OK) return failStatus;
  let status = collectCandidates(arena, verdict);
  if (status != STATUS_OK) return status;
  status = cutUnits(arena);
  if (status != STATUS_OK) return status;
  store<f64>(stats, lookups, BIND_LOOKUPS_OFFSET);
  store<f64>(stats, indexBytes, BIND_INDEX_BYTES_OFFSET);
  store<f64>(stats, countCandidateBlocks(), BIND_BLOCKS_OFFSET);
  store<f64>(stats, candidateDocCount, BIND_DOCS_OFFSET);
  store<f64>(stats, candidateBytes, BIND_BYTES_OFFSET);
  store<f64>(stats, unitCount, BIND_UNITS_OFFSET);
  store<f64>(stats, candidateDocCount == 0 ? 1 : 0, BIND_RULED_OUT_OFFSET);
  return STATUS_OK;
}

/** Binds a subtree; returns NO_BLOBS, ALL_BLOBS or the address of a bitmap of blobs that may satisfy it. */
function bindNode(arena: Arena, node: MatchNode): usize {
  if (failStatus != STATUS_OK) return NO_BLOBS;
  node.isRuledOut = 0;
  const verdict = bindKind(arena, node);
  if (verdict == NO_BLOBS) node.isRuledOut = 1;
  return verdict;
}

function bindKind(arena: Arena, node: MatchNode): usize {
  switch (node.kind) {
    case NODE_CONST:
      node.cost = 0;
      return node.data != 0 ? ALL_BLOBS : NO_BLOBS;
    case NODE_TEXT:
      return bindText(arena, node);
    case NODE_PATH:
      node.cost = 2;
      return ALL_BLOBS;
    case NODE_LANGUAGE:
      node.cost = 1;
      node.localId = findLanguage(node);
      return node.localId == NONE_ID ? NO_BLOBS : ALL_BLOBS;
    case NODE_REPOS:
      node.cost = 1;
      return countRepos(node) == 0 ? NO_BLOBS : ALL_BLOBS;
    case NODE_AND:
      return bindAnd(arena, node);
    case NODE_OR:
      return bindOr(arena, node);
    default: {
      // A negation rules out nothing by itself, but its literals need their bitmaps.
      const child = nodeAt(node.children, 0);
      bindNode(arena, child);
      node.cost = child.cost;
      return ALL_BLOBS;
    }
  }
}

function bindAnd(arena: Arena, node: MatchNode): usize {
  let verdict: usize = ALL_BLOBS;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const own = bindNode(arena, child);
    if (own == NO_BLOBS) return NO_BLOBS;
    if (own == ALL_BLOBS) continue;
    if (verdict == ALL_BLOBS) verdict = own;
    else intersectBitmaps(verdict, own, blobBitmapSize());
  }
  sortByCost(node);
  return verdict;
}

function bindOr(arena: Arena, node: MatchNode): usize {
  let verdict: usize = NO_BLOBS;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const own = bindNode(arena, child);
    if (own == NO_BLOBS || verdict == ALL_BLOBS) continue;
    if (own == ALL_BLOBS || verdict == NO_BLOBS) verdict = own;
    else uniteBitmaps(verdict, own, blobBitmapSize());
  }
  sortByCost(node);
  return verdict;
}

/** Cheap children first (insertion sort: few children); a node costs what its dearest child costs. */
function sortByCost(node: MatchNode): void {
  const list = <usize>node.children;
  for (let i: u32 = 1; i < node.childCount; i++) {
    const moving = nodeAt(list, i);
    let place = i;
    while (place > 0 && nodeAt(list, place - 1).cost > moving.cost) {
      store<u32>(list + (<usize>place << 2), changetype<usize>(nodeAt(list, place - 1)));
      place--;
    }
    store<u32>(list + (<usize>place << 2), changetype<usize>(moving));
  }
  node.cost = nodeAt(list, node.childCount - 1).cost;
}

@inline
function blobBitmapSize(): usize {
  return ((<usize>boundView.blobCount + 127) >> 7) << 4;
}

function intersectBitmaps(target: usize, other: usize, size: usize): void {
  for (let i: usize = 0; i < size; i += 16) {
    v128.store(target + i, v128.and(v128.load(target + i), v128.load(other + i)));
  }
}

function uniteBitmaps(target: usize, other: usize, size: usize): void {
  for (let i: usize = 0; i < size; i += 16) {
    v128.store(target + i, v128.or(v128.load(target + i), v128.load(other + i)));
  }
}

function findLanguage(node: MatchNode): u32 {
  for (let i: u32 = 0; i < boundView.languageCount; i++) {
    const row = changetype<LanguageRow>(<usize>boundView.languages + <usize>i * LANGUAGE_ROW_SIZE);
    if (row.nameSize != node.dataSize) continue;
    if (memory.compare(<usize>boundView.names + row.nameOffset, node.data, node.dataSize) == 0) return i;
  }
  return NONE_ID;
}

/** Whether a repo id is among those of a REPOS node (binary search). */
export function hasRepo(node: MatchNode, repoId: u32): bool {
  let start: u32 = 0;
  let end = node.dataSize >> 2;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (load<u32>(<usize>node.data + (<usize>middle << 2)) < repoId) start = middle + 1;
    else end = middle;
  }
  return start < node.dataSize >> 2 && load<u32>(<usize>node.data + (<usize>start << 2)) == repoId;
}

/** Repo of a row of the shard's repos table. */
@inline
export function repoIdAt(view: ShardView, repoIndex: u32): u32 {
  return changetype<RepoRow>(<usize>view.repos + <usize>repoIndex * REPO_ROW_SIZE).repoId;
}

function countRepos(node: MatchNode): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < boundView.repoCount; i++) {
    if (hasRepo(node, repoIdAt(boundView, i))) count++;
  }
  return count;
}

function bindText(arena: Arena, node: MatchNode): usize {
  node.bitmap = 0;
  node.cost = 0x40000000;
  if (node.symbolCount == 1) return boundView.blobCount == 0 ? NO_BLOBS : ALL_BLOBS;
  if (node.spansBlocks) return bindLines(arena, node);
  const bitmap = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bitmap == 0) {
    failStatus = STATUS_OUT_OF_MEMORY;
    return NO_BLOBS;
  }
  memory.fill(bitmap, 0, SHARD_BITMAP_SIZE);
  node.bitmap = <u32>bitmap;
  if (node.symbolCount == 2) {
    if (!unitePrefix(node, bitmap)) {
      node.bitmap = 0;
      return ALL_BLOBS;
    }
  } else intersectGrams(arena, node, bitmap);
  if (failStatus != STATUS_OK) return NO_BLOBS;
  return blobsOfBlocks(arena, node, bitmap);
}

/**
 * A literal whose matches may span blocks: its grams need not meet in one block, but all occur in the blob,
 * which is then read as a whole.
 */
function bindLines(arena: Arena, node: MatchNode): usize {
  if (boundView.blobCount == 0) return NO_BLOBS;
  if (node.symbolCount < 3 || node.keyCount == 0) return ALL_BLOBS;
  const bitmap = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bitmap == 0) {
    failStatus = STATUS_OUT_OF_MEMORY;
    return NO_BLOBS;
  }
  let verdict: usize = ALL_BLOBS;
  for (let i: u32 = 0; i < node.keyCount; i++) {
    lookups++;
    const gram = findGram(boundView, load<u32>(<usize>node.keys + (<usize>i << 2)));
    if (gram == GRAM_ABSENT) return NO_BLOBS;
    memory.fill(bitmap, 0, SHARD_BITMAP_SIZE);
    for (let mask = listMask(boundView, gram); mask != 0; mask &= mask - 1) {
      readInto(gram, ctz(mask), bitmap + <usize>ctz(mask) * BITMAP_SIZE);
    }
    if (failStatus != STATUS_OK) return NO_BLOBS;
    const blobs = blobsOfBlocks(arena, node, bitmap);
    if (blobs == NO_BLOBS) return NO_BLOBS;
    if (verdict == ALL_BLOBS) verdict = blobs;
    else intersectBitmaps(verdict, blobs, blobBitmapSize());
  }
  return verdict;
}

/**
 * Two symbols: the union of all lists whose keys begin with them. Complete because every block counts as
 * ending in a newline. False if the lists are so large that all blocks may as well be read.
 */
function unitePrefix(node: MatchNode, bitmap: usize): bool {
  const pair = load<u32>(node.keys);
  const first = lowerGram(boundView, pair << SYMBOL_BITS);
  const end = lowerGram(boundView, (pair + 1) << SYMBOL_BITS);
  let bytes: u32 = 0;
  for (let gram = first; gram < end; gram++) bytes += listSize(boundView, gram);
  lookups += end - first;
  // Measured: 2026-11-21, X3: a posting takes about half a byte.
  if (<u64>bytes * 2 * PREFIX_SHARE_DENOMINATOR > <u64>boundView.blockCount * PREFIX_SHARE_NUMERATOR) {
    return false;
  }
  for (let gram = first; gram < end; gram++) {
    for (let mask = listMask(boundView, gram); mask != 0; mask &= mask - 1) {
      readInto(gram, ctz(mask), bitmap + <usize>ctz(mask) * BITMAP_SIZE);
    }
  }
  return true;
}

function readInto(gram: u32, stripe: u32, bitmap: usize): void {
  const status = readStripe(boundView, gram, stripe, bitmap);
  if (status != STATUS_OK) failStatus = status;
  indexBytes += pieceBytes;
}

/** Fills `bitmap` with the blocks that all grams of the literal have in common, as far as that pays. */
function intersectGrams(arena: Arena, node: MatchNode, bitmap: usize): void {
  const grams = arenaAlloc(arena, <usize>node.keyCount * 4, 8);
  if (grams == 0) {
    failStatus = STATUS_OUT_OF_MEMORY;
    return;
  }
  let stripes: u32 = 0xffffffff;
  for (let i: u32 = 0; i < node.keyCount; i++) {
    lookups++;
    const gram = findGram(boundView, load<u32>(<usize>node.keys + (<usize>i << 2)));
    if (gram == GRAM_ABSENT) return;
    insertBySize(grams, i, gram);
    stripes &= listMask(boundView, gram);
  }
  for (; stripes != 0; stripes &= stripes - 1) {
    const stripe = ctz(stripes);
    intersectStripe(grams, node.keyCount, stripe, bitmap + <usize>stripe * BITMAP_SIZE);
    if (failStatus != STATUS_OK) return;
  }
}

/** Keeps grams[0..count] in ascending order of their lists' sizes. */
function insertBySize(grams: usize, count: u32, gram: u32): void {
  const size = listSize(boundView, gram);
  let place = count;
  while (place > 0) {
    const before = load<u32>(grams + (<usize>(place - 1) << 2));
    if (listSize(boundView, before) <= size) break;
    store<u32>(grams + (<usize>place << 2), before);
    place--;
  }
  store<u32>(grams + (<usize>place << 2), gram);
}

function intersectStripe(grams: usize, gramCount: u32, stripe: u32, bitmap: usize): void {
  readInto(load<u32>(grams), stripe, bitmap);
  for (let i: u32 = 1; i < gramCount; i++) {
    const left = countBits(bitmap, BITMAP_SIZE);
    if (left == 0) return;
    const gram = load<u32>(grams + (<usize>i << 2));
    const stripesInList = popcnt(listMask(boundView, gram));
    const piece = listSize(boundView, gram) / max(1, stripesInList);
    const readNs = piece >= 900 ? BITMAP_NS : piece * DECODE_NS_PER_BYTE + BITMAP_NS;
    // Why: a list that holds a share p of the blocks leaves about p of the candidates.
    const saved = piece >= 900 ? left / 3 : left - left * min(2 * piece, STRIPE_BLOCKS) / STRIPE_BLOCKS;
    if (saved * VERIFY_NS < readNs) return;
    memory.fill(scratchBitmap, 0, BITMAP_SIZE);
    readInto(gram, stripe, scratchBitmap);
    if (failStatus != STATUS_OK) return;
    intersectBitmaps(bitmap, scratchBitmap, BITMAP_SIZE);
  }
}

function countBits(bitmap: usize, size: usize): u32 {
  let count: u64 = 0;
  for (let i: usize = 0; i < size; i += 8) count += popcnt(load<u64>(bitmap + i));
  return <u32>count;
}

/** The blobs that hold a block of the bitmap; also sets the node's cost, its number of blocks. */
function blobsOfBlocks(arena: Arena, node: MatchNode, bitmap: usize): usize {
  const blobs = arenaAlloc(arena, blobBitmapSize(), 16);
  if (blobs == 0 && boundView.blobCount > 0) {
    failStatus = STATUS_OUT_OF_MEMORY;
    return NO_BLOBS;
  }
  memory.fill(blobs, 0, blobBitmapSize());
  let count: u32 = 0;
  for (let wordIndex: u32 = 0; wordIndex < SHARD_BITMAP_SIZE / 8; wordIndex++) {
    let word = load<u64>(bitmap + (<usize>wordIndex << 3));
    for (; word != 0; word &= word - 1) {
      const blockId = wordIndex * 64 + <u32>ctz(word);
      // A damaged list may name a blockId that no block has.
      if (blockId >= boundView.blockCount) break;
      const blobId = blockAt(boundView, blockId).blobId;
      if (blobId == NONE_ID) continue;
      setBit(blobs, blobId);
      count++;
    }
  }
  node.cost = 3 + min(count, 0x3ffffff0);
  return count == 0 ? NO_BLOBS : blobs;
}

/** Lists the docs of the candidate blobs, those of one blob together, in the order of their first. */
function collectCandidates(arena: Arena, verdict: usize): i32 {
  candidateDocCount = 0;
  candidateDocs = 0;
  if (verdict == NO_BLOBS) return STATUS_OK;
  const room = arenaAlloc(arena, <usize>boundView.docCount * 4 + 4, 8);
  if (room == 0) return STATUS_OUT_OF_MEMORY;
  candidateDocs = room;
  if (verdict == ALL_BLOBS) {
    for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
      const blobId = docAt(boundView, docId).blobId;
      if (blobId == NONE_ID) addCandidate(docId);
      else if (blobAt(boundView, blobId).firstDoc == docId) addDocsOfBlob(blobId);
    }
    return STATUS_OK;
  }
  const words = <u32>(blobBitmapSize() >> 3);
  for (let wordIndex: u32 = 0; wordIndex < words; wordIndex++) {
    let word = load<u64>(verdict + (<usize>wordIndex << 3));
    for (; word != 0; word &= word - 1) addDocsOfBlob(wordIndex * 64 + <u32>ctz(word));
  }
  return STATUS_OK;
}

@inline
function addCandidate(docId: u32): void {
  store<u32>(candidateDocs + (<usize>candidateDocCount << 2), docId);
  candidateDocCount++;
}

function addDocsOfBlob(blobId: u32): void {
  let docId = blobAt(boundView, blobId).firstDoc;
  // Bound: the chain ascends (checked by openShard), so it ends, and no doc is in two chains.
  while (docId != NONE_ID && candidateDocCount < boundView.docCount) {
    addCandidate(docId);
    docId = docAt(boundView, docId).nextDoc;
  }
}

let candidateBytes: f64 = 0;

/** Cuts the candidates into units of at most UNIT_DOCS_MAX docs and about UNIT_BYTES_MAX bytes. */
function cutUnits(arena: Arena): i32 {
  unitCount = 0;
  candidateBytes = 0;
  unitStarts = arenaAlloc(arena, (<usize>candidateDocCount + 2) * 4, 8);
  if (unitStarts == 0) return STATUS_OUT_OF_MEMORY;
  let docs: u32 = 0;
  let bytes: u32 = 0;
  let previousBlob: u32 = NONE_ID;
  for (let i: u32 = 0; i < candidateDocCount; i++) {
    const blobId = docAt(boundView, load<u32>(candidateDocs + (<usize>i << 2))).blobId;
    const isSameBlob = blobId != NONE_ID && blobId == previousBlob;
    const own = blobId == NONE_ID || isSameBlob ? 0 : bytesToVerify(blobId);
    const isFull = docs >= UNIT_DOCS_MAX || bytes + own > UNIT_BYTES_MAX;
    if (i == 0 || (isFull && !isSameBlob)) {
      store<u32>(unitStarts + (<usize>unitCount << 2), i);
      unitCount++;
      docs = 0;
      bytes = 0;
    }
    docs++;
    bytes += own;
    candidateBytes += own;
    previousBlob = blobId;
  }
  store<u32>(unitStarts + (<usize>unitCount << 2), candidateDocCount);
  return STATUS_OK;
}

/** Bytes of the blob's blocks that are candidates of its dearest literal. */
function bytesToVerify(blobId: u32): u32 {
  const blob = blobAt(boundView, blobId);
  let most: u32 = 0;
  for (let i: u32 = 0; i < textNodeCount; i++) {
    const node = nodeAt(textNodes, i);
    if (node.isRuledOut) continue;
    if (node.bitmap == 0) return blob.size;
    most = max(most, countBlocksIn(node.bitmap, blob.firstBlock, blob.blockCount));
  }
  return min(blob.size, most * (blob.size / blob.blockCount + 1));
}

function countBlocksIn(bitmap: usize, first: u32, count: u32): u32 {
  let found: u32 = 0;
  for (let blockId = first; blockId < first + count; blockId++) {
    found += getBit(bitmap, blockId);
  }
  return found;
}

/** Blocks of candidate docs that the lists of any literal leave; 0 if no literal was looked up. */
function countCandidateBlocks(): f64 {
  let count: f64 = 0;
  let previousBlob: u32 = NONE_ID;
  for (let i: u32 = 0; i < candidateDocCount; i++) {
    const blobId = docAt(boundView, load<u32>(candidateDocs + (<usize>i << 2))).blobId;
    if (blobId == NONE_ID || blobId == previousBlob) continue;
    previousBlob = blobId;
    const blob = blobAt(boundView, blobId);
    for (let blockId = blob.firstBlock; blockId < blob.firstBlock + blob.blockCount; blockId++) {
      if (isCandidateBlock(blockId)) count++;
    }
  }
  return count;
}

function isCandidateBlock(blockId: u32): bool {
  for (let i: u32 = 0; i < textNodeCount; i++) {
    const node = nodeAt(textNodes, i);
    if (node.isRuledOut) continue;
    const bitmap = <usize>node.bitmap;
    if (bitmap != 0 && getBit(bitmap, blockId) != 0) return true;
  }
  return false;
}

// Binds the match tree to one shard: looks up the grams of each literal, intersects their lists stripe by
// stripe into a bitmap of candidate blocks, combines the literals to candidate docs, and cuts those into
// units of work. Rarest list first; a stripe's further lists are read only while they can save more
// verifying than they cost. Everything lives in the arena until the next shard is bound.

import {
  BITMAP_SIZE,
  NONE_ID,
  SHARD_BITMAP_SIZE,
  STRIPE_BLOCKS,
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
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  UNIT_BYTES_MAX,
  UNIT_DOCS_MAX,
} from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import {
  findGram,
  GRAM_ABSENT,
  listMask,
  listSize,
  lowerGram,
  pieceBytes,
  readStripe,
} from '../shard/lists.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { LANGUAGE_ROW_SIZE, REPO_ROW_SIZE } from '../shared/format.ts';
import { isMiddleNewline } from '../shard/extract.ts';
import { blobAt, blockAt, docAt, ShardView } from '../shard/open.ts';
import { getBit, setBit } from '../shard/piece.ts';
import { LanguageRow, RepoRow } from '../shard/rows.ts';
import { SYMBOL_NEWLINE } from '../text/symbols.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
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

/** What a subtree says about docs: none, any, or those in a bitmap. */
const NO_DOCS: usize = 1;
const ALL_DOCS: usize = 2;

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

/** Binds a subtree; returns NO_DOCS, ALL_DOCS or the address of a bitmap of docs that may satisfy it. */
function bindNode(arena: Arena, node: MatchNode): usize {
  if (failStatus != STATUS_OK) return NO_DOCS;
  node.isRuledOut = 0;
  const verdict = bindKind(arena, node);
  if (verdict == NO_DOCS) node.isRuledOut = 1;
  return verdict;
}

function bindKind(arena: Arena, node: MatchNode): usize {
  switch (node.kind) {
    case NODE_CONST:
      node.cost = 0;
      return node.data != 0 ? ALL_DOCS : NO_DOCS;
    case NODE_TEXT:
      return bindText(arena, node);
    case NODE_PATH:
      node.cost = 2;
      return bindPath(arena, node);
    case NODE_LANGUAGE:
      node.cost = 1;
      node.localId = findLanguage(node);
      return node.localId == NONE_ID ? NO_DOCS : bindLanguage(arena, node);
    case NODE_REPOS:
      node.cost = 1;
      return bindRepos(node);
    case NODE_AND:
      return bindAnd(arena, node);
    case NODE_OR:
      return bindOr(arena, node);
    default:
      return bindNot(arena, node);
  }
}

/** A negation rules out what its child is sure to hold for; a literal may be a false candidate. */
function bindNot(arena: Arena, node: MatchNode): usize {
  const child = nodeAt(node.children, 0);
  const verdict = bindNode(arena, child);
  node.cost = child.cost;
  if (!isExact(child) || verdict == NO_DOCS) return ALL_DOCS;
  if (verdict == ALL_DOCS) return NO_DOCS;
  return complement(arena, verdict);
}

/** Whether the bitmap of a bound subtree holds just the docs that satisfy it. */
function isExact(node: MatchNode): bool {
  if (node.kind == NODE_TEXT) return false;
  for (let i: u32 = 0; i < node.childCount; i++) {
    if (!isExact(nodeAt(node.children, i))) return false;
  }
  return true;
}

/** The other docs, in a new bitmap: the node's own one is still needed. */
function complement(arena: Arena, docs: usize): usize {
  const others = newDocBitmap(arena);
  if (others == 0) return NO_DOCS;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (getBit(docs, docId) == 0) setBit(others, docId);
  }
  return others;
}

/** An empty bitmap of docs; 0, with failStatus set, if the arena is full. */
function newDocBitmap(arena: Arena): usize {
  const bitmap = arenaAlloc(arena, docBitmapSize() + 16, 16);
  if (bitmap == 0) failStatus = STATUS_OUT_OF_MEMORY;
  else memory.fill(bitmap, 0, docBitmapSize() + 16);
  return bitmap;
}

function bindLanguage(arena: Arena, node: MatchNode): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (docAt(boundView, docId).languageIndex == node.localId) setBit(docs, docId);
  }
  return docs;
}

function bindRepos(node: MatchNode): usize {
  const count = countRepos(node);
  // Docs of shards with several repos are told apart when they are evaluated.
  return count == 0 ? NO_DOCS : ALL_DOCS;
}

/**
 * The docs whose path holds the literal, by one scan over all paths, which lie back to back: a match that
 * runs from one path into the next is none.
 */
function bindPath(arena: Arena, node: MatchNode): usize {
  if (node.dataSize == 0) return ALL_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  // U+FFFD stands for bad bytes, of which neighbours may make a character together.
  if (holdsReplacement(node)) return bindPathByPath(node, docs);
  const end = <usize>boundView.paths + boundView.pathsSize;
  let docId: u32 = 0;
  let ptr = <usize>boundView.paths;
  let count: u32 = 0;
  while (ptr < end) {
    const found = findNeedle(node.needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
    if (found >= end) break;
    const matchEnd = foundEnd();
    docId = docOfPath(found, docId);
    if (isPathMatch(node, docId, found, matchEnd)) {
      setBit(docs, docId);
      count++;
      ptr = pathEndOf(docId);
    } else ptr = found + decodedSize(decodeUtf8(found, end));
  }
  return count == 0 ? NO_DOCS : docs;
}

function holdsReplacement(node: MatchNode): bool {
  const end = <usize>node.data + node.dataSize;
  for (let ptr = <usize>node.data; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

function bindPathByPath(node: MatchNode, docs: usize): usize {
  let count: u32 = 0;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    const end = pathEndOf(docId);
    let ptr = end - docAt(boundView, docId).pathSize;
    while (ptr < end) {
      const found = findNeedle(node.needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
      if (found >= end) break;
      if (isPathMatch(node, docId, found, foundEnd())) {
        setBit(docs, docId);
        count++;
        break;
      }
      ptr = found + decodedSize(decodeUtf8(found, end));
    }
  }
  return count == 0 ? NO_DOCS : docs;
}

@inline
function pathEndOf(docId: u32): usize {
  const doc = docAt(boundView, docId);
  return <usize>boundView.paths + doc.pathOffset + doc.pathSize;
}

/** The doc from `docId` on whose path holds the byte at `ptr` (galloping, then binary search). */
function docOfPath(ptr: usize, docId: u32): u32 {
  let step: u32 = 1;
  let start = docId;
  while (start + step < boundView.docCount && pathEndOf(start + step - 1) <= ptr) {
    start += step;
    step *= 2;
  }
  let end = min(start + step, boundView.docCount);
  while (start < end) {
    const middle = (start + end) >> 1;
    if (pathEndOf(middle) <= ptr) start = middle + 1;
    else end = middle;
  }
  return start;
}

function isPathMatch(node: MatchNode, docId: u32, start: usize, end: usize): bool {
  const pathEnd = pathEndOf(docId);
  const pathStart = pathEnd - docAt(boundView, docId).pathSize;
  if (end > pathEnd) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0 && start != pathStart) return false;
  return (node.flags & PLAN_FLAG_AT_END) == 0 || end == pathEnd;
}

function bindAnd(arena: Arena, node: MatchNode): usize {
  let verdict: usize = ALL_DOCS;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const own = bindNode(arena, child);
    if (own == NO_DOCS) return NO_DOCS;
    if (own == ALL_DOCS) continue;
    if (verdict == ALL_DOCS) verdict = own;
    else intersectBitmaps(verdict, own, docBitmapSize());
  }
  sortByCost(node);
  return verdict;
}

function bindOr(arena: Arena, node: MatchNode): usize {
  let verdict: usize = NO_DOCS;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const own = bindNode(arena, child);
    if (own == NO_DOCS || verdict == ALL_DOCS) continue;
    if (own == ALL_DOCS || verdict == NO_DOCS) verdict = own;
    else uniteBitmaps(verdict, own, docBitmapSize());
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
function docBitmapSize(): usize {
  return ((<usize>boundView.docCount + 127) >> 7) << 4;
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
  if (node.spansLines != 0) return bindLines(arena, node);
  const bitmap = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bitmap == 0) {
    failStatus = STATUS_OUT_OF_MEMORY;
    return NO_DOCS;
  }
  memory.fill(bitmap, 0, SHARD_BITMAP_SIZE);
  node.bitmap = <u32>bitmap;
  if (node.symbolCount < 3) {
    const isSelective =
      node.symbolCount == 2 ? unitePrefix(node, bitmap) : uniteMiddle(node, bitmap);
    if (!isSelective) {
      node.bitmap = 0;
      return boundView.blobCount == 0 ? NO_DOCS : ALL_DOCS;
    }
  } else intersectGrams(arena, node, bitmap);
  if (failStatus != STATUS_OK) return NO_DOCS;
  return docsOfBlocks(arena, node, bitmap);
}

/**
 * A literal with a newline before its end: its lines may stand in several blocks, so that only docs can be
 * ruled out, by the grams that lie in one line; the docs left are read whole.
 */
function bindLines(arena: Arena, node: MatchNode): usize {
  const bitmap = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bitmap == 0) failStatus = STATUS_OUT_OF_MEMORY;
  if (bitmap == 0 || boundView.blobCount == 0) return NO_DOCS;
  let verdict: usize = ALL_DOCS;
  for (let i: u32 = 0; i < node.keyCount; i++) {
    const key = load<u32>(<usize>node.keys + (<usize>i << 2));
    if (isMiddleNewline(key)) continue;
    const mark = arenaMark(arena);
    const docs = docsOfGram(arena, node, key, bitmap);
    if (docs == NO_DOCS) return NO_DOCS;
    if (verdict == ALL_DOCS) verdict = docs;
    else {
      intersectBitmaps(verdict, docs, docBitmapSize());
      arenaReset(arena, mark);
    }
  }
  return verdict;
}

/** The docs that hold a gram; `bitmap` is scratch memory for its blocks. */
function docsOfGram(arena: Arena, node: MatchNode, key: u32, bitmap: usize): usize {
  lookups++;
  const gram = findGram(boundView, key);
  if (gram == GRAM_ABSENT) return NO_DOCS;
  memory.fill(bitmap, 0, SHARD_BITMAP_SIZE);
  uniteGram(gram, bitmap);
  return failStatus == STATUS_OK ? docsOfBlocks(arena, node, bitmap) : NO_DOCS;
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
  if (isUnionLarge(bytes)) return false;
  for (let gram = first; gram < end; gram++) uniteGram(gram, bitmap);
  return true;
}

/**
 * One symbol: the union of all lists whose keys have it in the middle. Complete because every character of
 * a block has a neighbour on both sides. False as for unitePrefix, and for a newline, which no key has there.
 */
function uniteMiddle(node: MatchNode, bitmap: usize): bool {
  const symbol = load<u32>(node.keys);
  if (symbol == SYMBOL_NEWLINE) return false;
  let bytes: u32 = 0;
  for (let gram: u32 = 0; gram < boundView.gramCount && !isUnionLarge(bytes); gram++) {
    if (!isMiddle(gram, symbol)) continue;
    lookups++;
    bytes += listSize(boundView, gram);
  }
  if (isUnionLarge(bytes)) return false;
  for (let gram: u32 = 0; gram < boundView.gramCount; gram++) {
    if (isMiddle(gram, symbol)) uniteGram(gram, bitmap);
  }
  return true;
}

@inline
function isMiddle(gram: u32, symbol: u32): bool {
  const key = load<u32>(<usize>boundView.gramKeys + (<usize>gram << 2));
  return ((key >> SYMBOL_BITS) & ((1 << SYMBOL_BITS) - 1)) == symbol;
}

/** Whether so many coded bytes of lists leave about as many blocks as there are. */
function isUnionLarge(bytes: u32): bool {
  // Measured: 2026-11-21, X3: a posting takes about half a byte.
  const share = <u64>boundView.blockCount * PREFIX_SHARE_NUMERATOR;
  return <u64>bytes * 2 * PREFIX_SHARE_DENOMINATOR > share;
}

function uniteGram(gram: u32, bitmap: usize): void {
  for (let mask = listMask(boundView, gram); mask != 0; mask &= mask - 1) {
    readInto(gram, ctz(mask), bitmap + <usize>ctz(mask) * BITMAP_SIZE);
  }
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

/** The docs that hold a block of the bitmap; also sets the node's cost, its number of blocks. */
function docsOfBlocks(arena: Arena, node: MatchNode, bitmap: usize): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  let count: u32 = 0;
  let previousBlob: u32 = NONE_ID;
  for (let wordIndex: u32 = 0; wordIndex < SHARD_BITMAP_SIZE / 8; wordIndex++) {
    let word = load<u64>(bitmap + (<usize>wordIndex << 3));
    for (; word != 0; word &= word - 1) {
      const blockId = wordIndex * 64 + <u32>ctz(word);
      // A damaged list may name a blockId that no block has.
      if (blockId >= boundView.blockCount) break;
      const blobId = blockAt(boundView, blockId).blobId;
      if (blobId == NONE_ID) continue;
      count++;
      if (blobId != previousBlob) addDocsOfBlob(docs, blobId);
      previousBlob = blobId;
    }
  }
  node.cost = 3 + min(count, 0x3ffffff0);
  return count == 0 ? NO_DOCS : docs;
}

function addDocsOfBlob(docs: usize, blobId: u32): void {
  // Bound: the chain ascends (checked by openShard), so it ends.
  let docId = blobAt(boundView, blobId).firstDoc;
  for (; docId != NONE_ID; docId = docAt(boundView, docId).nextDoc) setBit(docs, docId);
}

/** Lists the candidate docs, those of one blob together, in the order of their first. */
function collectCandidates(arena: Arena, verdict: usize): i32 {
  candidateDocCount = 0;
  candidateDocs = 0;
  if (verdict == NO_DOCS) return STATUS_OK;
  candidateDocs = arenaAlloc(arena, <usize>boundView.docCount * 4 + 4, 8);
  if (candidateDocs == 0) return STATUS_OUT_OF_MEMORY;
  // A copy: listing a doc takes it, and its brothers by blob, out.
  const left = newDocBitmap(arena);
  if (left == 0) return STATUS_OUT_OF_MEMORY;
  if (verdict != ALL_DOCS) memory.copy(left, verdict, docBitmapSize());
  else for (let docId: u32 = 0; docId < boundView.docCount; docId++) setBit(left, docId);
  const words = <u32>(docBitmapSize() >> 3);
  for (let wordIndex: u32 = 0; wordIndex < words; wordIndex++) {
    const wordPtr = left + (<usize>wordIndex << 3);
    for (let word = load<u64>(wordPtr); word != 0; word = load<u64>(wordPtr)) {
      const docId = wordIndex * 64 + <u32>ctz(word);
      store<u64>(wordPtr, word & (word - 1));
      addCandidate(docId);
      addBrothers(left, docId);
    }
  }
  return STATUS_OK;
}

@inline
function addCandidate(docId: u32): void {
  store<u32>(candidateDocs + (<usize>candidateDocCount << 2), docId);
  candidateDocCount++;
}

/** Lists the later docs with the same blob that are left. */
function addBrothers(left: usize, docId: u32): void {
  for (let next = docAt(boundView, docId).nextDoc; next != NONE_ID; next = docAt(boundView, next).nextDoc) {
    if (getBit(left, next) == 0) continue;
    const ptr = left + (next >> 3);
    store<u8>(ptr, load<u8>(ptr) & ~<u8>((<u32>1) << (next & 7)));
    addCandidate(next);
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

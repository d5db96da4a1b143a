// Heads: the docs to evaluate first, because the query names them (head-names.ts) or a symbol that
// they define. Path grams and the order of names (shard/symbols.ts) find them without posting
// lists, so that the host can find the heads of every shard before it binds any. A lone literal
// names itself, or its longest identifier; several literals name what they spell together: `kmem
// cache create` is kmem_cache_create, or kmemCacheCreate.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { NONE_ID } from '../shared/format.ts';
import { NODE_TEXT } from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY, STATUS_FRAME } from '../shared/status.ts';
import { blockAt } from '../shard/open.ts';
import {
  hasSymbols,
  isSymbolNamed,
  lowerSymbolName,
  readSymbolList,
  symbolListBytes,
} from '../shard/symbols.ts';
import { ShardView } from '../shard/view.ts';
import { isWordByte } from '../text/words.ts';
import { newBlockBitmap } from './block-sets.ts';
import {
  addDocsOfBlob,
  ALL_DOCS,
  blockBitmapSize,
  boundView,
  countIndexBytes,
  failBinding,
  failStatus,
  newDocBitmap,
} from './bound.ts';
import { hasNameHeads } from './head-names.ts';
import { RangeLeaf, leafAt, failCompiling, slotLeaves } from './node.ts';

/** Longer names have cut keys. */
const TEXT_SIZE_MAX: u32 = 200;
/** A shorter text is a prefix of too many names. */
const PREFIX_SIZE_MIN: u32 = 3;
/** Bound: with more names of the same prefix the query does not identify a doc. */
const PREFIX_NAMES_MAX: u32 = 16;

/** A text that may name a symbol. */
@unmanaged
class HeadText {
  start: u32; // address
  size: u32; // bytes; 0: there is none
}
const TEXT_COUNT: u32 = 2;
const texts = memory.data(16, 4);
if (offsetof<HeadText>() * TEXT_COUNT > 16) ERROR('texts: size');

@inline
function textAt(index: u32): HeadText {
  return changetype<HeadText>(texts + <usize>index * offsetof<HeadText>());
}

/** Finds the texts of the compiled tree. Errors: compileStatus is set if the arena is full. */
export function compileHeads(arena: Arena): void {
  textAt(0).size = 0;
  textAt(1).size = 0;
  let size: u32 = slotLeaves.count;
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const leaf = leafAt(slotLeaves, i);
    if (leaf.kind != NODE_TEXT || leaf.dataSize > TEXT_SIZE_MAX) return;
    size += leaf.dataSize;
  }
  if (slotLeaves.count == 1) return setLoneTexts(leafAt(slotLeaves, 0));
  if (slotLeaves.count == 0 || size > TEXT_SIZE_MAX) return;
  joinTexts(arena, textAt(0), size, 95);
  joinTexts(arena, textAt(1), size, 0);
}

function setText(text: HeadText, start: usize, size: usize): void {
  text.start = <u32>start;
  text.size = <u32>size;
}

/** The literal, and the longest identifier in it. */
function setLoneTexts(leaf: RangeLeaf): void {
  setText(textAt(0), leaf.data, leaf.dataSize);
  const end = <usize>leaf.data + leaf.dataSize;
  let best: usize = 0;
  for (let start = <usize>leaf.data; start < end; ) {
    let next = start;
    while (next < end && isIdentifierByte(load<u8>(next))) next++;
    if (next - start > best) {
      best = next - start;
      setText(textAt(1), start, best);
    }
    start = next + 1;
  }
  if (best == leaf.dataSize) textAt(1).size = 0;
}

@inline
function isIdentifierByte(byte: u32): bool {
  return byte >= 128 || isWordByte(byte);
}

/** Joins the literals with `separator`, 0: none. */
function joinTexts(arena: Arena, text: HeadText, size: u32, separator: u8): void {
  const start = arenaAlloc(arena, size, 8);
  if (start == 0) return failCompiling(STATUS_OUT_OF_MEMORY);
  let next = start;
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const leaf = leafAt(slotLeaves, i);
    if (i > 0 && separator != 0) {
      store<u8>(next, separator);
      next++;
    }
    memory.copy(next, leaf.data, leaf.dataSize);
    next += leaf.dataSize;
  }
  setText(text, start, next - start);
}

/** Whether an open shard may have heads of the compiled plan: a few binary searches. */
export function hasHeads(view: ShardView): bool {
  return bestNames(view, true) != NAMES_NONE || hasNameHeads(view);
}

/** The best match of a text among the shard's names. */
function bestNames(view: ShardView, takesPrefixes: bool): u32 {
  let best = NAMES_NONE;
  if (!hasSymbols(view)) return best;
  for (let i: u32 = 0; i < TEXT_COUNT; i++) best = max(best, findNames(view, textAt(i), takesPrefixes));
  return best;
}

const NAMES_NONE: u32 = 0;
/** Some begin with the text. */
const NAMES_PREFIXED: u32 = 1;
/** Some equal the text, ignoring case. */
const NAMES_WHOLE: u32 = 2;

/** The result of findNames: the first name, and the one after the last. */
let firstName: u32 = 0;
let endName: u32 = 0;

/** Finds names equal to the text, else those that begin with it, if they are few. */
function findNames(view: ShardView, text: HeadText, takesPrefixes: bool): u32 {
  if (text.size == 0) return NAMES_NONE;
  firstName = lowerSymbolName(view, text.start, text.size, true, false);
  endName = firstName;
  // Names equal to the text precede those that begin with it.
  while (isNameOf(view, endName, text, false)) endName++;
  if (endName > firstName) return NAMES_WHOLE;
  if (!takesPrefixes || text.size < PREFIX_SIZE_MIN) return NAMES_NONE;
  if (isNameOf(view, firstName + PREFIX_NAMES_MAX, text, true)) return NAMES_NONE;
  while (isNameOf(view, endName, text, true)) endName++;
  return endName > firstName ? NAMES_PREFIXED : NAMES_NONE;
}

@inline
function isNameOf(view: ShardView, name: u32, text: HeadText, isPrefix: bool): bool {
  return isSymbolNamed(view, name, text.start, text.size, isPrefix);
}

/**
 * The docs of the bound shard that define what the query names, each with all docs of the same
 * content; 0: there are none, or failStatus is set. Names that begin with a text count if none
 * equals one, unless the shard has hidden docs: their number, and whether one equals the text,
 * would reveal these.
 *
 * @param visible  the docs visible to the search (filters.ts)
 */
export function definingDocs(arena: Arena, visible: usize): usize {
  const takesPrefixes = visible == ALL_DOCS || boundView.repoCount == 1;
  const best = bestNames(boundView, takesPrefixes);
  if (best == NAMES_NONE) return 0;
  const blocks = newBlockBitmap(arena);
  if (blocks == 0) return 0;
  for (let i: u32 = 0; i < TEXT_COUNT; i++) {
    if (findNames(boundView, textAt(i), takesPrefixes) != best) continue;
    for (let name = firstName; name < endName; name++) {
      if (!readSymbolList(boundView, name, blocks)) failBinding(STATUS_FRAME);
      countIndexBytes(symbolListBytes);
    }
  }
  return failStatus != STATUS_OK ? 0 : docsIn(arena, blocks);
}

function docsIn(arena: Arena, blocks: usize): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return 0;
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    for (let word = load<u64>(blocks + offset); word != 0; word &= word - 1) {
      const blockId = (<u32>offset << 3) + <u32>ctz(word);
      // A damaged list may contain a blockId that does not exist.
      if (blockId >= boundView.blockCount) break;
      const blobId = blockAt(boundView, blockId).blobId;
      if (blobId != NONE_ID) addDocsOfBlob(docs, blobId);
    }
  }
  return docs;
}

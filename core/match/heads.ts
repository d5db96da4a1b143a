// Heads: the docs to evaluate first, because the query names them (head-names.ts) or a symbol that
// they define. Found by path grams and the order of names, without posting lists, in every shard
// before it is bound. A lone literal names the symbols that equal it, or its longest identifier, in
// the same case if the search is case-sensitive; several name what they spell together, in any case:
// `kmem cache create` is kmem_cache_create, or kmemCacheCreate.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { NODE_TEXT } from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY, STATUS_FRAME } from '../shared/status.ts';
import {
  beginsWithText,
  hasSymbols,
  isSymbolNamed,
  lowerSymbolName,
  readSymbolList,
  symbolListBytes,
} from '../shard/symbols.ts';
import { ShardView } from '../shard/view.ts';
import { isWordByte } from '../text/words.ts';
import { addDocsOfBlocks, newBlockBitmap } from './block-sets.ts';
import {
  ALL_DOCS,
  boundView,
  countIndexBytes,
  failBinding,
  failStatus,
  newDocBitmap,
} from './bound.ts';
import { hasNameHeads, nameHeadDocs } from './head-names.ts';
import { failCompiling, isCaseSensitive, leafAt, RangeLeaf, slotLeaves } from './node.ts';

/** Bound: keys of longer names are cut. */
const TEXT_SIZE_MAX: u32 = 200;
/** Guess: a shorter text begins too many names. */
const PREFIX_SIZE_MIN: u32 = 3;
/** Bound: with more names of the same prefix the query does not identify a doc. */
const PREFIX_NAMES_MAX: u32 = 16;

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

/** The names of a shard that match a text: fields of its view, searched once a plan. */
@unmanaged
class FoundNames {
  kind: u32; // NAMES_*
  start: u32; // the first name
  end: u32; // after the last
}
if (
  offsetof<ShardView>('otherNameKind') - offsetof<ShardView>('nameKind') !=
  offsetof<FoundNames>()
)
  ERROR('FoundNames: size');

@inline
function foundNamesOf(view: ShardView, index: u32): FoundNames {
  const first = changetype<usize>(view) + offsetof<ShardView>('nameKind');
  return changetype<FoundNames>(first + <usize>index * offsetof<FoundNames>());
}

/** Views refer to it, to tell whether their names are of this plan; 0 is never valid. */
let generation: u32 = 0;
/** 1: only names in the case of the text. */
let isCaseExact: u32 = 0;

/** Finds the texts of the compiled tree. Errors: compileStatus is set if the arena is full. */
export function compileHeads(arena: Arena): void {
  generation = max(1, generation + 1);
  textAt(0).size = 0;
  textAt(1).size = 0;
  isCaseExact = 0;
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
  isCaseExact = isCaseSensitive(leaf);
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
  findAllNames(view);
  return bestNames(view) != NAMES_NONE || mayHaveNameHeads(view);
}

function findAllNames(view: ShardView): void {
  if (view.namedIn == generation) return;
  for (let i: u32 = 0; i < TEXT_COUNT; i++) findNames(view, textAt(i), foundNamesOf(view, i));
  view.nameHeads = NAME_HEADS_UNKNOWN;
  view.namedIn = generation;
}

/** Whether the view has docs found by name (head-names.ts): not known, none, or some. */
const NAME_HEADS_UNKNOWN: u32 = 0;
const NAME_HEADS_NONE: u32 = 1;
const NAME_HEADS_SOME: u32 = 2;

function mayHaveNameHeads(view: ShardView): bool {
  if (view.nameHeads == NAME_HEADS_UNKNOWN) {
    view.nameHeads = hasNameHeads(view) ? NAME_HEADS_SOME : NAME_HEADS_NONE;
  }
  return view.nameHeads == NAME_HEADS_SOME;
}

function bestNames(view: ShardView): u32 {
  return max(foundNamesOf(view, 0).kind, foundNamesOf(view, 1).kind);
}

const NAMES_NONE: u32 = 0;
const NAMES_PREFIXED: u32 = 1;
/** Some equal the text. */
const NAMES_WHOLE: u32 = 2;

/** Finds names equal to the text ignoring case, else those that begin with it, if they are few. */
function findNames(view: ShardView, text: HeadText, found: FoundNames): void {
  found.kind = NAMES_NONE;
  if (text.size == 0 || !hasSymbols(view)) return;
  let start = lowerSymbolName(view, text.start, text.size, true, false);
  let end = start;
  // Names equal to the text precede those that begin with it.
  if (isNameOf(view, start, text, true)) {
    while (isNameOf(view, end, text, false)) end++;
    if (end > start) found.kind = NAMES_WHOLE;
    else if (
      text.size >= PREFIX_SIZE_MIN &&
      !isNameOf(view, start + PREFIX_NAMES_MAX, text, true)
    ) {
      while (isNameOf(view, end, text, true)) end++;
      found.kind = NAMES_PREFIXED;
    }
  }
  found.start = start;
  found.end = end;
  while (start < end && !isInCase(view, start, text)) start++;
  if (start == end) found.kind = NAMES_NONE;
}

@inline
function isInCase(view: ShardView, name: u32, text: HeadText): bool {
  return isCaseExact == 0 || beginsWithText(view, name, text.start, text.size);
}

@inline
function isNameOf(view: ShardView, name: u32, text: HeadText, isPrefix: bool): bool {
  return isSymbolNamed(view, name, text.start, text.size, isPrefix);
}

/**
 * The docs of the bound shard that define what the query names, each with all docs of the same
 * content; 0: none, or failStatus is set. Names that begin with a text count if none equals one,
 * unless the shard has hidden docs, which they would reveal.
 */
export function definingDocs(arena: Arena, visible: usize): usize {
  findAllNames(boundView);
  const best = bestNames(boundView);
  const mayShowPrefixes = visible == ALL_DOCS || boundView.repoCount == 1;
  if (best == NAMES_NONE || (best == NAMES_PREFIXED && !mayShowPrefixes)) return 0;
  const blocks = newBlockBitmap(arena);
  if (blocks == 0) return 0;
  for (let i: u32 = 0; i < TEXT_COUNT; i++) {
    const found = foundNamesOf(boundView, i);
    if (found.kind != best) continue;
    for (let name = found.start; name < found.end; name++) {
      if (!isInCase(boundView, name, textAt(i))) continue;
      if (!readSymbolList(boundView, name, blocks)) failBinding(STATUS_FRAME);
      countIndexBytes(symbolListBytes);
    }
  }
  const docs = newDocBitmap(arena);
  if (failStatus != STATUS_OK) return 0;
  addDocsOfBlocks(docs, blocks);
  return docs;
}

/** The visible docs whose base name the query names, each with all docs of the same content; 0: none. */
export function namedDocs(arena: Arena, visible: usize): usize {
  findAllNames(boundView);
  return boundView.nameHeads == NAME_HEADS_NONE ? 0 : nameHeadDocs(arena, visible);
}

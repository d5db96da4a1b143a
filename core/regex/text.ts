// The text that expressions are run on, as well-formed UTF-8. A text with bad bytes is rewritten
// once into scratch memory with U+FFFD; a list of the bad bytes maps addresses. Only searched text
// is checked, and once. A text whose rewriting does not fit stays ill-formed (simulate.ts).

import { Arena, arenaAlloc } from '../base/arena.ts';
import { BLOB_FLAG_FOLDS_TO_ASCII, BLOB_FLAG_NON_ASCII } from '../shared/format.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { findIllFormed } from '../scan/well-formed.ts';

/** Flags of a text are those of a blob; these are correct for every text. */
export const TEXT_ANY: u32 = BLOB_FLAG_FOLDS_TO_ASCII | BLOB_FLAG_NON_ASCII;

/** Results of prepareText: the text can be read as it is, as rewritten, or only by simulation. */
export const TEXT_VALID: u32 = 1;
export const TEXT_REWRITTEN: u32 = 2;
export const TEXT_ILL_FORMED: u32 = 3;

/** Most scratch memory; also limited to one part in SCRATCH_SHARE of the arena's free part. */
const SCRATCH_SIZE_MAX: usize = 8 << 20;
const SCRATCH_SHARE: usize = 16;
/** U+FFFD in UTF-8, first byte lowest, and its additional size compared with the bad byte. */
const REPLACEMENT_BYTES: u32 = 0xbdbfef;
const REPLACEMENT_GROWTH: usize = 2;
const BAD_ENTRY_SIZE: usize = 4;

let scratchStart: usize = 0;
let scratchEnd: usize = 0;

let textStart: usize = 0;
let textEnd: usize = 0;
let isAsciiText: bool = false;
let condition: u32 = TEXT_VALID;
/** The known well-formed part of the text. */
let validStart: usize = 0;
let validEnd: usize = 0;

/** The rewritten text, and the bad bytes: u32 addresses in the text, the first highest. */
export let rewrittenStart: usize = 0;
export let rewrittenEnd: usize = 0;
let badEntries: usize = 0;
let badCount: usize = 0;

/** Allocates scratch memory from the arena and forgets the text. Errors: STATUS_OUT_OF_MEMORY. */
export function textInit(arena: Arena): i32 {
  const size =
    min(SCRATCH_SIZE_MAX, <usize>(arena.end - arena.next) / SCRATCH_SHARE) & ~(<usize>15);
  scratchStart = arenaAlloc(arena, size, 16);
  scratchEnd = scratchStart + size;
  forgetText();
  return scratchStart == 0 ? STATUS_OUT_OF_MEMORY : STATUS_OK;
}

export function forgetText(): void {
  textStart = 0;
  textEnd = 0;
}

/** Makes [start, end) the text; does nothing if it already is. `flags`: BLOB_FLAG_*. */
export function selectText(start: usize, end: usize, flags: u32): void {
  if (start == textStart && end == textEnd) return;
  textStart = start;
  textEnd = end;
  isAsciiText = (flags & BLOB_FLAG_NON_ASCII) == 0;
  condition = TEXT_VALID;
  validStart = start;
  validEnd = start;
}

/** How [from, end) of the text, between code point borders, can be read: TEXT_VALID and so on. */
export function prepareText(from: usize, end: usize): u32 {
  if (isAsciiText || condition != TEXT_VALID) return condition;
  if (from < validStart || from > validEnd) {
    validStart = from;
    validEnd = from;
  }
  if (end <= validEnd) return TEXT_VALID;
  if (findIllFormed(validEnd, end) == end) validEnd = end;
  else condition = rewriteText() ? TEXT_REWRITTEN : TEXT_ILL_FORMED;
  return condition;
}

/** Writes the whole text with U+FFFD for bad bytes; false if it does not fit. */
function rewriteText(): bool {
  rewrittenStart = scratchStart;
  badEntries = scratchEnd;
  badCount = 0;
  let out = scratchStart;
  let ptr = textStart;
  for (;;) {
    const bad = findIllFormed(ptr, textEnd);
    const size = bad - ptr;
    if (size + REPLACEMENT_GROWTH * 2 + BAD_ENTRY_SIZE > badEntries - out) return false;
    memory.copy(out, ptr, size);
    out += size;
    ptr = bad;
    if (ptr == textEnd) break;
    badEntries -= BAD_ENTRY_SIZE;
    store<u32>(badEntries, <u32>ptr);
    badCount++;
    store<u32>(out, REPLACEMENT_BYTES);
    out += 1 + REPLACEMENT_GROWTH;
    ptr++;
  }
  rewrittenEnd = out;
  return true;
}

@inline
function badAt(index: usize): usize {
  return load<u32>(scratchEnd - (index + 1) * BAD_ENTRY_SIZE);
}

/** Address in the rewritten text of `ptr`, a code point border of the text. */
export function toRewritten(ptr: usize): usize {
  let low: usize = 0;
  let high = badCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (badAt(middle) < ptr) low = middle + 1;
    else high = middle;
  }
  return rewrittenStart + (ptr - textStart) + low * REPLACEMENT_GROWTH;
}

/** Address in the text of `ptr`, a code point border of the rewritten text. */
export function fromRewritten(ptr: usize): usize {
  const offset = ptr - rewrittenStart;
  let low: usize = 0;
  let high = badCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (badAt(middle) - textStart + middle * REPLACEMENT_GROWTH < offset) low = middle + 1;
    else high = middle;
  }
  return textStart + offset - low * REPLACEMENT_GROWTH;
}

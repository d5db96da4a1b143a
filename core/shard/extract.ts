// Extracts the distinct grams of a block: slides over its letters and lists each new key once.
// Every block counts as enclosed by two newlines, so that a gram also identifies starts and ends of
// lines. FORMAT.md, "Grams".

import { GRAM_KEY_COUNT, GRAM_CHAR_BITS } from '../shared/format.ts';
import { appendGramChar, asciiGramChar, GRAM_CHAR_NEWLINE } from '../text/gram-chars.ts';
import { decodedPoint, decodedSize, decodeUtf8, isAscii } from '../text/utf8.ts';

const KEY_MASK: u32 = GRAM_KEY_COUNT - 1;
const GRAM_CHAR_MASK: u32 = (1 << GRAM_CHAR_BITS) - 1;

export const KEY_SET_SIZE: usize = GRAM_KEY_COUNT / 8;

/**
 * Writes the key to the list at `next`; returns the address of the next one: the same if the set has
 * the key.
 * Why without a branch: a third of the keys of a block are new, in no order that could be predicted.
 */
@inline
function addKey(keySet: usize, next: usize, key: u32): usize {
  const wordPtr = keySet + ((key >> 5) << 2);
  const word = load<u32>(wordPtr);
  store<u32>(wordPtr, word | (<u32>1 << (key & 31)));
  store<u32>(next, key);
  return next + (((~word >> (key & 31)) & 1) << 2);
}

@inline
function shift(key: u32, gramChar: u32): u32 {
  return ((key << GRAM_CHAR_BITS) | gramChar) & KEY_MASK;
}

/**
 * Appends the keys of [start, end) that are not in the set to the list; returns its new end.
 * Safety: start < end; the list has room for end - start + 1 keys, or for all keys of which a newline
 * is not in the middle, and one more.
 */
export function extractKeys(start: usize, end: usize, keySet: usize, list: usize): usize {
  return isAscii(start, end)
    ? extractAscii(start, end, keySet, list)
    : extractUtf8(start, end, keySet, list);
}

/** For bytes below 0x80 only: a load and an update of the set for each. */
function extractAscii(start: usize, end: usize, keySet: usize, list: usize): usize {
  let next = list;
  let key = shift(GRAM_CHAR_NEWLINE, asciiGramChar(load<u8>(start)));
  for (let ptr = start + 1; ptr < end; ptr++) {
    key = shift(key, asciiGramChar(load<u8>(ptr)));
    next = addKey(keySet, next, key);
  }
  if (load<u8>(end - 1) == 10) return next;
  return addKey(keySet, next, shift(key, GRAM_CHAR_NEWLINE));
}

/** As extractAscii, by code points. */
function extractUtf8(start: usize, end: usize, keySet: usize, list: usize): usize {
  let next = list;
  let key = GRAM_CHAR_NEWLINE;
  let isFirst = true;
  let ptr = start;
  while (ptr < end) {
    const decoded = decodeUtf8(ptr, end);
    ptr += decodedSize(decoded);
    key = appendGramChar(key, decodedPoint(decoded));
    if (!isFirst) next = addKey(keySet, next, key);
    isFirst = false;
  }
  if (load<u8>(end - 1) == 10) return next;
  return addKey(keySet, next, shift(key, GRAM_CHAR_NEWLINE));
}

export function clearKeys(keySet: usize, list: usize, listEnd: usize): void {
  for (let ptr = list; ptr < listEnd; ptr += 4) {
    store<u32>(keySet + ((load<u32>(ptr) >> 5) << 2), 0);
  }
}

/** Whether the middle letter of a key is a newline; such keys are listed but never indexed. */
@inline
export function isMiddleNewline(key: u32): bool {
  return ((key >> GRAM_CHAR_BITS) & GRAM_CHAR_MASK) == GRAM_CHAR_NEWLINE;
}

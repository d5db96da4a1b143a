// Extracts the distinct grams of a block: slides over its letters and lists each new key once.
// Every block counts as enclosed by two newlines, so that a gram also identifies starts and ends of
// lines. FORMAT.md, "Grams".

import { GRAM_KEY_COUNT, GRAM_CHAR_BITS } from '../shared/format.ts';
import { appendGramChar, asciiGramChar, GRAM_CHAR_NEWLINE } from '../text/gram-chars.ts';
import { decodedPoint, decodedSize, decodeUtf8, isAscii } from '../text/utf8.ts';

const KEY_MASK: u32 = GRAM_KEY_COUNT - 1;
const GRAM_CHAR_MASK: u32 = (1 << GRAM_CHAR_BITS) - 1;

export const KEY_SET_SIZE: usize = GRAM_KEY_COUNT / 8;

/** Position of the next key, and the set of those listed already. */
let listPtr: usize = 0;
let setPtr: usize = 0;

/** Lists the key if the set does not contain it. */
@inline
function addKey(key: u32): void {
  const wordPtr = setPtr + ((key >> 5) << 2);
  const word = load<u32>(wordPtr);
  const bit = <u32>1 << (key & 31);
  if ((word & bit) != 0) return;
  store<u32>(wordPtr, word | bit);
  store<u32>(listPtr, key);
  listPtr += 4;
}

@inline
function shift(key: u32, gramChar: u32): u32 {
  return ((key << GRAM_CHAR_BITS) | gramChar) & KEY_MASK;
}

/**
 * Appends the keys of [start, end) that are not in the set to the list; returns its new end.
 * Safety: start < end; the list has room for 4 * (end - start + 1) bytes.
 */
export function extractKeys(start: usize, end: usize, keySet: usize, list: usize): usize {
  setPtr = keySet;
  listPtr = list;
  if (isAscii(start, end)) extractAscii(start, end);
  else extractUtf8(start, end);
  return listPtr;
}

/** For bytes below 0x80 only: a load and a test of the set for each. */
function extractAscii(start: usize, end: usize): void {
  let key = shift(GRAM_CHAR_NEWLINE, asciiGramChar(load<u8>(start)));
  for (let ptr = start + 1; ptr < end; ptr++) {
    key = shift(key, asciiGramChar(load<u8>(ptr)));
    addKey(key);
  }
  if (load<u8>(end - 1) != 10) addKey(shift(key, GRAM_CHAR_NEWLINE));
}

/** As extractAscii, by code points. */
function extractUtf8(start: usize, end: usize): void {
  let key = GRAM_CHAR_NEWLINE;
  let isFirst = true;
  let ptr = start;
  while (ptr < end) {
    const decoded = decodeUtf8(ptr, end);
    ptr += decodedSize(decoded);
    key = appendGramChar(key, decodedPoint(decoded));
    if (!isFirst) addKey(key);
    isFirst = false;
  }
  if (load<u8>(end - 1) != 10) addKey(shift(key, GRAM_CHAR_NEWLINE));
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

// The alphabet of gram keys: 128 letters of 7 bits, made from code points by Unicode simple
// folding, so that text and query that differ only in case have equal letters.
//   ASCII: the folded byte itself; tab, newline and carriage return are themselves, other controls
//          0.
//   Others: one of 55 classes by the folded code point, in the codes that folded ASCII leaves free
//           (26 capitals, 29 controls). A bad byte counts as U+FFFD.
// K (U+212A) and long s (U+017F) fold into ASCII and get the letters of k and s.

import { GRAM_KEY_COUNT, GRAM_CHAR_BITS } from '../shared/format.ts';
import { foldCodePoint } from './fold.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from './utf8.ts';

export const GRAM_CHAR_NEWLINE: u32 = 10;

const CLASS_COUNT: u32 = 55;

/** Letter of each ASCII byte; 128 bytes of static memory, filled by `gramCharsInit`. */
const asciiGramChars: usize = memory.data(128);
/** Code of each non-ASCII class. */
const classGramChars: usize = memory.data(64);

/** Fills the tables. Must be called before all other functions here. */
export function gramCharsInit(): void {
  let classIndex: u32 = 0;
  for (let byte: u32 = 0; byte < 128; byte++) {
    const isCapital = byte >= 65 && byte <= 90;
    const isText = byte == 9 || byte == 10 || byte == 13 || (byte >= 32 && byte < 127);
    store<u8>(asciiGramChars + byte, <u8>(isCapital ? byte + 32 : isText ? byte : 0));
    if (isCapital || (!isText && byte != 0)) {
      store<u8>(classGramChars + classIndex, <u8>byte);
      classIndex++;
    }
  }
  assert(classIndex == CLASS_COUNT);
}

@inline
export function asciiGramChar(byte: u32): u32 {
  return load<u8>(asciiGramChars + byte);
}

export function gramCharOf(codePoint: u32): u32 {
  const folded = foldCodePoint(codePoint);
  if (folded < 128) return asciiGramChar(folded);
  // Why: neighbours in a script differ in their low bits; the multiplication spreads them over the
  // classes.
  return load<u8>(classGramChars + (((folded * 2654435761) >> 8) % CLASS_COUNT));
}

/** Key of the last three code points of a text; of a shorter text, its part of such a key. */
export function textKey(start: usize, end: usize): u32 {
  let key: u32 = 0;
  for (let ptr = start; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    ptr += decodedSize(decoded);
    key = appendGramChar(key, decodedPoint(decoded));
  }
  return key;
}

/** Shifts the key by one letter and appends that of `codePoint`. */
@inline
export function appendGramChar(key: u32, codePoint: u32): u32 {
  const gramChar = codePoint < 128 ? asciiGramChar(codePoint) : gramCharOf(codePoint);
  return ((key << GRAM_CHAR_BITS) | gramChar) & (GRAM_KEY_COUNT - 1);
}

// Writes text as JSON in UTF-8. Strings are escaped as little as JSON allows, and each byte that is not
// well-formed UTF-8 becomes U+FFFD. Each step takes 16 bytes:
//   1. copy them all to the output;
//   2. special = signed byte < 0x20 (control characters, and all from 0x80 on) | quote | backslash;
//   3. advance both sides by the bytes before the first special one; what was copied behind is overwritten;
//   4. deal with the special bytes that follow each other, one at a time.
// Knows nothing of quotes around strings, objects or arrays.

import { REPLACEMENT, decodeUtf8, decodedPoint, decodedSize } from '../text/utf8';

const STEP: usize = 16;
const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;

/** What stands behind the backslash for each control character; 0 if there is no short form. */
// prettier-ignore
const SHORT_ESCAPES: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** Lanes that cannot be copied as they are. */
@inline
function specialMask(bytes: v128): u32 {
  const isOutside = i8x16.lt_s(bytes, i8x16.splat(0x20));
  const isQuote = i8x16.eq(bytes, i8x16.splat(<u8>QUOTE));
  const isBackslash = i8x16.eq(bytes, i8x16.splat(<u8>BACKSLASH));
  return <u32>i8x16.bitmask(v128.or(isOutside, v128.or(isQuote, isBackslash)));
}

/** True if `byte` cannot be copied as it is. */
@inline
function isSpecial(byte: u32): bool {
  return byte - 0x20 >= 0x60 || byte == QUOTE || byte == BACKSLASH;
}

@inline
function hexDigit(value: u32): u32 {
  return value + (value < 10 ? 0x30 : 0x57);
}

/** Writes a control character, a quote or a backslash; returns the address after it. */
@inline
function writeEscape(outPtr: usize, byte: u32): usize {
  const letter = byte < 0x20 ? <u32>load<u8>(SHORT_ESCAPES + <usize>byte) : byte;
  if (letter != 0) {
    store<u16>(outPtr, BACKSLASH | (letter << 8));
    return outPtr + 2;
  }
  store<u32>(outPtr, 0x3030755c); // \u00
  store<u16>(outPtr, hexDigit(byte >> 4) | (hexDigit(byte & 15) << 8), 4);
  return outPtr + 6;
}

/**
 * Writes [start, end) as the inside of a JSON string, without quotes around it, and returns the address
 * after it. A sequence that is cut by `start` or `end` is bad bytes.
 *
 * Safety: 6 * (end - start) + 16 bytes are free at outPtr, outside [start, end); all of them may be
 * written. Up to 64 bytes past `end` may be read; they never change a result.
 */
export function writeJsonString(outPtr: usize, start: usize, end: usize): usize {
  let ptr = start;
  while (ptr < end) {
    const bytes = v128.load(ptr);
    v128.store(outPtr, bytes);
    const plain = min<usize>(<usize>ctz(specialMask(bytes) | 0x10000), end - ptr);
    ptr += plain;
    outPtr += plain;
    if (plain == STEP) continue;
    while (ptr < end) {
      const byte = <u32>load<u8>(ptr);
      if (!isSpecial(byte)) break;
      if (byte < 0x80) {
        outPtr = writeEscape(outPtr, byte);
        ptr++;
        continue;
      }
      const result = decodeUtf8(ptr, end);
      const isReplaced = decodedPoint(result) == REPLACEMENT;
      store<u32>(outPtr, isReplaced ? 0xbdbfef : load<u32>(ptr));
      ptr += decodedSize(result);
      outPtr += isReplaced ? 3 : decodedSize(result);
    }
  }
  return outPtr;
}

/** Writes `value` in decimal digits and returns the address after it, 1 to 10 bytes on. */
export function writeDecimal(outPtr: usize, value: u32): usize {
  let size: usize = 1;
  for (let rest = value; rest >= 10; rest /= 10) size++;
  let ptr = outPtr + size;
  while (ptr > outPtr) {
    ptr--;
    store<u8>(ptr, 0x30 + (value % 10));
    value /= 10;
  }
  return outPtr + size;
}

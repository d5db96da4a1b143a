// Percent-encodes paths for URLs. Steps of 16 bytes are copied as far as their bytes are plain; other code points one by one.

import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import { writeAsciiText } from './json.ts';

/**
 * Encodes each segment as encodeURIComponent does; a bad byte is U+FFFD. Returns the end of the text.
 * Safety: 9 * (end - ptr) + 16 bytes are free at `out`. Up to 15 bytes behind the path may be read.
 */
export function writeEncodedPath(out: usize, ptr: usize, end: usize): usize {
  while (ptr < end) {
    const bytes = v128.load(ptr);
    v128.store(out, bytes);
    const plain = min<usize>(plainBytes(bytes), end - ptr);
    out += plain;
    ptr += plain;
    if (plain == 16 || ptr == end) continue;
    const decoded = decodeUtf8(ptr, end);
    const size = decodedSize(decoded);
    const point = decodedPoint(decoded);
    if (isPlain(point)) store<u8>(out++, <u8>point);
    else if (point == REPLACEMENT) out = writeAsciiText(out, '%EF%BF%BD');
    else for (let i: usize = 0; i < size; i++) out = writeEncodedByte(out, load<u8>(ptr + i));
    ptr += size;
  }
  return out;
}

/** How many of the first bytes are letters, digits or one of `_-./`: most bytes of paths. */
@inline
function plainBytes(bytes: v128): usize {
  const letters = i8x16.sub(v128.or(bytes, i8x16.splat(0x20)), i8x16.splat(97));
  const digits = i8x16.sub(bytes, i8x16.splat(45));
  const isPlain = v128.or(
    i8x16.lt_u(letters, i8x16.splat(26)),
    v128.or(i8x16.lt_u(digits, i8x16.splat(13)), i8x16.eq(bytes, i8x16.splat(95))),
  );
  return <usize>ctz(~i8x16.bitmask(isPlain) | 0x10000);
}

/** Whether the code point is not encoded; 45 to 57 are `-./` and the digits. */
function isPlain(point: u32): bool {
  const lower = point | 0x20;
  if ((point < 128 && lower >= 97 && lower <= 122) || (point >= 45 && point <= 57)) return true;
  return point == 95 || point == 33 || point == 126 || (point >= 39 && point <= 42);
}

function writeEncodedByte(out: usize, byte: u32): usize {
  store<u8>(out, 37);
  store<u8>(out, <u8>hexDigit(byte >> 4), 1);
  store<u8>(out, <u8>hexDigit(byte & 15), 2);
  return out + 3;
}

@inline
function hexDigit(value: u32): u32 {
  return value < 10 ? 48 + value : 55 + value;
}

// UTF-8 for the whole core. A text is any bytes: well-formed sequences (no overlong forms, no
// surrogates, at most U+10FFFF) are code points, and every other byte is its own code point, U+FFFD
// of size 1. Decoding forward and backward from any code point border gives the same borders,
// because a lead byte never lies inside a well-formed sequence.

/** The code point of a bad byte. */
export const REPLACEMENT: u32 = 0xfffd;

/** A decoded code point and its size in bytes in one number; see decodedPoint and decodedSize. */
type Decoded = u32;

@inline
function decoded(point: u32, size: u32): Decoded {
  return (point << 3) | size;
}

@inline
export function decodedPoint(result: u32): u32 {
  return result >> 3;
}

/** The size in bytes of a result of decodeUtf8 or decodeUtf8Before, 1 to 4. */
@inline
export function decodedSize(result: u32): usize {
  return <usize>(result & 7);
}

/** Bytes of the byte order mark at the start of a content: 3, or 0 without one. */
export function markSize(start: usize, end: usize): usize {
  const isMarked =
    end - start >= 3 && load<u16>(start) == 0xbbef && <u32>load<u8>(start, 2) == 0xbf;
  return isMarked ? 3 : 0;
}

@inline
function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/**
 * Decodes the code point that starts at `ptr`, packed with its size (decodedPoint, decodedSize).
 * Safety: ptr < end; reads no byte from `end` on; a sequence cut there is bad bytes.
 */
@inline
export function decodeUtf8(ptr: usize, end: usize): u32 {
  const lead = <u32>load<u8>(ptr);
  if (lead < 0x80) return decoded(lead, 1);
  return decodeSequence(ptr, end, lead);
}

function decodeSequence(ptr: usize, end: usize, lead: u32): Decoded {
  const available = end - ptr;
  if (lead < 0xc2 || lead > 0xf4 || available < 2) return decoded(REPLACEMENT, 1);
  const second = <u32>load<u8>(ptr, 1);
  if (!isContinuation(second)) return decoded(REPLACEMENT, 1);
  if (lead < 0xe0) return decoded(((lead & 0x1f) << 6) | (second & 0x3f), 2);
  if (available < 3) return decoded(REPLACEMENT, 1);
  const third = <u32>load<u8>(ptr, 2);
  if (!isContinuation(third)) return decoded(REPLACEMENT, 1);
  const middle = ((second & 0x3f) << 6) | (third & 0x3f);
  if (lead < 0xf0) return decodeThree(((lead & 0x0f) << 12) | middle);
  if (available < 4) return decoded(REPLACEMENT, 1);
  const fourth = <u32>load<u8>(ptr, 3);
  if (!isContinuation(fourth)) return decoded(REPLACEMENT, 1);
  return decodeFour(((lead & 0x07) << 18) | (middle << 6) | (fourth & 0x3f));
}

@inline
function decodeThree(point: u32): Decoded {
  const isValid = point >= 0x800 && (point & 0xfffff800) != 0xd800;
  return isValid ? decoded(point, 3) : decoded(REPLACEMENT, 1);
}

@inline
function decodeFour(point: u32): Decoded {
  const isValid = point >= 0x10000 && point <= 0x10ffff;
  return isValid ? decoded(point, 4) : decoded(REPLACEMENT, 1);
}

/**
 * Decodes the code point that ends right before `ptr`, packed with its size.
 * Safety: start < ptr; both are code point borders. Reads no byte before `start`, and none from
 * `ptr` on.
 */
export function decodeUtf8Before(start: usize, ptr: usize): u32 {
  const last = <u32>load<u8>(ptr - 1);
  if (last < 0x80) return decoded(last, 1);
  const sizeMax = min(ptr - start, 4);
  for (let size: usize = 2; size <= sizeMax; size++) {
    const result = decodeUtf8(ptr - size, ptr);
    if (decodedSize(result) == size) return result;
  }
  return decoded(REPLACEMENT, 1);
}

/**
 * A bad byte counts one. Safety: may read up to 64 bytes past `end`; they do not change the result.
 */
export function countCodePoints(start: usize, end: usize): u32 {
  let count: u32 = 0;
  let ptr = start;
  while (ptr < end) {
    const ascii = min<usize>(<usize>ctz(i8x16.bitmask(v128.load(ptr)) | 0x10000), end - ptr);
    ptr += ascii;
    count += <u32>ascii;
    if (ascii == 16) continue;
    while (ptr < end && load<i8>(ptr) < 0) {
      ptr += decodedSize(decodeUtf8(ptr, end));
      count++;
    }
  }
  return count;
}

/** Safety: may read up to 64 bytes past `end`; they do not change the result. */
export function isAscii(start: usize, end: usize): bool {
  let ptr = start;
  while (end - ptr >= 64) {
    const low = v128.or(v128.load(ptr), v128.load(ptr, 16));
    const high = v128.or(v128.load(ptr, 32), v128.load(ptr, 48));
    if (i8x16.bitmask(v128.or(low, high)) != 0) return false;
    ptr += 64;
  }
  while (ptr < end) {
    const ascii = <usize>ctz(i8x16.bitmask(v128.load(ptr)) | 0x10000);
    if (ascii < min<usize>(end - ptr, 16)) return false;
    ptr += 16;
  }
  return true;
}

/** Writes `point`, no surrogate, at `ptr` and returns the address after it (1 to 4 bytes on). */
export function encodeUtf8(ptr: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(ptr, point);
    return ptr + 1;
  }
  if (point < 0x800) {
    store<u8>(ptr, 0xc0 | (point >> 6));
    store<u8>(ptr, 0x80 | (point & 0x3f), 1);
    return ptr + 2;
  }
  if (point < 0x10000) {
    store<u8>(ptr, 0xe0 | (point >> 12));
    store<u8>(ptr, 0x80 | ((point >> 6) & 0x3f), 1);
    store<u8>(ptr, 0x80 | (point & 0x3f), 2);
    return ptr + 3;
  }
  store<u8>(ptr, 0xf0 | (point >> 18));
  store<u8>(ptr, 0x80 | ((point >> 12) & 0x3f), 1);
  store<u8>(ptr, 0x80 | ((point >> 6) & 0x3f), 2);
  store<u8>(ptr, 0x80 | (point & 0x3f), 3);
  return ptr + 4;
}

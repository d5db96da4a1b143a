// The fingerprint of a set of literals ("Teddy"), which finds possible starts: nibble tables for
// three neighbouring bytes of the literals. A table maps a nibble of a byte to the buckets that
// allow it; a position is a candidate of a bucket if the bucket allows all six nibbles of its three
// bytes.
//   - A literal is in one of 8 buckets, or 16 if there are more than 8 literals; literals that
//     share nibbles share buckets.
//   - The three bytes end `endOffset` bytes behind the start of a match, the same for all literals,
//     so that candidates come in the order of their starts. The position that is rarest in source
//     code is chosen. Bytes before the start of a match may be any.
//   - A code point allows the bytes of all code points that equal it. If those equal to an earlier
//     one differ in size, it does so at every position where it can be. U+FFFD also allows each byte
//     above 0x7F.
// A candidate literal must also pass its probe: eight bytes from `probeOffset` on, some of them
// ORed. No match is missed. literal-set.ts scans haystacks with it.
// Source: Hyperscan's Teddy (Wang et al., NSDI 2019).

import { FOLD_CLASS_MAX, foldVariants } from '../text/fold.ts';
import { REPLACEMENT, decodeUtf8, decodedPoint, decodedSize, encodeUtf8 } from '../text/utf8.ts';
import { FREQUENCY_UNIT, byteFrequency } from './frequency.ts';

/** Most literals of a set. */
export const FINGERPRINT_LITERALS_MAX: u32 = 64;
/** Buckets that one vector of bytes can distinguish. */
export const BUCKETS_PER_HALF: u32 = 8;

const BUCKETS_MAX: u32 = 16;
const BYTE_COUNT: u32 = 3;
/** Offsets into a match that are considered. */
const OFFSETS_MAX: u32 = 32;
const HEAD_SIZE: usize = 48;
const TABLES_SIZE: usize = 192;
const FOLD_SIZE_MAX: u32 = 4;
const PROBE_BYTES: u32 = 8;

/**
 * Head of a fingerprint, followed by the tables (for each half of the buckets, for each byte, v128
 * of low nibbles, v128 of high ones), then a Candidate for each literal, bucket by bucket.
 */
@unmanaged
export class Fingerprint {
  endOffset: u32; // bytes from the start of a match to the last byte of the fingerprint
  bucketCount: u32; // 8 or 16
  sizeMin: u32; // bytes of the shortest match, at least 1
  probeOffset: u32; // bytes from the start of a match to those that the probes compare
  bucketStart0: u8; // start of each bucket's literals, and the end of the last: 17 u8
}

const BUCKET_STARTS_OFFSET: usize = offsetof<Fingerprint>('bucketStart0');

if (BUCKET_STARTS_OFFSET + 17 > HEAD_SIZE) ERROR('Fingerprint: size');
if (FOLD_CLASS_MAX != FOLD_SIZE_MAX) ERROR('Fingerprint: variants');

export const CANDIDATE_SIZE: usize = 24;

/** It can only match if the 8 bytes there, ORed with probeOr, equal probe. */
@unmanaged
export class Candidate {
  probe: u64;
  probeOr: u64;
  index: u32; // of the literal in its set
  reserved: u32; // zero
}

if (offsetof<Candidate>() != CANDIDATE_SIZE) ERROR('Candidate: size');

/** Allowed values of a byte: a bit for each low nibble, and one for each high nibble above them. */
type NibbleSets = u32;

const ANY_BYTE: NibbleSets = 0xffffffff;
const NOT_ASCII: NibbleSets = 0xff00ffff;

// Scratch of compileFingerprint.
const allowed = memory.data(8192, 16); // NibbleSets by literal, by offset into its match
const buckets = memory.data(192, 16); // NibbleSets by bucket, by byte
const bucketOf = memory.data(64, 16); // u8 by literal
const sizes = memory.data(256, 16); // u32 by literal: bytes of its shortest match
const variants = memory.data(16, 16);
const encoded = memory.data(8, 8);

if (FINGERPRINT_LITERALS_MAX * OFFSETS_MAX * 4 > 8192) ERROR('allowed: size');
if (BUCKETS_MAX * BYTE_COUNT * 4 > 192) ERROR('buckets: size');

/** Address of the v128 tables of `half` (0 or 1). */
@inline
export function fingerprintTables(print: Fingerprint, half: usize): usize {
  return changetype<usize>(print) + HEAD_SIZE + half * (TABLES_SIZE >> 1);
}

export function fingerprintSize(count: u32): usize {
  return HEAD_SIZE + TABLES_SIZE + ((<usize>count * CANDIDATE_SIZE + 15) & ~15);
}

/** Address of the first Candidate of `bucket`; its last is followed by the next bucket's first. */
@inline
export function fingerprintCandidates(print: Fingerprint, bucket: usize): usize {
  const before = <usize>load<u8>(changetype<usize>(print) + bucket, BUCKET_STARTS_OFFSET);
  return changetype<usize>(print) + HEAD_SIZE + TABLES_SIZE + before * CANDIDATE_SIZE;
}

export function fingerprintBegin(): void {
  memory.fill(allowed, 0, 8192);
}

/**
 * Adds literal `index`: the `size` (at least 1) bytes at `source`, as UTF-8. Returns the bytes of
 * its shortest match.
 * @param isWide  the haystack may contain U+212A and U+017F
 */
export function fingerprintAdd(
  index: u32,
  source: usize,
  size: usize,
  isFolding: bool,
  isWide: bool,
): u32 {
  const row = allowedAt(index, 0);
  const end = source + size;
  let starts: u64 = 1; // possible offsets of the code point, a bit each
  let matchSize: u32 = 0;
  for (let ptr = source; ptr < end; ) {
    const result = decodeUtf8(ptr, end);
    const count = loadVariants(decodedPoint(result), isFolding, isWide);
    let next: u64 = 0;
    let shortest: u32 = 4;
    for (let i: u32 = 0; i < count; i++) {
      const variantSize = allowVariant(row, starts, load<u32>(variants + (<usize>i << 2)));
      next |= starts << variantSize;
      shortest = min(shortest, variantSize);
    }
    if (decodedPoint(result) == REPLACEMENT) {
      allowByte(row, starts, NOT_ASCII);
      next |= starts << 1;
      shortest = 1;
    }
    starts = next & (((<u64>1) << OFFSETS_MAX) - 1);
    matchSize += shortest;
    ptr += decodedSize(result);
  }
  store<u32>(sizes + (<usize>index << 2), matchSize);
  return matchSize;
}

/** Address of the sets allowed by literal `index` at `offset`. */
@inline
function allowedAt(index: u32, offset: u32): usize {
  return allowed + (<usize>(index * OFFSETS_MAX + offset) << 2);
}

/** Writes the code points that equal `point` to `variants`, returns how many. */
function loadVariants(point: u32, isFolding: bool, isWide: bool): u32 {
  store<u32>(variants, point);
  if (!isFolding) return 1;
  const count = foldVariants(point, variants);
  if (isWide) return count;
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const variant = load<u32>(variants + (<usize>i << 2));
    if (variant == 0x212a || variant == 0x17f) continue;
    store<u32>(variants + (<usize>kept << 2), variant);
    kept++;
  }
  return kept;
}

/** Allows the bytes of `point` from each of `starts` on; returns their number. */
function allowVariant(row: usize, starts: u64, point: u32): u32 {
  const end = encodeUtf8(encoded, point);
  for (let ptr = encoded; ptr < end; ptr++) {
    const byte = <u32>load<u8>(ptr);
    allowByte(row, starts << <u64>(ptr - encoded), (1 << (byte & 15)) | (0x10000 << (byte >> 4)));
  }
  return <u32>(end - encoded);
}

function allowByte(row: usize, offsets: u64, sets: NibbleSets): void {
  for (let rest = <u32>offsets; rest != 0; rest &= rest - 1) {
    const entryPtr = row + (<usize>ctz(rest) << 2);
    store<u32>(entryPtr, load<u32>(entryPtr) | sets);
  }
}

/** Writes the fingerprint of the literals added. @param sizeMin  bytes of the shortest match */
export function fingerprintEnd(print: Fingerprint, count: u32, sizeMin: u32): void {
  memory.fill(changetype<usize>(print), 0, fingerprintSize(count));
  print.sizeMin = sizeMin;
  print.endOffset = rarestEnd(count, sizeMin);
  print.probeOffset = print.endOffset < PROBE_BYTES ? 0 : print.endOffset - PROBE_BYTES + 1;
  print.bucketCount = count <= BUCKETS_PER_HALF ? BUCKETS_PER_HALF : BUCKETS_MAX;
  memory.fill(buckets, 0, BUCKETS_MAX * BYTE_COUNT * 4);
  for (let index: u32 = 0; index < count; index++) {
    const bucket = cheapestBucket(index, print);
    store<u8>(bucketOf + <usize>index, bucket);
    for (let byte: u32 = 0; byte < BYTE_COUNT; byte++) {
      const entryPtr = bucketAt(bucket, byte);
      store<u32>(entryPtr, load<u32>(entryPtr) | allowedByte(index, print.endOffset, byte));
    }
  }
  for (let bucket: u32 = 0; bucket < print.bucketCount; bucket++) writeTables(print, bucket);
  writeCandidates(print, count);
}

/** The sets allowed by literal `index` for `byte` of a fingerprint that ends at `endOffset`. */
@inline
function allowedByte(index: u32, endOffset: u32, byte: u32): NibbleSets {
  const back = BYTE_COUNT - 1 - byte;
  return back > endOffset ? ANY_BYTE : load<u32>(allowedAt(index, endOffset - back));
}

@inline
function bucketAt(bucket: u32, byte: u32): usize {
  return buckets + (<usize>(bucket * BYTE_COUNT + byte) << 2);
}

/** Share of the bytes of source code with nibbles in `sets`. */
function shareOf(sets: NibbleSets): f64 {
  if (sets == ANY_BYTE) return 1;
  let sum: u32 = 0;
  for (let high = sets >> 16; high != 0; high &= high - 1) {
    for (let low = sets & 0xffff; low != 0; low &= low - 1) {
      sum += byteFrequency(<u8>((ctz(high) << 4) | ctz(low)));
    }
  }
  return <f64>sum / FREQUENCY_UNIT;
}

/** The end offset that gives the fewest candidates. */
function rarestEnd(count: u32, sizeMin: u32): u32 {
  let best: u32 = 0;
  let bestShare = f64.MAX_VALUE;
  for (let endOffset: u32 = 0; endOffset < min(sizeMin, OFFSETS_MAX); endOffset++) {
    let share: f64 = 0;
    for (let index: u32 = 0; index < count; index++) {
      let product: f64 = 1;
      for (let byte: u32 = 0; byte < BYTE_COUNT; byte++) {
        product *= shareOf(allowedByte(index, endOffset, byte));
      }
      share += product;
    }
    if (share >= bestShare) continue;
    best = endOffset;
    bestShare = share;
  }
  return best;
}

/** The bucket in which literal `index` adds the fewest candidates. */
function cheapestBucket(index: u32, print: Fingerprint): u32 {
  let best: u32 = 0;
  let bestShare = f64.MAX_VALUE;
  for (let bucket: u32 = 0; bucket < print.bucketCount; bucket++) {
    let before: f64 = 1;
    let after: f64 = 1;
    for (let byte: u32 = 0; byte < BYTE_COUNT; byte++) {
      const sets = load<u32>(bucketAt(bucket, byte));
      before *= shareOf(sets);
      after *= shareOf(sets | allowedByte(index, print.endOffset, byte));
    }
    if (after - before >= bestShare) continue;
    best = bucket;
    bestShare = after - before;
  }
  return best;
}

function writeTables(print: Fingerprint, bucket: u32): void {
  const bit: u32 = 1 << (bucket & 7);
  let table = fingerprintTables(print, <usize>(bucket >> 3));
  for (let byte: u32 = 0; byte < BYTE_COUNT; byte++) {
    const sets = load<u32>(bucketAt(bucket, byte));
    for (let entry: u32 = 0; entry < 32; entry++) {
      if (((sets >> entry) & 1) == 0) continue;
      const entryPtr = table + <usize>entry;
      store<u8>(entryPtr, <u32>load<u8>(entryPtr) | bit);
    }
    table += 32;
  }
}

function writeCandidates(print: Fingerprint, count: u32): void {
  const first = fingerprintCandidates(print, 0);
  let next: u32 = 0;
  for (let bucket: u32 = 0; bucket < BUCKETS_MAX; bucket++) {
    for (let index: u32 = 0; index < count; index++) {
      if (<u32>load<u8>(bucketOf + <usize>index) != bucket) continue;
      const candidate = first + <usize>next * CANDIDATE_SIZE;
      writeCandidate(changetype<Candidate>(candidate), index, print.probeOffset);
      next++;
    }
    store<u8>(changetype<usize>(print) + <usize>bucket, next, BUCKET_STARTS_OFFSET + 1);
  }
}

function writeCandidate(candidate: Candidate, index: u32, probeOffset: u32): void {
  const sizeMin = load<u32>(sizes + (<usize>index << 2));
  candidate.index = index;
  for (let byte: u32 = 0; byte < PROBE_BYTES; byte++) {
    const offset = probeOffset + byte;
    const isWithinMin = offset < min(sizeMin, OFFSETS_MAX);
    const sets = isWithinMin ? load<u32>(allowedAt(index, offset)) : ANY_BYTE;
    const orMask = probeOrOf(sets);
    const value = orMask | (ctz(sets >> 16) << 4) | ctz(sets & 0xffff);
    candidate.probe |= <u64>(value & 0xff) << <u64>(byte * 8);
    candidate.probeOr |= <u64>orMask << <u64>(byte * 8);
  }
}

/** The OR mask that makes all bytes of `sets` equal, if that is 0 or the bit of case; else 0xFF. */
function probeOrOf(sets: NibbleSets): u32 {
  const highs = sets >> 16;
  const high = <u32>1 << ctz(highs);
  if (popcnt(sets & 0xffff) != 1) return 0xff;
  if (highs == high) return 0;
  return (ctz(high) & 2) == 0 && highs == (high | (high << 2)) ? 0x20 : 0xff;
}

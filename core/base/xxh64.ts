// XXH64: the 64-bit hash that checks headers, sections and pages; not cryptographic.
// Source: the xxHash specification, "XXH64 algorithm description".

import { HEADER_SIZE } from '../shared/format.ts';

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

const STRIPE_SIZE: usize = 32;

@inline
function mixLane(lane: u64, input: u64): u64 {
  return rotl(lane + input * PRIME_2, 31) * PRIME_1;
}

@inline
function mergeLane(hash: u64, lane: u64): u64 {
  return (hash ^ mixLane(0, lane)) * PRIME_1 + PRIME_4;
}

/**
 * Hash, with seed 0, of the `size` bytes at `ptr`. Reads nothing else. Cost: about 10 bytes a
 * nanosecond.
 */
export function xxh64(ptr: usize, size: usize): u64 {
  let hash = PRIME_5;
  const total = <u64>size;
  if (size >= STRIPE_SIZE) {
    let lane1 = PRIME_1 + PRIME_2;
    let lane2 = PRIME_2;
    let lane3: u64 = 0;
    let lane4 = 0 - PRIME_1;
    while (size >= STRIPE_SIZE) {
      lane1 = mixLane(lane1, load<u64>(ptr));
      lane2 = mixLane(lane2, load<u64>(ptr, 8));
      lane3 = mixLane(lane3, load<u64>(ptr, 16));
      lane4 = mixLane(lane4, load<u64>(ptr, 24));
      ptr += STRIPE_SIZE;
      size -= STRIPE_SIZE;
    }
    hash = rotl(lane1, 1) + rotl(lane2, 7) + rotl(lane3, 12) + rotl(lane4, 18);
    hash = mergeLane(hash, lane1);
    hash = mergeLane(hash, lane2);
    hash = mergeLane(hash, lane3);
    hash = mergeLane(hash, lane4);
  }
  hash += total;
  while (size >= 8) {
    hash = rotl(hash ^ mixLane(0, load<u64>(ptr)), 27) * PRIME_1 + PRIME_4;
    ptr += 8;
    size -= 8;
  }
  if (size >= 4) {
    hash = rotl(hash ^ (<u64>load<u32>(ptr) * PRIME_1), 23) * PRIME_2 + PRIME_3;
    ptr += 4;
    size -= 4;
  }
  while (size > 0) {
    hash = rotl(hash ^ (<u64>load<u8>(ptr) * PRIME_5), 11) * PRIME_1;
    ptr += 1;
    size -= 1;
  }
  hash = (hash ^ (hash >> 33)) * PRIME_2;
  hash = (hash ^ (hash >> 29)) * PRIME_3;
  return hash ^ (hash >> 32);
}

const header: usize = memory.data(4096, 16);
if (HEADER_SIZE > 4096) ERROR('header: size');

/**
 * Hash of a header of at most HEADER_SIZE bytes, with zeros in place of the 8 bytes at offset
 * `field`, which store the hash.
 */
export function xxh64Without(ptr: usize, size: usize, field: usize): u64 {
  assert(size <= HEADER_SIZE, 'header size');
  memory.copy(header, ptr, size);
  store<u64>(header + field, 0);
  return xxh64(header, size);
}

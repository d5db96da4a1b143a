// XXH64: the 64-bit hash that checks sections and finds equal contents; not cryptographic. One call
// for contiguous bytes, or begin, update, end over a state record.
// Source: the xxHash specification, "XXH64 algorithm description".

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

const STRIPE_SIZE: usize = 32;

export const XXH64_STATE_SIZE: usize = 88;

/** Streaming state: 88 bytes at an 8-aligned address chosen by the caller. */
@unmanaged
class Xxh64State {
  lane1: u64;
  lane2: u64;
  lane3: u64;
  lane4: u64;
  stripe0: u64; // 32 bytes: the incomplete stripe
  stripe1: u64;
  stripe2: u64;
  stripe3: u64;
  seed: u64;
  totalSize: u64; // bytes added so far
  waitingSize: u32; // bytes in the incomplete stripe, < 32
  reserved: u32; // zero
}

if (offsetof<Xxh64State>() != XXH64_STATE_SIZE) ERROR('Xxh64State: size');

const STRIPE_OFFSET: usize = offsetof<Xxh64State>('stripe0');

@inline
function mixLane(lane: u64, input: u64): u64 {
  return rotl(lane + input * PRIME_2, 31) * PRIME_1;
}

@inline
function mergeLane(hash: u64, lane: u64): u64 {
  return (hash ^ mixLane(0, lane)) * PRIME_1 + PRIME_4;
}

function mergeLanes(lane1: u64, lane2: u64, lane3: u64, lane4: u64): u64 {
  let hash = rotl(lane1, 1) + rotl(lane2, 7) + rotl(lane3, 12) + rotl(lane4, 18);
  hash = mergeLane(hash, lane1);
  hash = mergeLane(hash, lane2);
  hash = mergeLane(hash, lane3);
  return mergeLane(hash, lane4);
}

/** Adds the last bytes, fewer than a stripe, and scrambles the result. */
function finish(hash: u64, ptr: usize, size: usize): u64 {
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

/** Hash of the `size` bytes at `ptr`. Reads nothing else. Cost: about 10 bytes a nanosecond. */
export function xxh64(ptr: usize, size: usize, seed: u64): u64 {
  const total = <u64>size;
  let hash = seed + PRIME_5;
  if (size >= STRIPE_SIZE) {
    let lane1 = seed + PRIME_1 + PRIME_2;
    let lane2 = seed + PRIME_2;
    let lane3 = seed;
    let lane4 = seed - PRIME_1;
    while (size >= STRIPE_SIZE) {
      lane1 = mixLane(lane1, load<u64>(ptr));
      lane2 = mixLane(lane2, load<u64>(ptr, 8));
      lane3 = mixLane(lane3, load<u64>(ptr, 16));
      lane4 = mixLane(lane4, load<u64>(ptr, 24));
      ptr += STRIPE_SIZE;
      size -= STRIPE_SIZE;
    }
    hash = mergeLanes(lane1, lane2, lane3, lane4);
  }
  return finish(hash + total, ptr, size);
}

/** Prepares the XXH64_STATE_SIZE bytes at `state` (8-aligned) for xxh64Update. */
export function xxh64Begin(state: usize, seed: u64): void {
  const record = changetype<Xxh64State>(state);
  record.lane1 = seed + PRIME_1 + PRIME_2;
  record.lane2 = seed + PRIME_2;
  record.lane3 = seed;
  record.lane4 = seed - PRIME_1;
  record.seed = seed;
  record.totalSize = 0;
  record.waitingSize = 0;
  record.reserved = 0;
}

/** Adds the whole stripes of [ptr, end); returns the address after them. */
function addStripes(record: Xxh64State, ptr: usize, end: usize): usize {
  let lane1 = record.lane1;
  let lane2 = record.lane2;
  let lane3 = record.lane3;
  let lane4 = record.lane4;
  while (end - ptr >= STRIPE_SIZE) {
    lane1 = mixLane(lane1, load<u64>(ptr));
    lane2 = mixLane(lane2, load<u64>(ptr, 8));
    lane3 = mixLane(lane3, load<u64>(ptr, 16));
    lane4 = mixLane(lane4, load<u64>(ptr, 24));
    ptr += STRIPE_SIZE;
  }
  record.lane1 = lane1;
  record.lane2 = lane2;
  record.lane3 = lane3;
  record.lane4 = lane4;
  return ptr;
}

export function xxh64Update(state: usize, ptr: usize, size: usize): void {
  const record = changetype<Xxh64State>(state);
  const stripe = state + STRIPE_OFFSET;
  const end = ptr + size;
  record.totalSize += <u64>size;
  const waiting = <usize>record.waitingSize;
  if (waiting > 0) {
    const missing = STRIPE_SIZE - waiting;
    const added = min(missing, size);
    memory.copy(stripe + waiting, ptr, added);
    ptr += added;
    record.waitingSize += <u32>added;
    if (added < missing) return;
    addStripes(record, stripe, stripe + STRIPE_SIZE);
  }
  ptr = addStripes(record, ptr, end);
  memory.copy(stripe, ptr, end - ptr);
  record.waitingSize = <u32>(end - ptr);
}

/** Hash of all added bytes. Does not change the state, so more may follow. */
export function xxh64End(state: usize): u64 {
  const record = changetype<Xxh64State>(state);
  const total = record.totalSize;
  const hash =
    total >= <u64>STRIPE_SIZE
      ? mergeLanes(record.lane1, record.lane2, record.lane3, record.lane4)
      : record.seed + PRIME_5;
  return finish(hash + total, state + STRIPE_OFFSET, <usize>record.waitingSize);
}

const fieldState: usize = memory.data(96, 16);
const fieldZeros: usize = memory.data(8, 8);

/** Hash of the `size` bytes at `ptr`, with zeros in place of the 8 bytes at offset `field`, which store it. Seed 0. */
export function xxh64Without(ptr: usize, size: usize, field: usize): u64 {
  assert(XXH64_STATE_SIZE <= 96);
  xxh64Begin(fieldState, 0);
  xxh64Update(fieldState, ptr, field);
  store<u64>(fieldZeros, 0);
  xxh64Update(fieldState, fieldZeros, 8);
  xxh64Update(fieldState, ptr + field + 8, size - field - 8);
  return xxh64End(fieldState);
}

/** Checksum of `size` bytes at `ptr`: XXH64 with seed 0. */
export function checksum(ptr: usize, size: u32): u64 {
  return xxh64(ptr, size, 0);
}

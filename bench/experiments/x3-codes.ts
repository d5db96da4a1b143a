// Experiment X3: codes for the posting lists of one shard (7-bit folded trigrams): size, and time from the
// coded lists of a query to its candidate blocks. Whole-list codes against codes over stripes (a fixed
// range of consecutive blocks whose part of a list, a piece, is coded by itself).
//   node build/bench/experiments/x3-codes.js FOLDER [BLOCK_SIZE] [CORPUS_MB]

import { ALPHABETS } from './alphabets.ts';
import { cutBlocks, readCorpus, sampleQueries } from './corpus.ts';

const SEGMENT = 8192;
const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: x3-codes FOLDER [BLOCK_SIZE] [CORPUS_MB]');
const blockSize = Number(process.argv[3] ?? 4096);
const corpus = readCorpus(folder, Number(process.argv[4] ?? 700) * 1e6);
const blocks = cutBlocks(corpus, blockSize);
const blockCount = blocks.length - 1;
const table = ALPHABETS[2]!.table;
const SPACE = 1 << 21;

/** Skips trigrams with a newline in the middle. */
function eachPosting(emit: (key: number, block: number) => void): void {
  const last = new Int32Array(SPACE).fill(-1);
  for (let b = 0; b < blockCount; b++) {
    let key = 10;
    for (let i = blocks[b]!; i < blocks[b + 1]!; i++) {
      key = ((key << 7) | table[corpus.bytes[i]!]!) & (SPACE - 1);
      if (last[key] === b) continue;
      last[key] = b;
      if (((key >> 7) & 127) !== 10) emit(key, b);
    }
  }
}

const offsets = new Uint32Array(SPACE + 1);
eachPosting((key) => offsets[key + 1]!++);
for (let key = 0; key < SPACE; key++) offsets[key + 1]! += offsets[key]!;
const ids = new Uint32Array(offsets[SPACE]!);
const fill = offsets.slice();
eachPosting((key, block) => {
  ids[fill[key]!++] = block;
});

class BitWriter {
  bytes = new Uint8Array(1 << 22);
  bit = 0;
  write(value: number, count: number): void {
    for (let i = 0; i < count; i++, this.bit++) {
      if ((value >>> i) & 1) this.bytes[this.bit >> 3]! |= 1 << (this.bit & 7);
    }
  }
  unary(count: number): void {
    this.bit += count;
    this.write(1, 1);
  }
  clear(): void {
    this.bytes.fill(0, 0, (this.bit >> 3) + 1);
    this.bit = 0;
  }
}

/** Gaps have the mean universe / count. */
function riceParameter(count: number, universe: number): number {
  return Math.max(0, Math.floor(Math.log2((universe / count) * 0.69)));
}

function riceBits(list: Uint32Array, base: number, k: number): number {
  let previous = base - 1;
  let bits = 0;
  for (const id of list) {
    bits += ((id - previous - 1) >>> k) + 1 + k;
    previous = id;
  }
  return bits;
}

const varintSize = (value: number): number => (value < 128 ? 1 : value < 16384 ? 2 : 3);

function sizeVarint(list: Uint32Array): number {
  let size = 0;
  let previous = -1;
  for (const id of list) {
    size += varintSize(id - previous);
    previous = id;
  }
  return size;
}

function sizeGamma(list: Uint32Array): number {
  let bits = 0;
  let previous = -1;
  for (const id of list) {
    bits += 2 * (31 - Math.clz32(id - previous)) + 1;
    previous = id;
  }
  return (bits + 7) >> 3;
}

/** Frames of 128 gaps; wide gaps are exceptions (1 + 2 bytes each). */
function sizePacked(list: Uint32Array): number {
  let size = 0;
  let previous = -1;
  for (let start = 0; start < list.length; start += 128) {
    const frame = list.subarray(start, start + 128);
    const widths = new Uint32Array(33);
    for (const id of frame) {
      widths[32 - Math.clz32(id - previous - 1)]!++;
      previous = id;
    }
    let best = Infinity;
    let wide = frame.length;
    for (let width = 0; width <= 24; width++) {
      wide -= widths[width]!;
      best = Math.min(best, ((frame.length * width + 7) >> 3) + wide * 3);
    }
    size += 2 + best;
  }
  return Math.min(size, (blockCount + 7) >> 3);
}

function sizeRice(list: Uint32Array): number {
  let size = 0;
  for (let start = 0; start < list.length; start += 128) {
    const frame = list.subarray(start, start + 128);
    const base = start === 0 ? 0 : list[start - 1]! + 1;
    const universe = frame[frame.length - 1]! + 1 - base;
    size += 2 + (riceBits(frame, base, riceParameter(frame.length, universe)) + 7) / 8;
  }
  return size;
}

function frames(list: Uint32Array): { segment: number; ids: Uint32Array }[] {
  const out = [];
  let start = 0;
  while (start < list.length) {
    const segment = Math.floor(list[start]! / SEGMENT);
    let end = start + 1;
    while (end < list.length && list[end]! < (segment + 1) * SEGMENT) end++;
    out.push({ segment, ids: list.subarray(start, end) });
    start = end;
  }
  return out;
}

/** Mask 4 + size 2 a piece; piece: one id 2 bytes; else count varint + Rice, or a bitmap of 1,024. */
function sizeStriped(list: Uint32Array, bitmapFrom: number): number {
  if (list.length === 1) return 0; // the id stands in the dictionary
  let size = 4;
  for (const frame of frames(list)) {
    const count = frame.ids.length;
    const k = riceParameter(count, SEGMENT);
    const rice = varintSize(count) + ((riceBits(frame.ids, frame.segment * SEGMENT, k) + 7) >> 3);
    size += 2 + (count === 1 ? 2 : count >= bitmapFrom ? 1024 : Math.min(rice, 1024));
  }
  return size;
}

/** Order 0 is Elias gamma. */
function golombBits(list: Uint32Array, base: number, k: number): number {
  let previous = base - 1;
  let bits = 0;
  for (const id of list) {
    const value = id - previous - 1 + (1 << k);
    bits += 2 * (31 - Math.clz32(value)) + 1 - k;
    previous = id;
  }
  return bits;
}

/** With the best exponential Golomb order of each piece instead of Rice. */
function sizeGolomb(list: Uint32Array, bitmapFrom: number, orderMax: number): number {
  if (list.length === 1) return 0;
  let size = 4;
  for (const frame of frames(list)) {
    const count = frame.ids.length;
    let best = Infinity;
    for (let k = 0; k <= orderMax; k++)
      best = Math.min(best, golombBits(frame.ids, frame.segment * SEGMENT, k));
    const coded = varintSize(count) + ((best + 7) >> 3);
    size += 2 + (count === 1 ? 2 : count >= bitmapFrom ? 1024 : Math.min(coded, 1024));
  }
  return size;
}

const list = (key: number): Uint32Array => ids.subarray(offsets[key], offsets[key + 1]);
const total = {
  postings: ids.length,
  distinct: 0,
  varint: 0,
  gamma: 0,
  packed: 0,
  rice: 0,
  striped: 0,
  striped2048: 0,
  stripedGamma: 0,
  stripedGolomb: 0,
  stripedGolomb2048: 0,
  stripedGolomb3072: 0,
};
for (let key = 0; key < SPACE; key++) {
  const one = list(key);
  if (one.length === 0) continue;
  total.distinct++;
  total.varint += sizeVarint(one);
  total.gamma += sizeGamma(one);
  total.packed += sizePacked(one);
  total.rice += sizeRice(one);
  total.striped += sizeStriped(one, Infinity);
  total.striped2048 += sizeStriped(one, 2048);
  total.stripedGamma += sizeGolomb(one, Infinity, 0);
  total.stripedGolomb += sizeGolomb(one, Infinity, 7);
  total.stripedGolomb2048 += sizeGolomb(one, 2048, 7);
  total.stripedGolomb3072 += sizeGolomb(one, 3072, 7);
}
console.log(
  `${(corpus.bytes.length / 1e6).toFixed(0)} MB, blocks of ${blockSize}: ${blockCount}, postings ${(ids.length / 1e6).toFixed(1)} M, ${total.distinct} lists`,
);
for (const [name, bytes] of Object.entries(total)) {
  if (name === 'postings' || name === 'distinct') continue;
  console.log(
    `${name.padEnd(18)} ${(bytes / 1e6).toFixed(1)} MB  ${((100 * bytes) / corpus.bytes.length).toFixed(2)}%  ${((8 * bytes) / ids.length).toFixed(2)} bits`,
  );
}

// Decodes each list into a bitmap, rarest first, and ANDs them.
const queries = sampleQueries(corpus, 1000, 20261121).map((query) => {
  const letters = [...Buffer.from(query, 'latin1')].map((byte) => table[byte]!);
  const keys = new Set<number>();
  for (let i = 0; i + 2 < letters.length; i++)
    keys.add((letters[i]! << 14) | (letters[i + 1]! << 7) | letters[i + 2]!);
  return [...keys].map(list).sort((a, b) => a.length - b.length);
});

interface Coded {
  bytes: Uint8Array;
  count: number;
  k: number;
}

function encodeVarint(one: Uint32Array): Coded {
  const bytes = new Uint8Array(one.length * 3);
  let at = 0;
  let previous = -1;
  for (const id of one) {
    let gap = id - previous;
    for (; gap > 127; gap >>>= 7) bytes[at++] = gap | 128;
    bytes[at++] = gap;
    previous = id;
  }
  return { bytes: bytes.slice(0, at), count: one.length, k: 0 };
}

function decodeVarint(coded: Coded, out: Uint32Array): void {
  let at = 0;
  let id = -1;
  for (let i = 0; i < coded.count; i++) {
    let gap = 0;
    let shift = 0;
    let byte = coded.bytes[at++]!;
    while (byte > 127) {
      gap |= (byte & 127) << shift;
      shift += 7;
      byte = coded.bytes[at++]!;
    }
    id += gap | (byte << shift);
    out[id >> 5]! |= 1 << (id & 31);
  }
}

function encodeRice(one: Uint32Array): Coded {
  const writer = new BitWriter();
  const k = riceParameter(one.length, blockCount);
  let previous = -1;
  for (const id of one) {
    const gap = id - previous - 1;
    writer.unary(gap >>> k);
    writer.write(gap, k);
    previous = id;
  }
  return { bytes: writer.bytes.slice(0, (writer.bit >> 3) + 9), count: one.length, k };
}

function decodeRice(coded: Coded, out: Uint32Array): void {
  const view = new DataView(coded.bytes.buffer);
  let bit = 0;
  let id = -1;
  for (let i = 0; i < coded.count; i++) {
    let word = view.getUint32(bit >> 3, true) >>> (bit & 7);
    let high = 0;
    while ((word & 0xffffff) === 0) {
      high += 24 - (bit & 7);
      bit += 24 - (bit & 7);
      word = view.getUint32(bit >> 3, true) >>> (bit & 7);
    }
    const zeros = 31 - Math.clz32(word & -word);
    bit += zeros + 1;
    const low = (view.getUint32(bit >> 3, true) >>> (bit & 7)) & ((1 << coded.k) - 1);
    bit += coded.k;
    id += (((high + zeros) << coded.k) | low) + 1;
    out[id >> 5]! |= 1 << (id & 31);
  }
}

const words = (blockCount + 31) >> 5;
function time(
  name: string,
  encode: (one: Uint32Array) => Coded,
  decode: (coded: Coded, out: Uint32Array) => void,
): void {
  const dense = blockCount / 6;
  const cache = new Map<Uint32Array, Coded | Uint32Array>();
  const coded = queries.map((lists) =>
    lists.map((one) => {
      let made: Coded | Uint32Array | undefined = cache.get(one);
      if (made !== undefined) return made;
      if (one.length > dense) {
        made = new Uint32Array(words);
        for (const id of one) made[id >> 5]! |= 1 << (id & 31);
      } else made = encode(one);
      cache.set(one, made);
      return made;
    }),
  );
  const times: number[] = [];
  const out = new Uint32Array(words);
  let decoded = 0;
  for (let round = 0; round < 2; round++) {
    times.length = 0;
    decoded = 0;
    for (const lists of coded) {
      const begin = process.hrtime.bigint();
      const all = new Uint32Array(words).fill(-1);
      for (const one of lists) {
        let bitmap: Uint32Array = out;
        if (one instanceof Uint32Array) bitmap = one;
        else {
          out.fill(0);
          decode(one, out);
          decoded += one.count;
        }
        let rest = 0;
        for (let i = 0; i < words; i++) rest |= all[i]! &= bitmap[i]!;
        if (rest === 0) break;
      }
      times.push(Number(process.hrtime.bigint() - begin) / 1e3);
    }
  }
  times.sort((a, b) => a - b);
  const sum = times.reduce((a, b) => a + b, 0);
  console.log(
    `${name}: all lists decoded, us p50 ${times[500]!.toFixed(0)} p90 ${times[900]!.toFixed(0)} p99 ${times[990]!.toFixed(0)}; ${(decoded / sum).toFixed(0)} M ids/s with the ANDs`,
  );
}
time('varint + bitmap', encodeVarint, decodeVarint);
time('Rice + bitmap', encodeRice, decodeRice);

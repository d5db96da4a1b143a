// Experiment X2: block size against key alphabet. For each pair: postings, distinct grams, bound and
// varint size of the lists, time to extract, and the bytes left to verify over the sampled queries.
//   node build/bench/experiments/x2-grams.js FOLDER [QUERY_COUNT]

import { ALPHABETS, type Alphabet } from './alphabets.ts';
import { type Corpus, cutBlocks, readCorpus, sampleQueries } from './corpus.ts';

interface Outcome {
  postings: number;
  middleNewline: number;
  distinct: number;
  varintBytes: number;
  boundBytes: number;
  seconds: number;
  survivorMean: number;
  survivorMedian: number;
  survivorP90: number;
}

const BLOCK_SIZES = [2048, 4096, 8192, 16384];

function queryKeys(query: string, alphabet: Alphabet): number[] {
  const letters = [...Buffer.from(query, 'latin1')].map((byte) => alphabet.table[byte]!);
  const keys = new Set<number>();
  for (let i = 0; i + 2 < letters.length; i++) {
    const high = (letters[i]! << (2 * alphabet.bits)) | (letters[i + 1]! << alphabet.bits);
    keys.add(high | letters[i + 2]!);
  }
  return [...keys];
}

function logChoose(n: number, k: number): number {
  if (k === 0 || k === n) return 0;
  const p = k / n;
  return n * (-p * Math.log2(p) - (1 - p) * Math.log2(1 - p));
}

function measure(
  corpus: Corpus,
  blocks: Uint32Array,
  alphabet: Alphabet,
  queries: string[],
): Outcome {
  const { bits, table } = alphabet;
  const space = 1 << (3 * bits);
  const mask = space - 1;
  const letterMask = (1 << bits) - 1;
  const newline = table[10]!;
  const blockCount = blocks.length - 1;
  const last = new Int32Array(space).fill(-1);
  const counts = new Uint32Array(space);
  const slot = new Int32Array(space).fill(-1);
  const keysByQuery = queries.map((query) => queryKeys(query, alphabet));
  const bitmaps: Uint8Array[] = [];
  for (const key of new Set(keysByQuery.flat())) {
    slot[key] = bitmaps.length;
    bitmaps.push(new Uint8Array((blockCount >> 3) + 1));
  }
  let postings = 0;
  let varintBytes = 0;
  let middleNewline = 0;
  const begin = process.hrtime.bigint();
  for (let b = 0; b < blockCount; b++) {
    const end = blocks[b + 1]!;
    let key = newline;
    for (let i = blocks[b]!; i < end; i++) {
      key = ((key << bits) | table[corpus.bytes[i]!]!) & mask;
      const previous = last[key]!;
      if (previous === b) continue;
      last[key] = b;
      postings++;
      if (((key >> bits) & letterMask) === newline) middleNewline++;
      const delta = b - previous;
      varintBytes += delta < 128 ? 1 : delta < 16384 ? 2 : 3;
      counts[key] = counts[key]! + 1;
      const bitmap = slot[key]!;
      if (bitmap >= 0) bitmaps[bitmap]![b >> 3]! |= 1 << (b & 7);
    }
  }
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  let distinct = 0;
  let boundBits = 0;
  for (let key = 0; key < space; key++) {
    if (counts[key] === 0) continue;
    distinct++;
    boundBits += logChoose(blockCount, counts[key]!);
  }
  const survivors = keysByQuery.map((keys) =>
    survivorBytes(
      keys.map((k) => bitmaps[slot[k]!]!),
      blocks,
    ),
  );
  survivors.sort((a, b) => a - b);
  return {
    postings,
    middleNewline,
    distinct,
    varintBytes,
    boundBytes: boundBits / 8,
    seconds,
    survivorMean: survivors.reduce((a, b) => a + b, 0) / survivors.length,
    survivorMedian: survivors[survivors.length >> 1]!,
    survivorP90: survivors[Math.floor(survivors.length * 0.9)]!,
  };
}

function survivorBytes(bitmaps: Uint8Array[], blocks: Uint32Array): number {
  let bytes = 0;
  for (let i = 0; i < bitmaps[0]!.length; i++) {
    let all = 255;
    for (const bitmap of bitmaps) all &= bitmap[i]!;
    for (let bit = 0; bit < 8; bit++) {
      if (all & (1 << bit)) bytes += blocks[i * 8 + bit + 1]! - blocks[i * 8 + bit]!;
    }
  }
  return bytes;
}

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: x2-grams FOLDER [QUERY_COUNT]');
const corpus = readCorpus(folder);
const queries = sampleQueries(corpus, Number(process.argv[3] ?? 1000), 20261121);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(2);
console.log(
  `${corpus.starts.length - 1} files, ${mb(corpus.bytes.length)} MB, ${queries.length} queries`,
);
console.log(
  'block alphabet blocks postings(M) midNL(M) distinct varintMB boundMB s leftMeanMB leftMedianKB leftP90MB',
);
for (const blockSize of BLOCK_SIZES) {
  const blocks = cutBlocks(corpus, blockSize);
  for (const alphabet of ALPHABETS) {
    const o = measure(corpus, blocks, alphabet, queries);
    console.log(
      `${blockSize} ${alphabet.name.replace(' ', '-')} ${blocks.length - 1} ${mb(o.postings)} ${mb(o.middleNewline)} ` +
        `${o.distinct} ${mb(o.varintBytes)} ${mb(o.boundBytes)} ${o.seconds.toFixed(1)} ` +
        `${mb(o.survivorMean)} ${(o.survivorMedian / 1e3).toFixed(1)} ${mb(o.survivorP90)}`,
    );
  }
}

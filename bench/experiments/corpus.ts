// The text of the experiments: files below a folder without a NUL byte in one buffer, and queries sampled from it.

import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Corpus {
  readonly bytes: Buffer;
  /** Of each file, and the end of the last. */
  readonly starts: readonly number[];
}

/** In path order until there are `bytesMax` bytes; only files with one of `endings`, if given. */
export function readCorpus(
  folder: string,
  bytesMax = Infinity,
  endings: readonly string[] = [''],
): Corpus {
  const parts: Buffer[] = [];
  const starts: number[] = [];
  let size = 0;
  for (const file of listFiles(folder)) {
    if (size >= bytesMax) break;
    if (!endings.some((ending) => file.endsWith(ending))) continue;
    const content = readFileSync(file);
    if (content.includes(0)) continue;
    starts.push(size);
    parts.push(content);
    size += content.length;
  }
  starts.push(size);
  return { bytes: Buffer.concat(parts, size), starts };
}

function* listFiles(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== '.git') yield* listFiles(full);
    } else if (lstatSync(full).isFile()) yield full;
  }
}

/** Starts of blocks that end with the last line end within `blockSize` (a longer line is one block), and the end. */
export function cutBlocks(corpus: Corpus, blockSize: number): Uint32Array {
  const { bytes, starts } = corpus;
  const cuts: number[] = [];
  for (let f = 0; f + 1 < starts.length; f++) {
    const end = starts[f + 1]!;
    let start = starts[f]!;
    while (start < end) {
      cuts.push(start);
      start = blockEnd(bytes, start, end, blockSize);
    }
  }
  cuts.push(bytes.length);
  return Uint32Array.from(cuts);
}

function blockEnd(bytes: Buffer, start: number, end: number, blockSize: number): number {
  if (end - start <= blockSize) return end;
  const last = bytes.lastIndexOf(10, start + blockSize - 1);
  if (last >= start) return last + 1;
  const next = bytes.indexOf(10, start);
  return next < 0 || next >= end ? end : next + 1;
}

/** mulberry32: numbers in [0, 1). */
export function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * 78% identifiers (half by occurrence; half of them changed in one letter, so mostly absent), 22% pieces of lines of 8
 * to 30 bytes.
 */
export function sampleQueries(corpus: Corpus, count: number, seed: number): string[] {
  const random = randomSource(seed);
  const queries = new Set<string>();
  while (queries.size < count) {
    const at = Math.floor(random() * (corpus.bytes.length - 200));
    const text = corpus.bytes.toString('latin1', at, at + 160);
    const query = random() < 0.78 ? identifier(text, random) : lineFragment(text, random);
    if (query !== undefined && query.length >= 3) queries.add(query);
  }
  return [...queries];
}

function identifier(text: string, random: () => number): string | undefined {
  const found = /\W([A-Za-z_]\w{2,40})\W/.exec(text)?.[1];
  if (found === undefined || random() < 0.7) return found;
  const at = Math.floor(random() * found.length);
  return found.slice(0, at) + 'jqxzvw'[Math.floor(random() * 6)] + found.slice(at + 1);
}

function lineFragment(text: string, random: () => number): string | undefined {
  const fragment = text.slice(0, 8 + Math.floor(random() * 23));
  return /[\n\x80-\xff]/.test(fragment) || fragment.trim().length < 3 ? undefined : fragment;
}

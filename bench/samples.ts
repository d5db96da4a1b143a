// Literals drawn from a tree with a seed: random pieces, identifiers, pieces across words, and mutations of them.

import { readFileSync } from 'node:fs';
import path from 'node:path';

/** From 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** Mulberry32, of public domain. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

export const SAMPLE_KINDS = ['place', 'identifier', 'border', 'mutation'] as const;
export type SampleKind = (typeof SAMPLE_KINDS)[number];

export interface Sample {
  readonly kind: SampleKind | 'expression';
  /** 1 to about 60 bytes of UTF-8, no line feed, no NUL. */
  readonly literal: string;
  /** A regular expression, of any size. */
  readonly isRegex?: true;
}

const SIZE_MAX = 60;
const WORD = /[A-Za-z_][A-Za-z_0-9]{2,}/g;

function pick<T>(items: readonly T[], random: Random): T | undefined {
  return items[Math.floor(random() * items.length)];
}

/** 1 to 60; every third is small, where most special cases are. */
function sampleSize(random: Random): number {
  return 1 + Math.floor(random() * (random() < 0.33 ? 8 : SIZE_MAX));
}

/** About `size` bytes, at least one character. */
function prefixOfSize(text: string, size: number): string {
  let prefix = '';
  for (const character of Array.from(text.slice(0, size + 1))) {
    if (prefix !== '' && Buffer.byteLength(prefix + character) > size) break;
    prefix += character;
  }
  return prefix;
}

/** A low surrogate is moved to its pair. */
function characterStart(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff && index > 0 ? index - 1 : index;
}

function fragmentAt(text: string, random: Random): string {
  const start = characterStart(text, Math.floor(random() * text.length));
  return prefixOfSize(text.slice(start, start + SIZE_MAX + 1), sampleSize(random));
}

function wordNear(text: string, random: Random): { word: string; index: number } | undefined {
  const from = Math.floor(random() * text.length);
  WORD.lastIndex = from;
  const found = WORD.exec(text.slice(0, from + 4000));
  return found ? { word: found[0], index: found.index } : undefined;
}

function fragmentOfIdentifier(text: string, random: Random): string {
  const word = wordNear(text, random)?.word ?? '';
  const start = random() < 0.5 ? 0 : Math.floor(random() * word.length);
  return prefixOfSize(word.slice(start), sampleSize(random));
}

function fragmentAcrossBorder(text: string, random: Random): string {
  const found = wordNear(text, random);
  if (!found) return '';
  const size = sampleSize(random);
  const before = 1 + Math.floor(random() * Math.min(size, found.word.length));
  const start = found.index + found.word.length - before;
  return prefixOfSize(text.slice(start, start + SIZE_MAX + 1), Math.max(size, before + 1));
}

/** One character replaced, doubled, left out, or the letters in another case. */
function mutate(literal: string, random: Random): string {
  const characters = Array.from(literal);
  const at = Math.floor(random() * characters.length);
  const other = pick(Array.from('aZ_0 .-#~\u00e9\u0416\u017f\u212a'), random) ?? 'x';
  const change = Math.floor(random() * 4);
  if (change === 0) characters[at] = other;
  if (change === 1) characters.splice(at, 0, characters[at] ?? other);
  if (change === 2 && characters.length > 1) characters.splice(at, 1);
  const text = characters.join('');
  return change === 3 ? swapCase(text, random) : text;
}

function swapCase(text: string, random: Random): string {
  return Array.from(text, (character) => {
    if (random() < 0.5) return character;
    const upper = character.toUpperCase();
    return upper === character ? character.toLowerCase() : upper;
  }).join('');
}

/** No U+FFFD: to Trawl every bad byte is one, to ripgrep only the character itself. */
function isUsable(literal: string): boolean {
  return literal !== '' && !/[\n\0\ufffd\p{Surrogate}]/u.test(literal);
}

function drawLiteral(kind: SampleKind, text: string, random: Random): string {
  if (kind === 'place') return fragmentAt(text, random);
  if (kind === 'identifier') return fragmentOfIdentifier(text, random);
  if (kind === 'border') return fragmentAcrossBorder(text, random);
  return mutate(fragmentAt(text, random), random);
}

/** Distinct, all kinds alike often; fewer if the files have no more. Throws if a file cannot be read. */
export function drawSamples(
  root: string,
  paths: readonly string[],
  count: number,
  random: Random,
): Sample[] {
  const samples = new Map<string, Sample>();
  // An attempt fails on empty files, line feeds and repeats; 50 a sample are plenty.
  for (let attempt = 0; attempt < count * 50 && samples.size < count; attempt++) {
    const file = pick(paths, random);
    const kind = SAMPLE_KINDS[attempt % SAMPLE_KINDS.length] ?? 'place';
    if (file === undefined) break;
    const text = readFileSync(path.join(root, file), 'utf8');
    const literal = text === '' ? '' : drawLiteral(kind, text, random);
    if (isUsable(literal) && !samples.has(literal)) samples.set(literal, { kind, literal });
  }
  return [...samples.values()];
}

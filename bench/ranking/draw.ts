// Draws queries from a tree by a seed and a rule per class, each with its expected files. A hash picks the half.

import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Random, seededRandom, shuffled } from '../samples.ts';
import { type Definition, isSource, type Source, type SourceDoc } from './source.ts';

export const HALVES = ['tune', 'report'] as const;
export type Half = (typeof HALVES)[number];

/** Words, or one phrase. */
export interface Requested {
  readonly text: string;
  readonly isPhrase: boolean;
  /** Any of these paths is right. */
  readonly expected: readonly string[];
}

export interface RankingQuery extends Requested {
  readonly tree: string;
  readonly class: string;
  readonly half: Half;
}

export interface Facts extends Source {
  /** By lower-case name. */
  readonly pathsByName: ReadonlyMap<string, ReadonlySet<string>>;
  /** Each pair of words and path once. */
  readonly names: readonly { readonly words: ReadonlySet<string>; readonly path: string }[];
}

/** Undefined: the rule does not fit. */
export type Rule<T> = (facts: Facts, one: T, random: Random) => Requested | undefined;

/** `HTTPServer_name2` has `HTTP`, `Server`, `name2`. */
export function partsOfName(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+/g) ?? [];
}

export function wordsOfName(name: string): string[] {
  return partsOfName(name).map((word) => word.toLowerCase());
}

export function know(source: Source): Facts {
  const pathsByName = new Map<string, Set<string>>();
  const names: { words: Set<string>; path: string }[] = [];
  for (const { name, doc } of source.definitions) {
    const paths = pathsByName.get(name.toLowerCase()) ?? new Set();
    pathsByName.set(name.toLowerCase(), paths);
    if (!paths.has(doc.path)) names.push({ words: new Set(wordsOfName(name)), path: doc.path });
    paths.add(doc.path);
  }
  return { ...source, pathsByName, names };
}

export function filesOf({ docs }: Source): { readonly doc: SourceDoc }[] {
  return docs.filter((doc) => isSource(doc.path)).map((doc) => ({ doc }));
}

export function words(list: readonly string[], ...expected: string[]): Requested {
  return { text: list.join(' '), isPhrase: false, expected };
}

/** In whatever case. */
export function isOnlyOne({ pathsByName }: Facts, { name }: Definition): boolean {
  return pathsByName.get(name.toLowerCase())?.size === 1;
}

export function containsAll(words: ReadonlySet<string>, required: readonly string[]): boolean {
  return required.every((word) => words.has(word));
}

export function stemOf(file: string): string {
  const base = path.posix.basename(file);
  return base.slice(0, base.indexOf('.', 1) < 0 ? undefined : base.indexOf('.', 1));
}

function hashOf(...parts: readonly string[]): number {
  return createHash('sha256').update(parts.join('\n')).digest().readUInt32BE();
}

export interface DrawOptions {
  readonly facts: Facts;
  readonly seed: number;
  readonly halves: readonly Half[];
}

/** At most `count` of one class; no two expect the same file. */
export function draw<T extends { readonly doc: SourceDoc }>(
  { facts, seed, halves }: DrawOptions,
  queryClass: string,
  count: number,
  items: readonly T[],
  rule: Rule<T>,
): RankingQuery[] {
  const { name: tree } = facts.tree;
  const random = seededRandom(hashOf(String(seed), tree, queryClass));
  const own = items.filter(({ doc }) => doc.isOwn);
  const drawn = new Set<string>();
  const queries: RankingQuery[] = [];
  // Some rules read the whole tree in each.
  for (const one of shuffled(own, random).slice(0, 400)) {
    if (queries.length === count) break;
    const requested = rule(facts, one, random);
    if (requested === undefined || requested.expected.some((file) => drawn.has(file))) continue;
    for (const file of requested.expected) drawn.add(file);
    const half = halves[hashOf(tree, queryClass, requested.text) % halves.length] ?? 'report';
    queries.push({ tree, class: queryClass, half, ...requested });
  }
  return queries;
}

export function digestOf(queries: readonly RankingQuery[]): string {
  return createHash('sha256').update(JSON.stringify(queries)).digest('hex').slice(0, 12);
}

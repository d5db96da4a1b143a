// Computes with ripgrep what a case must find. By the query language AND is per file, ranges under a negation are not
// shown, overlapping ranges count once, and literals are found in paths too.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { leafOf } from './cases.ts';
import type { BenchCase, Meaning } from './cases.ts';
import { findInLinks } from './links.ts';
import type { LinkMap } from './links.ts';
import { ripgrepAll } from './ripgrep.ts';
import type { ByteRange, MatchMap } from './ripgrep.ts';

export interface Counts {
  readonly files: number;
  /** Lines with the start of a range; 0 for results by name. */
  readonly lines: number;
  readonly matches: number;
}

export interface CorpusFiles {
  readonly root: string;
  readonly searched: ReadonlySet<string>;
  readonly excluded: ReadonlySet<string>;
  readonly links: LinkMap;
}

type Finder = (text: string, isRegex: boolean) => Promise<MatchMap>;

interface Ranges {
  readonly content: readonly ByteRange[];
  readonly path: readonly ByteRange[];
}
type Found = ReadonlyMap<string, Ranges>;

const NOTHING: Ranges = { content: [], path: [] };

/** Sorts by start, then the longer first; a range that overlaps a kept one is dropped. */
export function mergeRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const kept: ByteRange[] = [];
  for (const range of ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (range[0] >= (kept.at(-1)?.[1] ?? 0)) kept.push(range);
  }
  return kept;
}

function joined(maps: readonly Found[], keep: (file: string) => boolean): Found {
  const files = new Set(maps.flatMap((map) => [...map.keys()].filter(keep)));
  const rangesOf = (file: string, kind: keyof Ranges): ByteRange[] =>
    mergeRanges(maps.flatMap((map) => map.get(file)?.[kind] ?? []));
  return new Map(
    [...files].map((file) => [
      file,
      { content: rangesOf(file, 'content'), path: rangesOf(file, 'path') },
    ]),
  );
}

/** Letters beyond ASCII do not fold. */
function pathRanges(file: string, literal: string, isCaseSensitive: boolean): ByteRange[] {
  const bytes = (text: string): Buffer =>
    Buffer.from(isCaseSensitive ? text : text.replaceAll(/[A-Z]/g, (one) => one.toLowerCase()));
  const [haystack, needle] = [bytes(file), bytes(literal)];
  const ranges: ByteRange[] = [];
  for (
    let at = haystack.indexOf(needle);
    at >= 0;
    at = haystack.indexOf(needle, at + needle.length)
  )
    ranges.push([at, at + needle.length]);
  return ranges;
}

/** Ranges by file; a file for which `meaning` holds without a range has empty lists. */
async function evaluate(
  { meaning, isCaseSensitive }: Pick<BenchCase, 'meaning' | 'isCaseSensitive'>,
  corpus: CorpusFiles,
  find: Finder,
): Promise<Found> {
  const all = [...corpus.searched, ...corpus.excluded, ...corpus.links.keys()];
  const evaluateOne = (one: Meaning): Promise<Found> =>
    evaluate({ meaning: one, isCaseSensitive }, corpus, find);
  if ('literal' in meaning) {
    const inContents = await find(meaning.literal, false);
    const ranges = all.map((file): [string, Ranges] => [
      file,
      {
        content: inContents.get(file) ?? [],
        path: pathRanges(file, meaning.literal, isCaseSensitive),
      },
    ]);
    return new Map(ranges.filter(([, { content, path: own }]) => content.length + own.length > 0));
  }
  if ('regex' in meaning) {
    const inContents = await find(meaning.regex, true);
    return new Map([...inContents].map(([file, content]) => [file, { content, path: [] }]));
  }
  if ('path' in meaning)
    return new Map(all.filter((file) => meaning.path.test(file)).map((file) => [file, NOTHING]));
  if ('not' in meaning) {
    const excluded = await evaluateOne(meaning.not);
    return new Map(all.filter((file) => !excluded.has(file)).map((file) => [file, NOTHING]));
  }
  const children = 'and' in meaning ? meaning.and : meaning.or;
  const maps: Found[] = [];
  for (const child of children) maps.push(await evaluateOne(child));
  const isAnd = 'and' in meaning;
  return joined(maps, (file) => !isAnd || maps.every((map) => map.has(file)));
}

/** Lines with the start of a range; `ranges` ascending. */
export function countLines(content: Buffer, ranges: readonly ByteRange[]): number {
  let lineCount = 0;
  let lineEnd = -1;
  for (const [start] of ranges) {
    if (start <= lineEnd) continue;
    lineCount++;
    const end = content.indexOf(10, start);
    lineEnd = end === -1 ? content.length : end;
  }
  return lineCount;
}

function contentOf(file: string, { root, links }: CorpusFiles): Buffer {
  const target = links.get(file);
  return target === undefined ? readFileSync(path.join(root, file)) : Buffer.from(target);
}

/** Cost: a ripgrep run per literal and expression, and a read of each matching file. Rejects without ripgrep. */
export async function referenceCounts(benchCase: BenchCase, corpus: CorpusFiles): Promise<Counts> {
  const { isCaseSensitive } = benchCase;
  const found = await evaluate(benchCase, corpus, async (text, isRegex) => {
    const inFiles = await ripgrepAll(corpus.root, text, { isCaseSensitive, isRegex });
    const inLinks = findInLinks(corpus.links, text, isCaseSensitive, isRegex);
    const searched = [...(inFiles ?? [])].filter(([file]) => !corpus.excluded.has(file));
    return new Map([...searched, ...inLinks]);
  });
  let [lines, matches] = [0, 0];
  for (const [file, ranges] of found) {
    // A result by name has a range per match of its path.
    matches += Math.max(1, ranges.content.length + ranges.path.length);
    if (ranges.content.length > 0) lines += countLines(contentOf(file, corpus), ranges.content);
  }
  return { files: found.size, lines, matches };
}

/** Lines in files known by name only; 0 unless the case is one literal or expression. Rejects without ripgrep. */
export async function countExcluded(
  { meaning, isCaseSensitive }: BenchCase,
  root: string,
  excluded: ReadonlySet<string>,
): Promise<number> {
  const leaf = leafOf(meaning);
  if (!leaf || excluded.size === 0) return 0;
  const { text, isRegex } = leaf;
  const found = await ripgrepAll(root, text, { isCaseSensitive, isRegex, paths: [...excluded] });
  return [...(found ?? [])].reduce(
    (sum, [file, ranges]) => sum + countLines(readFileSync(path.join(root, file)), ranges),
    0,
  );
}

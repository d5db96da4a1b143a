// Differential test: literals from a real tree and expressions made of them; files and byte offsets of every match must
// equal ripgrep's in both case modes. One ripgrep process per search and mode, as several patterns in one run would
// hide overlapping matches; so a tree should have a few thousand files at most for a thousand literals.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { findInLinks, readLinks } from './links.ts';
import type { LinkMap } from './links.ts';
import { ripgrepAll, ripgrepFiles } from './ripgrep.ts';
import type { ByteRange, MatchMap } from './ripgrep.ts';
import { drawPatterns } from './patterns.ts';
import { drawSamples, seededRandom } from './samples.ts';
import type { Sample } from './samples.ts';

/** All ranges of `text` in the tree, by relative path, ascending; undefined: too many. */
export type SearchAll = (
  text: string,
  isCaseSensitive: boolean,
  isRegex?: boolean,
) => Promise<MatchMap | undefined>;

export interface DifferentialOptions {
  readonly root: string;
  readonly sampleCount: number;
  /** Absent: no regular expressions. */
  readonly patternCount?: number;
  readonly seed: number;
  /** Searches with more ranges than this are not compared. */
  readonly rangeCountMax: number;
  /** Trawl omits the content of larger files, and of those with a NUL byte. */
  readonly fileSizeMax: number;
  readonly searchAll: SearchAll;
  /** Paths whose content Trawl omits for other reasons. */
  readonly excludedPaths?: ReadonlySet<string>;
  /** Only these paths below the root (folders or files); absent: all. */
  readonly paths?: readonly string[];
}

export interface Difference {
  readonly sample: Sample;
  readonly isCaseSensitive: boolean;
  readonly path: string;
  /** The first range that only one side has; undefined: that side has none left. */
  readonly expected: ByteRange | undefined;
  readonly actual: ByteRange | undefined;
}

export interface DifferentialReport {
  readonly seed: number;
  readonly comparedCount: number;
  readonly uncomparedCount: number;
  readonly absentCount: number;
  readonly rangeCount: number;
  readonly differences: readonly Difference[];
}

/** Remembers its answers. */
function contentFilter(options: DifferentialOptions): (file: string) => boolean {
  const cached = new Map<string, boolean>();
  const isSearched = (file: string): boolean => {
    if (options.excludedPaths?.has(file)) return false;
    const full = path.join(options.root, file);
    return statSync(full).size <= options.fileSizeMax && !readFileSync(full).includes(0);
  };
  return (file) => {
    const answer = cached.get(file) ?? isSearched(file);
    cached.set(file, answer);
    return answer;
  };
}

function firstDifference(
  expected: readonly ByteRange[],
  actual: readonly ByteRange[],
): [ByteRange | undefined, ByteRange | undefined] | undefined {
  const count = Math.max(expected.length, actual.length);
  for (let i = 0; i < count; i++) {
    const [reference, got] = [expected[i], actual[i]];
    if (reference?.[0] !== got?.[0] || reference?.[1] !== got?.[1]) return [reference, got];
  }
  return undefined;
}

/** The first differing range of each path. */
export function compareMatches(
  expected: MatchMap,
  actual: MatchMap,
): { path: string; expected: ByteRange | undefined; actual: ByteRange | undefined }[] {
  const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return paths.flatMap((file) => {
    const difference = firstDifference(expected.get(file) ?? [], actual.get(file) ?? []);
    return difference ? [{ path: file, expected: difference[0], actual: difference[1] }] : [];
  });
}

interface Scope {
  readonly isSearched: (file: string) => boolean;
  readonly links: LinkMap;
}

type Outcome =
  | { readonly kind: 'uncompared' }
  | { readonly kind: 'compared'; rangeCount: number; differences: readonly Difference[] };

async function compareOne(
  sample: Sample,
  isCaseSensitive: boolean,
  options: DifferentialOptions,
  scope: Scope,
): Promise<Outcome> {
  const { root, rangeCountMax, paths } = options;
  const { literal, isRegex = false } = sample;
  const [found, actual] = await Promise.all([
    ripgrepAll(root, literal, {
      isCaseSensitive,
      isRegex,
      rangeCountMax,
      ...(paths ? { paths } : {}),
    }),
    options.searchAll(literal, isCaseSensitive, isRegex),
  ]);
  if (found === undefined) return { kind: 'uncompared' };
  if (actual === undefined) return { kind: 'uncompared' };
  const inFiles = [...found].filter(([file]) => scope.isSearched(file));
  const inLinks = findInLinks(scope.links, literal, isCaseSensitive, isRegex);
  const expected: MatchMap = new Map([...inFiles, ...inLinks]);
  const differences = compareMatches(expected, actual).map((difference) => ({
    sample,
    isCaseSensitive,
    ...difference,
  }));
  const rangeCount = [...expected.values()].reduce((sum, ranges) => sum + ranges.length, 0);
  return { kind: 'compared', rangeCount, differences };
}

function summarize(seed: number, outcomes: readonly Outcome[]): DifferentialReport {
  const compared = outcomes.filter((outcome) => outcome.kind === 'compared');
  return {
    seed,
    comparedCount: compared.length,
    uncomparedCount: outcomes.length - compared.length,
    absentCount: compared.filter(({ rangeCount }) => rangeCount === 0).length,
    rangeCount: compared.reduce((sum, { rangeCount }) => sum + rangeCount, 0),
    differences: compared.flatMap(({ differences }) => differences),
  };
}

/** The literals do not depend on `patternCount`. */
function drawSearches(
  { root, sampleCount, patternCount = 0, seed }: DifferentialOptions,
  files: readonly string[],
): Sample[] {
  const random = seededRandom(seed);
  const samples = drawSamples(root, files, sampleCount, random);
  return [...samples, ...drawPatterns(drawSamples(root, files, patternCount, random), random)];
}

/** Rejects if ripgrep is missing or a search fails. */
export async function runDifferential(options: DifferentialOptions): Promise<DifferentialReport> {
  const isSearched = contentFilter(options);
  const { root, paths, seed } = options;
  const isInScope = (file: string): boolean =>
    paths?.some((scope) => file === scope || file.startsWith(`${scope}/`)) ?? true;
  const links = new Map([...readLinks(root)].filter(([link]) => isInScope(link)));
  const files = (await ripgrepFiles(root)).filter((file) => isInScope(file) && isSearched(file));
  const searches = drawSearches(options, files.sort()).flatMap((sample) =>
    [true, false].map((isCaseSensitive) => ({ sample, isCaseSensitive })),
  );
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let next = searches.pop(); next; next = searches.pop()) {
      outcomes.push(
        await compareOne(next.sample, next.isCaseSensitive, options, { isSearched, links }),
      );
    }
  };
  await Promise.all([work(), work()]);
  return summarize(seed, outcomes);
}

function showRange(range: ByteRange | undefined): string {
  return range ? range.join('-') : 'nothing';
}

export function describeDifference(difference: Difference): string {
  const { sample, isCaseSensitive, path: file, expected, actual } = difference;
  const mode = isCaseSensitive ? 'case-sensitive' : 'any case';
  const literal = JSON.stringify(sample.literal);
  return `${literal} (${sample.kind}, ${mode}) in ${file}: ripgrep ${showRange(expected)}, Trawl ${showRange(actual)}`;
}

/** At most 20 differences. */
export function describeReport(report: DifferentialReport): string {
  const { seed, comparedCount, uncomparedCount, absentCount, rangeCount, differences } = report;
  const lines = [
    `seed ${String(seed)}: ${String(comparedCount)} searches compared, ` +
      `${String(rangeCount)} ranges, ${String(absentCount)} found nothing, ` +
      `${String(uncomparedCount)} with too many ranges; ${String(differences.length)} differences`,
    ...differences.slice(0, 20).map(describeDifference),
  ];
  return `${lines.join('\n')}\n`;
}

// Definitions and references of a symbol (API.md 10): locations found by searches built from a name, with their lines.

import { sumOf } from '../../base/lists.ts';
import { resolveLanguage } from '../../sources/languages/language-data.ts';
import type { SearchRequest } from '../query/request.ts';
import { exhaustiveness, repositoryInfos } from './answer.ts';
import type { EngineParts, SearchEnvironment } from './prepare.ts';
import {
  allOf,
  exactNode,
  notNode,
  patternNode,
  regexNode,
  repoNode,
  valueNode,
} from '../query/nodes.ts';
import { DEFAULT_REVISION, exactRevision } from '../query/revisions.ts';
import { acquireFor } from './demanded-revisions.ts';
import { type Completed, completeSearch, withSnapshot } from './search.ts';
import { parseFiles } from './render.ts';
import type { QueryNode } from '../query/tree.ts';
import { quotePattern } from '../regex/quote.ts';

export type NavigationKind = 'definitions' | 'references';

export interface NavigationCall {
  readonly symbolName: string;
  /** Related languages count as the same. */
  readonly language?: string;
  /** Full ref name, or `HEAD`. */
  readonly revisionName: string;
  readonly repoName?: string;
  /** Files of this repo come first, this file before them. */
  readonly near?: Near;
}

interface Near {
  readonly repoName: string;
  readonly path: string;
}

interface Occurrence {
  readonly lineContent: string;
  readonly range: SpannedRange;
}

interface Location {
  readonly byteOffset: number;
  readonly lineNumber: number;
  readonly column: number;
}

interface SpannedRange {
  readonly start: Location;
  readonly end: Location;
}

interface FoundFile {
  readonly fileName: { readonly text: string };
  readonly repository: string;
  readonly repositoryId: number;
  readonly webUrl: string;
  readonly language: string;
  readonly chunks: readonly {
    readonly content: string;
    readonly contentStart: Location;
    readonly matchRanges: readonly SpannedRange[];
  }[];
}

/** Of an answer. */
const OCCURRENCES_MAX = 1000;

/** Languages that use each other's symbols. */
const LANGUAGE_FAMILIES: readonly (readonly string[])[] = [
  ['C', 'C++', 'Cuda', 'Objective-C', 'Objective-C++'],
  ['TypeScript', 'JavaScript', 'JSX', 'TSX', 'Vue', 'Svelte'],
];

/** The response of API.md 10.2. Errors: QueryError: too large a name; AbortError when the client is gone. */
export async function navigate(
  parts: EngineParts,
  kind: NavigationKind,
  call: NavigationCall,
  environment: SearchEnvironment,
): Promise<object> {
  const query = queryOf(kind, call);
  const { near } = call;
  const acquire = () => acquireFor(parts, requestOf(query), environment);
  return withSnapshot(parts, acquire, async (snapshot) => {
    const all = await completeSearch(parts, requestOf(query), environment, snapshot);
    // The daemon's health counts one search.
    const others = { ...parts, onCompleted: undefined };
    const search = (one: QueryNode, matches: number): Promise<Completed> =>
      completeSearch(others, requestOf(one, matches), environment, snapshot);
    const isCut = all.reasons.length > 0 && all.numbers.actualMatchCount >= OCCURRENCES_MAX;
    const searches = near !== undefined && isCut ? await searchNear(query, near, search) : [all];
    const files = searches.flatMap((one) => parseFiles<FoundFile>(one.files));
    const infos = searches.flatMap((one) => repositoryInfos(one.answered, one.prepared.view));
    const distinct = [...new Map(infos.map((info) => [info.name, info])).values()];
    return {
      stats: { matchCount: sumOf(searches, ({ numbers }) => numbers.actualMatchCount) },
      files: nearestFirst(files, near, fileDistance).map(occurrencesOf),
      repositoryInfo: nearestFirst(distinct, near, repoDistance),
      ...exhaustiveness([...new Set([all, ...searches].flatMap(({ reasons }) => reasons))]),
    };
  });
}

function requestOf(query: QueryNode, matches = OCCURRENCES_MAX): SearchRequest {
  return {
    query,
    matches,
    contextLines: 0,
    whole: false,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  };
}

/** Searches the file, the rest of its repo and the other repos, until there are enough occurrences. */
async function searchNear(
  query: QueryNode,
  { repoName, path }: Near,
  search: (query: QueryNode, matches: number) => Promise<Completed>,
): Promise<Completed[]> {
  const repo = repoNode(repoName);
  const file = exactNode('file', path);
  const searches: Completed[] = [];
  let rest = OCCURRENCES_MAX;
  for (const filters of [[repo, file], [repo, notNode(file)], [notNode(repo)]]) {
    if (rest <= 0) break;
    const found = await search(allOf([query, ...filters]), rest);
    searches.push(found);
    rest -= found.numbers.actualMatchCount;
  }
  return searches;
}

function queryOf(
  kind: NavigationKind,
  { symbolName, language, revisionName, repoName }: NavigationCall,
): QueryNode {
  const pattern = boundedPattern(symbolName);
  const name = kind === 'definitions' ? patternNode('sym', pattern) : regexNode(pattern);
  const filters: QueryNode[] = [];
  if (repoName !== undefined) filters.push(repoNode(repoName));
  if (language !== undefined) filters.push(languageFilter(language));
  if (revisionName !== DEFAULT_REVISION)
    filters.push(valueNode('rev', exactRevision(revisionName)));
  return allOf([name, ...filters]);
}

/** With word boundaries at ends that are word characters. */
function boundedPattern(name: string): string {
  const start = /^\w/.test(name) ? '\\b' : '';
  const end = /\w$/.test(name) ? '\\b' : '';
  return `${start}${quotePattern(name)}${end}`;
}

function languageFilter(given: string): QueryNode {
  const language = resolveLanguage(given) ?? given;
  const family = LANGUAGE_FAMILIES.find((names) => names.includes(language)) ?? [language];
  const children = family.map((value) => valueNode('lang', value));
  return children.length === 1 ? children[0]! : { kind: 'or', children };
}

/** Keeps the order of equally near items. */
function nearestFirst<Item>(
  items: Item[],
  near: NavigationCall['near'],
  distanceOf: (item: Item, near: Near) => number,
): Item[] {
  if (near === undefined) return items;
  return items.toSorted((a, b) => distanceOf(a, near) - distanceOf(b, near));
}

/** 0: the file itself; 1: in its repo. */
function fileDistance({ repository, fileName }: FoundFile, { repoName, path }: Near): number {
  if (repository !== repoName) return 2;
  return fileName.text === path ? 0 : 1;
}

function repoDistance({ name }: { readonly name: string }, { repoName }: Near): number {
  return name === repoName ? 0 : 1;
}

function occurrencesOf({ fileName, chunks, ...file }: FoundFile): object {
  const matches = chunks.flatMap(({ content, contentStart, matchRanges }) => {
    const lines = linesOf(content);
    return matchRanges.map((range): Occurrence => {
      const first = range.start.lineNumber - contentStart.lineNumber;
      const last = lastLineOf(range) - contentStart.lineNumber;
      return { lineContent: lines.slice(first, last + 1).join(''), range };
    });
  });
  const { repository, repositoryId, webUrl, language } = file;
  return { fileName: fileName.text, repository, repositoryId, webUrl, language, matches };
}

/** Line of the range's last character. */
function lastLineOf({ start, end }: SpannedRange): number {
  return end.column === 1 && end.lineNumber > start.lineNumber
    ? end.lineNumber - 1
    : end.lineNumber;
}

/** Each with its newline. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

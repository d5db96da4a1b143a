// Explains why a tool search found nothing, from what the caller sees.

import { patternNode, regexNode } from '../../../engine/query/nodes.ts';
import type { QueryNode } from '../../../engine/query/tree.ts';
import { matchesFound, NEAR_MATCHES_MAX } from '../../../engine/search/near-hints.ts';
import { withCarriageReturns } from '../../../engine/regex/line-ends.ts';
import { QueryError } from '../../../engine/regex/query-error.ts';
import { quotePattern } from '../../../engine/regex/quote.ts';
import { globPattern } from './glob-pattern.ts';
import type { SearchResponse } from '../../search/search-schemas.ts';
import { searchFor } from './search-scope.ts';
import { displayName } from './bounded-text.ts';
import type { ToolContext } from './tool.ts';

type Conditions = ReadonlyMap<string, QueryNode>;

interface EmptySearch {
  /** Undefined: a search for paths. */
  readonly pattern?: string;
  readonly globs: Readonly<Record<string, string>>;
  /** All but `pattern`, by argument. */
  readonly conditions: Conditions;
}

/** Lines for the result, the likeliest reason first. Errors: those of a search. */
export async function whyNothing(search: EmptySearch, context: ToolContext): Promise<string[]> {
  const { pattern, conditions } = search;
  const unindexed = whatIsUnindexed(context);
  const filters = await emptyFilters(search, context);
  const near =
    pattern === undefined || filters.length > 0
      ? []
      : await nearForms(pattern, conditions, context);
  return [...unindexed, ...filters, ...near];
}

function whatIsUnindexed({ services, repoAccess }: ToolContext): string[] {
  const repos = services.repos.list(repoAccess);
  if (repos.length === 0) return ['There is no repository to search.'];
  const waiting = repos.filter(({ indexedAt }) => indexedAt === undefined);
  if (waiting.length === 0) return [];
  if (waiting.length === repos.length) return ['Nothing is indexed yet; try again later.'];
  const [first] = waiting;
  return [
    `Not indexed yet: ${first?.name ?? ''}${waiting.length > 1 ? ` and ${waiting.length - 1} more` : ''}.`,
  ];
}

type OneOrMore = readonly [QueryNode, ...QueryNode[]];

function searchAgain(
  conditions: OneOrMore,
  matches: number,
  context: ToolContext,
): Promise<SearchResponse> {
  return searchFor(conditions, { matches }, { ...context, onProgress: undefined });
}

async function pathWith(conditions: OneOrMore, context: ToolContext): Promise<string | undefined> {
  const { files } = await searchAgain(conditions, 1, context);
  return files[0]?.fileName.text;
}

async function isFound(conditions: OneOrMore, context: ToolContext): Promise<boolean> {
  return (await pathWith(conditions, context)) !== undefined;
}

/** Filters without any file, each alone or combined. */
async function emptyFilters(
  { pattern, globs, conditions }: EmptySearch,
  context: ToolContext,
): Promise<string[]> {
  const [first, ...rest] = conditions.values();
  if (first === undefined || (await isFound([first, ...rest], context))) return [];
  const empty: string[] = [];
  const near: string[] = [];
  const repo = conditions.get('repo');
  for (const [name, condition] of conditions) {
    const repos = repo === undefined || name === 'repo' ? [] : [repo];
    if (await isFound([condition, ...repos], context)) continue;
    empty.push(name);
    const glob = globs[name];
    if (glob !== undefined) near.push(...(await nearGlob(name, glob, repos, context)));
  }
  const names = empty.length > 0 ? empty : [...conditions.keys()];
  const together = empty.length > 0 ? '' : ' together';
  const lister = pattern === undefined ? 'list_tree' : 'glob';
  return [
    `No indexed file matches ${names.join(' and ')}${together}; ${lister} shows the existing files.`,
    ...near,
  ];
}

/** Alternatives for a glob that matches no file: literal brackets and braces, another case. */
async function nearGlob(
  name: string,
  glob: string,
  repos: readonly QueryNode[],
  context: ToolContext,
): Promise<string[]> {
  const literal = glob.includes('\\') ? glob : glob.replaceAll(/[[\]{}]/g, String.raw`\$&`);
  if (literal !== glob) {
    const node = nodeIf(() => patternNode('file', globPattern(literal)));
    if (node !== undefined && (await isFound([node, ...repos], context)))
      return [`Brackets and braces have a meaning in globs: for those of a name use ${literal}`];
  }
  const folded = nodeIf(() => patternNode('file', `(?i)${globPattern(glob)}`));
  const path = folded && (await pathWith([folded, ...repos], context));
  return path === undefined
    ? []
    : [`Case counts; without it ${name} fits files such as ${displayName(path)}`];
}

function nearFormsOf(pattern: string): readonly (readonly [message: string, near: string])[] {
  const [, slashed, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(pattern) ?? [];
  const [, inner] = /^"(.+)"$/s.exec(pattern) ?? [];
  const forms: readonly (readonly [string, string | undefined])[] = [
    ['$ does not hold before the carriage return of CRLF;', withCarriageReturns(pattern)],
    ['Without regard to case', `(?i)${pattern}`],
    ['Taken literally', quotePattern(pattern)],
    [
      'Slashes are part of a pattern; without them',
      slashed && `${flags.includes('i') ? '(?i)' : ''}${slashed}`,
    ],
    ['Quotes are part of a pattern; without them', inner],
  ];
  return forms.flatMap(([message, near]) =>
    near === undefined || near === pattern ? [] : [[message, near] as const],
  );
}

/** The first alternative that finds something, and how much. */
async function nearForms(
  pattern: string,
  conditions: Conditions,
  context: ToolContext,
): Promise<string[]> {
  for (const [message, near] of nearFormsOf(pattern)) {
    const node = nodeIf(() => regexNode(near));
    if (node === undefined) continue;
    const search = [node, ...conditions.values()] as const;
    const { stats } = await searchAgain(search, NEAR_MATCHES_MAX, context);
    const { totalMatchCount: count } = stats;
    if (count > 0) return [`${message} there ${matchesFound(count)}: use ${near}`];
  }
  return [];
}

/** Undefined if the expression is invalid or too long, as an alternative form may be. */
function nodeIf(make: () => QueryNode): QueryNode | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return undefined;
  }
}

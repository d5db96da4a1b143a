// The scope of tool searches as conditions of a query, and the search itself.

import { z } from 'zod';
import { allOf, patternNode, repoNode, valueNode } from '../../../engine/query/nodes.ts';
import type { QueryNode } from '../../../engine/query/tree.ts';
import type { SearchEnvironment } from '../../../engine/search/prepare.ts';
import { quotePattern } from '../../../engine/regex/quote.ts';
import { folderPathOf } from '../../../sources/git/names.ts';
import type { SearchResponse } from '../../search/search-schemas.ts';
import { allBytes } from '../../../base/lazy-bytes.ts';
import { globPattern } from './glob-pattern.ts';
import { requestedRepo, pathField } from './tool-arguments.ts';
import type { ToolContext } from './tool.ts';

export const scopeFields = {
  path: pathField('Only this folder or file.').exactOptional(),
  repo: z.string().exactOptional().describe('Only this repository (exact name).'),
  ref: z
    .string()
    .exactOptional()
    .describe('Indexed branch or tag (part of its name); default: the default branch.'),
};

export interface SearchScope {
  readonly path?: string;
  readonly include?: string;
  readonly repo?: string;
  readonly ref?: string;
}

/** Errors: NOT_FOUND; FILE_NOT_FOUND; QueryError. */
export function conditionsOf(
  { path = '', include = '', repo = '', ref = '' }: SearchScope,
  context: ToolContext,
): Map<keyof SearchScope, QueryNode> {
  const conditions = new Map<keyof SearchScope, QueryNode>();
  if (repo !== '') conditions.set('repo', repoNode(requestedRepo(repo, context).name));
  const folder = folderPathOf(path);
  if (folder !== '') conditions.set('path', patternNode('file', `^${quotePattern(folder)}(?:/|$)`));
  if (include !== '') conditions.set('include', patternNode('file', globPattern(include)));
  if (ref !== '') conditions.set('ref', valueNode('rev', ref));
  return conditions;
}

export const LIMIT_MAX = 10_000;

/** `LIMIT_MAX`, within the settings. */
export function limitMaxOf({ settings }: Pick<ToolContext, 'settings'>): number {
  return Math.min(LIMIT_MAX, settings.maxMatchCount);
}

/** The next step after `limit` cut a result; `count`: lower bound of the results. */
export function beyondLimit(limit: number, limitMax: number, count: number): string {
  if (limit >= limitMax) return 'this is the largest limit; narrow';
  return `call again with limit ${Math.min(limitMax, Math.max(count, 4 * limit))}, or narrow`;
}

/** Bytes of a line in results. */
const LINE_SIZE_MAX = 2000;
/** Bytes of an answer, which the main thread parses at once: more than fits into a text. */
const ANSWER_SIZE_MAX = 8_000_000;

export function isAnswerFull({ incompleteReasons = [] }: SearchResponse): boolean {
  return incompleteReasons.includes('size_limit');
}

export interface ToolSearch {
  readonly matches: number;
  readonly contextLines?: number;
}

/** Errors: those of a search. */
export async function searchFor(
  conditions: readonly [QueryNode, ...QueryNode[]],
  { matches, contextLines = 0 }: ToolSearch,
  context: ToolContext,
): Promise<SearchResponse> {
  const { services, settings } = context;
  const { json } = await services.search.search(
    {
      query: allOf(conditions),
      matches: Math.min(matches, settings.maxMatchCount),
      contextLines,
      whole: false,
      fields: [],
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
      maxLineBytes: LINE_SIZE_MAX,
      maxBytes: ANSWER_SIZE_MAX,
    },
    environmentOf(context),
  );
  const text = Buffer.from(allBytes(json)).toString();
  if (!(json instanceof Uint8Array)) json.release?.();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's answer
  return JSON.parse(text) as SearchResponse;
}

export function environmentOf(context: ToolContext): SearchEnvironment {
  const { onProgress } = context;
  if (onProgress === undefined) return { ...context, onProgress };
  return {
    ...context,
    onProgress: ({ shardsDone, shardsEligible }) =>
      onProgress({ done: shardsDone, total: shardsEligible }),
  };
}

/** Why matches may be missing apart from a limit; empty: none are. */
export function gapsOf({ incompleteReasons = [] }: SearchResponse): string[] {
  const gaps = incompleteReasons.filter((reason) => !NOTED_ELSEWHERE.includes(reason));
  return gaps.length === 0 ? [] : [`(not everything was searched: ${gaps.join(', ')})`];
}

const NOTED_ELSEWHERE: readonly string[] = ['match_limit', 'size_limit'];

// Why a search of a tool found nothing: what is not indexed, filters that leave nothing, a near form of the pattern that finds
// something. Looks at nothing that the caller does not see.

import { regexNode } from '../../../engine/query/nodes.ts';
import type { QueryNode } from '../../../engine/query/tree.ts';
import { quotePattern } from '../../../engine/regex/quote.ts';
import { SCANNED, searchFor, type ToolAnswer } from './search-scope.ts';
import type { ToolContext } from './tool.ts';

type Conditions = ReadonlyMap<string, QueryNode>;

/**
 * Lines for the result, the likeliest reason first.
 *
 * @param pattern  what the content has to match; undefined: files were looked for by their paths
 * Errors: those of a search.
 */
export async function whyNothing(
  pattern: string | undefined,
  conditions: Conditions,
  { incompleteReasons = [] }: ToolAnswer,
  context: ToolContext,
): Promise<string[]> {
  // Looking through all files once more for each reason would take too long.
  if (incompleteReasons.includes(SCANNED)) return [];
  const unindexed = whatIsUnindexed(context);
  const lister = pattern === undefined ? 'list_tree' : 'glob';
  const filters = await emptyFilters(conditions, lister, context);
  const near =
    pattern === undefined || filters.length > 0
      ? []
      : await nearForms(pattern, conditions, context);
  return [...unindexed, ...filters, ...near];
}

function whatIsUnindexed({ services, sight }: ToolContext): string[] {
  const repos = services.repos.list(sight);
  if (repos.length === 0) return ['There is no repository to search.'];
  const waiting = repos.filter(({ indexedAt }) => indexedAt === undefined);
  if (waiting.length === 0) return [];
  if (waiting.length === repos.length) return ['Nothing is indexed yet; try again in a while.'];
  const [first] = waiting;
  return [
    `Not indexed yet: ${first?.name ?? ''}${waiting.length > 1 ? ` and ${waiting.length - 1} more` : ''}.`,
  ];
}

async function isFound(
  conditions: readonly [QueryNode, ...QueryNode[]],
  context: ToolContext,
): Promise<boolean> {
  const { files } = await searchFor(
    conditions,
    { matches: 1 },
    { ...context, onProgress: undefined },
  );
  return files.length > 0;
}

/**
 * Filters that leave no file, alone or together.
 *
 * @param lister  the tool that shows which there are
 */
async function emptyFilters(
  conditions: Conditions,
  lister: string,
  context: ToolContext,
): Promise<string[]> {
  const [first, ...rest] = conditions.values();
  if (first === undefined || (await isFound([first, ...rest], context))) return [];
  const empty: string[] = [];
  const repo = conditions.get('repo');
  for (const [name, condition] of conditions) {
    const alone = [condition, ...(repo === undefined || name === 'repo' ? [] : [repo])] as const;
    if (!(await isFound(alone, context))) empty.push(name);
  }
  const names = empty.length > 0 ? empty : [...conditions.keys()];
  const together = empty.length > 0 ? '' : ' together';
  return [
    `No indexed file fits ${names.join(' and ')}${together}; ${lister} shows which files there are.`,
  ];
}

/** Forms of a pattern that it may have been meant in, and that find something. */
async function nearForms(
  pattern: string,
  conditions: Conditions,
  context: ToolContext,
): Promise<string[]> {
  const rest = [...conditions.values()];
  if (await isFound([regexNode(pattern, true), ...rest], context))
    return [`Without regard to case there are matches: use (?i)${pattern}`];
  const quoted = quotePattern(pattern);
  if (quoted !== pattern && (await isFound([regexNode(quoted), ...rest], context)))
    return [`Taken literally there are matches: use ${quoted}`];
  return [];
}

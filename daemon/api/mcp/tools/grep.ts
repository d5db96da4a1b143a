// The tool `grep`: finds lines that match a regular expression.

import { z } from 'zod';
import { ORG } from '../../../accounts/audit-log.ts';
import { regexNode } from '../../../engine/query/nodes.ts';
import type { QueryNode } from '../../../engine/query/tree.ts';
import { QueryError } from '../../../engine/regex/query-error.ts';
import { quotePattern } from '../../../engine/regex/quote.ts';
import { ApiError } from '../../shapes/api-error.ts';
import { jsonInteger } from '../../shapes/input.ts';
import type { FileResult, SearchResponse } from '../../search/search-schemas.ts';
import { BoundedText } from './bounded-text.ts';
import { addFiles, type FoundLines, inOrder, linesWith } from './found-lines.ts';
import {
  beyondLimit,
  conditionsOf,
  gapsOf,
  isAnswerFull,
  LIMIT_MAX,
  limitMaxOf,
  scopeFields,
  searchFor,
} from './search-scope.ts';
import { aboveMost } from './tool-arguments.ts';
import { tool, type ToolContext } from './tool.ts';
import { whyNothing } from './why-nothing.ts';

const LIMIT = 100;
const CONTEXT_LINES_MAX = 20;

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('Regular expression (RE2 syntax, case-sensitive; (?i) ignores case).'),
  ...scopeFields,
  include: z
    .string()
    .exactOptional()
    .describe('Only files that match this glob, such as *.ts or src/**/*.{c,h}.'),
  limit: jsonInteger(1)
    .exactOptional()
    .describe(
      `Maximum number of matches, at most ${LIMIT_MAX}; default ${LIMIT}, with groupByRepo ${LIMIT_MAX}.`,
    ),
  contextLines: jsonInteger(0)
    .default(0)
    .describe(`Lines shown around each match, at most ${CONTEXT_LINES_MAX}.`),
  groupByRepo: z.boolean().default(false).describe('Only counts per repository.'),
});

type GrepArguments = z.output<typeof input>;

export const grep = tool(
  {
    name: 'grep',
    description:
      'Search the content of indexed files by a regular expression. Best files first. Start here to find code.',
    isSearch: true,
    input,
  },
  async (args, context) => {
    context.accounts.auditLog.note(context.actor, 'user.performed_code_search', ORG);
    const pattern = contentOf(args.pattern);
    const conditions = conditionsOf(args, context);
    const limits = limitsOf(args, context);
    const answer = await searchFor([pattern, ...conditions.values()], limits, context);
    if (answer.files.length === 0 && !isAnswerFull(answer))
      return await nothing(args, conditions, answer, context);
    return (args.groupByRepo ? byRepo : byFile)(answer, limits);
  },
);

/** Errors: INVALID_REQUEST_BODY with the expression that finds the pattern as text; QueryError if that is too long. */
function contentOf(pattern: string): QueryNode {
  try {
    return regexNode(pattern);
  } catch (error) {
    const quoted = quotePattern(pattern);
    if (!(error instanceof QueryError) || quoted.length > 300) throw error;
    throw new ApiError(
      'INVALID_REQUEST_BODY',
      `pattern: ${error.message}; to find it as text use ${quoted}`,
    );
  }
}

interface Limits {
  readonly matches: number;
  readonly limitMax: number;
  readonly contextLines: number;
  readonly notes: readonly string[];
}

function limitsOf(
  { limit, groupByRepo, contextLines }: GrepArguments,
  context: ToolContext,
): Limits {
  const linesAround = groupByRepo ? 0 : Math.min(contextLines, CONTEXT_LINES_MAX);
  // As many matches as fit into a text with the shortest possible lines.
  const limitMax = Math.min(limitMaxOf(context), Math.ceil(LIMIT_MAX / (2 * linesAround + 1)));
  return {
    matches: Math.min(limit ?? (groupByRepo ? LIMIT_MAX : LIMIT), limitMax),
    limitMax,
    contextLines: linesAround,
    notes: aboveMost({
      limit: [limit ?? 0, limitMax],
      contextLines: [groupByRepo ? 0 : contextLines, CONTEXT_LINES_MAX],
    }),
  };
}

async function nothing(
  { pattern, include }: GrepArguments,
  conditions: ReadonlyMap<string, QueryNode>,
  answer: SearchResponse,
  context: ToolContext,
): Promise<string> {
  const globs = include === undefined ? {} : { include };
  const reasons = await whyNothing({ pattern, globs, conditions }, context);
  return ['No matches found', ...reasons, ...gapsOf(answer)].join('\n');
}

function byFile(answer: SearchResponse, limits: Limits): string {
  const { actualMatchCount: matchCount } = answer.stats;
  const { files } = answer;
  const text = new BoundedText();
  text.add(`Found ${matchCount} matches in ${files.length} files`);
  const addedCount = addFiles(text, files, linesOf);
  const isFull = addedCount < files.length || isAnswerFull(answer);
  const least = isAnswerFull(answer) ? 'at least ' : '';
  const cutCount = files.length - addedCount + (isAnswerFull(answer) ? 1 : 0);
  if (isFull)
    text.end(
      `(cut: the text is full, ${least}${cutCount} more files are not shown; narrow by path, include or repo, or set a smaller limit)`,
    );
  for (const line of endLines(answer, limits, isFull)) text.end(line);
  return text.toString();
}

function linesOf({ repository, fileName, chunks }: FileResult): FoundLines {
  const lines = chunks.flatMap(({ content, contentStart, matchRanges }) =>
    linesWith(content, contentStart.lineNumber, matchRanges),
  );
  return { repository, path: fileName.text, lines: inOrder(lines) };
}

/** `isFull`: the text is full, whatever the limit. */
function endLines(
  answer: SearchResponse,
  { matches, limitMax, notes }: Limits,
  isFull: boolean,
): string[] {
  const { incompleteReasons = [] } = answer;
  const { totalMatchCount, fileCount } = answer.stats;
  const lines = [...notes, ...gapsOf(answer)];
  if (!incompleteReasons.includes('match_limit')) return lines;
  const more = isFull ? 'narrow' : beyondLimit(matches, limitMax, totalMatchCount);
  const found = `at least ${totalMatchCount} matches in ${fileCount} files`;
  return [...lines, `(cut at limit ${matches} of ${found}: ${more} by path, include or repo)`];
}

function byRepo(answer: SearchResponse, limits: Limits): string {
  const repos = new Map<string, { matches: number; files: number }>();
  for (const { repository, chunks } of answer.files) {
    const sums = repos.get(repository) ?? { matches: 0, files: 0 };
    sums.matches += chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
    sums.files++;
    repos.set(repository, sums);
  }
  const { actualMatchCount } = answer.stats;
  const text = new BoundedText();
  text.add(`Found ${actualMatchCount} matches in ${repos.size} repositories`);
  const sorted = [...repos].sort(([, a], [, b]) => b.matches - a.matches);
  let remaining = sorted.length;
  for (const [name, { matches, files }] of sorted) {
    if (!text.add(`${name}: ${matches} matches in ${files} files`)) break;
    remaining--;
  }
  if (isAnswerFull(answer))
    text.end(
      '(cut: only matches of the first files were counted; narrow by path, include or repo)',
    );
  if (remaining > 0)
    text.end(`(cut: ${remaining} more repositories; narrow by path, include or pattern)`);
  for (const line of endLines(answer, limits, remaining > 0 || isAnswerFull(answer)))
    text.end(line);
  return text.toString();
}

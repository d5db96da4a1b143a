// The tool `grep`: lines that match a regular expression.

import { z } from 'zod';
import { ORG } from '../../../accounts/audit-trail.ts';
import { regexNode } from '../../../engine/query/nodes.ts';
import type { QueryNode } from '../../../engine/query/tree.ts';
import { jsonInteger } from '../../api/shapes/input.ts';
import type { FileResult } from '../../api/search/search-schemas.ts';
import { BoundedText } from './bounded-text.ts';
import { addFiles, type FoundLines, inOrder, linesWith } from './found-lines.ts';
import {
  conditionsOf,
  gapsOf,
  LIMIT_MAX,
  scopeFields,
  searchFor,
  type ToolAnswer,
} from './search-scope.ts';
import { tool, type ToolContext } from './tool.ts';
import { whyNothing } from './why-nothing.ts';

const LIMIT = 100;
const CONTEXT_LINES_MAX = 20;

const input = z.strictObject({
  pattern: z.string().min(1).meta({
    description: 'Regular expression (RE2 syntax, case-sensitive; (?i) ignores case).',
  }),
  ...scopeFields,
  include: z
    .string()
    .exactOptional()
    .meta({ description: 'Only files that this glob fits, such as *.ts or src/**/*.{c,h}.' }),
  limit: jsonInteger(1)
    .exactOptional()
    .meta({ description: `Matches at most (${LIMIT}; with groupByRepo ${LIMIT_MAX}).` }),
  contextLines: jsonInteger(0)
    .default(0)
    .meta({ description: `Lines shown around each match, at most ${CONTEXT_LINES_MAX}.` }),
  groupByRepo: z.boolean().default(false).meta({ description: 'Only counts by repository.' }),
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
    context.accounts.trail.note(context.actor, 'user.performed_code_search', ORG);
    const pattern = regexNode(args.pattern);
    const conditions = conditionsOf(args, context);
    const answer = await searchFor([pattern, ...conditions.values()], limitsOf(args), context);
    if (answer.files.length === 0) return await nothing(args, conditions, answer, context);
    return args.groupByRepo ? byRepo(answer) : byFile(answer, limitsOf(args).matches);
  },
);

function limitsOf({ limit, groupByRepo, contextLines }: GrepArguments) {
  const matches = Math.min(limit ?? (groupByRepo ? LIMIT_MAX : LIMIT), LIMIT_MAX);
  return { matches, contextLines: groupByRepo ? 0 : Math.min(contextLines, CONTEXT_LINES_MAX) };
}

async function nothing(
  { pattern }: GrepArguments,
  conditions: ReadonlyMap<string, QueryNode>,
  answer: ToolAnswer,
  context: ToolContext,
): Promise<string> {
  const reasons = await whyNothing(pattern, conditions, answer, context);
  return ['No matches found', ...reasons, ...gapsOf(answer)].join('\n');
}

function byFile(answer: ToolAnswer, limit: number): string {
  const { actualMatchCount: matchCount } = answer.stats;
  const { files } = answer;
  const text = new BoundedText();
  text.add(`Found ${matchCount} matches in ${files.length} files`);
  const shown = addFiles(text, files.map(linesOf));
  if (shown < files.length)
    text.end(
      `(cut: the text is full, ${files.length - shown} more files are not shown; narrow by path, include or repo, or set a smaller limit)`,
    );
  for (const line of endLines(answer, limit)) text.end(line);
  return text.toString();
}

function linesOf({ repository, fileName, chunks }: FileResult): FoundLines {
  const lines = chunks.flatMap(({ content, contentStart, matchRanges }) =>
    linesWith(content, contentStart.lineNumber, matchRanges),
  );
  return { repository, path: fileName.text, lines: inOrder(lines) };
}

/** What is missing, and how to get it. */
function endLines(answer: ToolAnswer, limit: number): string[] {
  const { stats, incompleteReasons = [] } = answer;
  const lines = gapsOf(answer);
  if (!incompleteReasons.includes('match_limit')) return lines;
  const next = Math.min(LIMIT_MAX, Math.max(stats.totalMatchCount, 4 * limit));
  const more =
    limit < LIMIT_MAX
      ? `call again with limit ${next}, or narrow`
      : 'this is the largest limit; narrow';
  const found = `at least ${stats.totalMatchCount} matches in ${stats.fileCount} files`;
  return [...lines, `(cut at limit ${limit} of ${found}: ${more} by path, include or repo)`];
}

function byRepo(answer: ToolAnswer): string {
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
  let left = sorted.length;
  for (const [name, { matches, files }] of sorted) {
    if (!text.add(`${name}: ${matches} matches in ${files} files`)) break;
    left--;
  }
  if (left > 0) text.end(`(cut: ${left} more repositories; narrow by path, include or pattern)`);
  for (const line of endLines(answer, actualMatchCount)) text.end(line);
  return text.toString();
}

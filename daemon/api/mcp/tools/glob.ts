// The tool `glob`: finds files by path.

import { z } from 'zod';
import { ORG } from '../../../accounts/audit-log.ts';
import { addToList } from '../../../base/lists.ts';
import { patternNode } from '../../../engine/query/nodes.ts';
import { jsonInteger } from '../../shapes/input.ts';
import type { SearchResponse } from '../../search/search-schemas.ts';
import { BoundedText, displayName } from './bounded-text.ts';
import { globPattern } from './glob-pattern.ts';
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
import { tool } from './tool.ts';
import { whyNothing } from './why-nothing.ts';

const LIMIT = 100;

export const glob = tool(
  {
    name: 'glob',
    description:
      'Find indexed files by path: *, ?, [...], {a,b}, **. The glob matches from any folder to the end of the path.',
    isSearch: true,
    input: z.strictObject({
      pattern: z.string().min(1).describe('Glob, such as *.proto or test/**/*.ts.'),
      ...scopeFields,
      limit: jsonInteger(1)
        .default(LIMIT)
        .describe(`Maximum number of files, at most ${LIMIT_MAX}.`),
    }),
  },
  async ({ pattern, limit, ...rest }, context) => {
    context.accounts.auditLog.note(context.actor, 'user.performed_code_search', ORG);
    const node = patternNode('file', globPattern(pattern));
    const scope = conditionsOf(rest, context);
    const conditions = new Map([...scope, ['pattern', node] as const]);
    const limitMax = limitMaxOf(context);
    const most = Math.min(limit, limitMax);
    // Folder and glob may each add one range per file.
    const matches = rest.path === undefined ? most : 2 * most;
    const answer = await searchFor([node, ...scope.values()], { matches }, context);
    if (answer.files.length > 0) return listOf(answer, limit, limitMax);
    const reasons = await whyNothing({ globs: { pattern }, conditions }, context);
    return ['Found 0 files', ...reasons, ...gapsOf(answer)].join('\n');
  },
);

function listOf(answer: SearchResponse, requestedMax: number, limitMax: number): string {
  const files = answer.files.slice(0, Math.min(requestedMax, limitMax));
  const byRepo = new Map<string, string[]>();
  for (const { repository, fileName } of files) addToList(byRepo, repository, fileName.text);
  const text = new BoundedText();
  text.add(`Found ${files.length} files`);
  let addedCount = 0;
  for (const [repository, paths] of byRepo) {
    if (!text.add(`[${repository}]`)) break;
    for (const path of paths.sort()) if (text.add(`  ${displayName(path)}`)) addedCount++;
  }
  for (const line of endLines(answer, files.length - addedCount, [requestedMax, limitMax]))
    text.end(line);
  return text.toString();
}

function endLines(
  answer: SearchResponse,
  unshown: number,
  [requestedMax, limitMax]: readonly [number, number],
): string[] {
  const { files, incompleteReasons = [], stats } = answer;
  const limit = Math.min(requestedMax, limitMax);
  const lines = aboveMost({ limit: [requestedMax, limitMax] });
  if (unshown > 0)
    lines.push(`(cut: the text is full, ${unshown} more files; narrow by path, repo or pattern)`);
  lines.push(...gapsOf(answer));
  const isFull = isAnswerFull(answer);
  const isCut = isFull || files.length > limit || incompleteReasons.includes('match_limit');
  if (!isCut) return lines;
  const how = isFull || unshown > 0 ? 'narrow' : beyondLimit(limit, limitMax, stats.fileCount);
  return [
    ...lines,
    `(cut at limit ${limit} of at least ${stats.fileCount} files: ${how} by path or repo)`,
  ];
}

// GET /api/diff: what differs between two commits (API.md 12.2). Order of the checks: syntax of both refs, repo,
// path, then whether the refs resolve.

import { z } from 'zod';
import { checkRef } from '../../../sources/git/names.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { findRepo, gitSignal } from '../sources/git-calls.ts';
import { HISTORY_ERRORS, pathField, repoField, scopeOf } from './history-input.ts';
import { requiredText } from '../shapes/input.ts';
import { integer, text } from '../shapes/schemas.ts';

const lineRange = z
  .object({
    start: integer('First line, from 1; 0 where there are none and nothing is before.'),
    lines: integer('Number of lines.'),
  })
  .meta({ id: 'LineRange', description: 'Consecutive lines.' });

const hunk = z
  .object({
    oldRange: lineRange,
    newRange: lineRange,
    heading: text('The line that begins the function around, if there is one.').optional(),
    body: text('Lines with their markers, as in a unified diff.'),
  })
  .meta({ id: 'DiffHunk', description: 'Neighbouring changes of a file, and lines around them.' });

const fileDiff = z
  .object({
    oldPath: z.string().nullable().meta({ description: 'Path in the base; null: added.' }),
    newPath: z.string().nullable().meta({ description: 'Path in the head; null: deleted.' }),
    hunks: z
      .array(hunk)
      .meta({ description: 'Empty for binary files, and where only name or mode changed.' }),
  })
  .meta({ id: 'FileDiff', description: 'What differs in a file.' });

export const getDiff = endpoint(
  {
    operationId: 'getDiff',
    method: 'GET',
    path: '/api/diff',
    access: 'opt',
    tag: 'Git',
    summary: 'Differences between two commits',
    isCounted: true,
    input: {
      query: z.object({
        repo: repoField,
        base: requiredText().meta({ description: 'Branch, tag or commit to compare with.' }),
        head: requiredText().meta({ description: 'Branch, tag or commit that is compared.' }),
        path: pathField,
      }),
    },
    responses: {
      200: {
        description: 'The files that differ.',
        body: z
          .object({ files: z.array(fileDiff) })
          .meta({ id: 'Diff', description: 'Differences between two commits.' }),
      },
    },
    errors: HISTORY_ERRORS,
  },
  async ({ query: { repo: repoName, base, head, path: given } }, context) => {
    checkRef(base);
    checkRef(head);
    const repo = findRepo(repoName, context);
    const path = scopeOf(given);
    const json = await context.services.history.diff(
      repo,
      { base, head, path, holder: context.holder },
      gitSignal(context),
    );
    return { status: 200, content: { json } };
  },
);

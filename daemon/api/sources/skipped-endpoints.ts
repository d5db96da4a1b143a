// GET /api/repos/{repoId}/skipped: docs found only by name, with the reason, in pages.

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { findRepoById } from './git-calls.ts';
import { choiceText, integerText } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageHeaders, windowOf } from '../shapes/pagination.ts';
import { integer, SKIP_REASONS, text } from '../shapes/schemas.ts';

const skippedQuery = z.object({
  ...pageFields(30),
  reason: choiceText(SKIP_REASONS).optional().describe('Only these.'),
});

const skippedFile = z
  .object({
    path: text('Path from the root of the repository.'),
    reason: z.enum(SKIP_REASONS).describe('Why the content is not searched.'),
    bytes: integer('Size of the file.', 0),
  })
  .meta({ id: 'SkippedFile', description: 'A file that is found only by name.' });

export const listSkippedFiles = endpoint(
  {
    operationId: 'listSkippedFiles',
    method: 'GET',
    path: '/api/repos/{repoId}/skipped',
    access: 'opt',
    tag: 'Repositories',
    summary: 'Files found only by name',
    description:
      'Files of the default revision whose content is not searched, by path. Files excluded by rules are not among them.',
    input: {
      path: z.object({
        repoId: integerText(1, Number.MAX_SAFE_INTEGER).describe('Id of the repository.'),
      }),
      query: skippedQuery,
    },
    responses: pageAnswer('A page of the list.', skippedFile),
    errors: ['NOT_FOUND'],
  },
  async ({ path, query }, context) => {
    const repo = findRepoById(path.repoId, context);
    const window = { ...windowOf(query), reason: query.reason };
    const { items, total } = await context.services.skipped.list(repo, window);
    const address = `/api/repos/${repo.repoId}/skipped`;
    return ok(items, pageHeaders(total, query, context, address));
  },
);

// GET /api/commit: one commit (API.md 12.3).

import { z } from 'zod';
import { checkRef } from '../../sources/git/names.ts';
import { commitObject } from './commit-schema.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { GIT_READ, findRepo, gitSignal } from '../sources/git-calls.ts';
import { repoField } from './history-input.ts';
import { requiredText } from '../shapes/input.ts';

export const getCommit = endpoint(
  {
    ...GIT_READ,
    operationId: 'getCommit',
    method: 'GET',
    path: '/api/commit',
    summary: 'A commit',
    input: {
      query: z.object({
        repo: repoField,
        ref: requiredText().meta({ description: 'Branch, tag or commit.' }),
      }),
    },
    responses: { 200: { description: 'The commit.', body: commitObject } },
    errors: ['NOT_FOUND', 'INVALID_GIT_REF', 'SERVER_OVERLOADED'],
  },
  async ({ query }, context) => {
    checkRef(query.ref);
    const repo = findRepo(query.repo, context);
    return ok(await context.services.history.commit(repo, query.ref, gitSignal(context)));
  },
);

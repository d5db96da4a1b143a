// GET /api/commits/authors: the authors of the commits reachable from a ref (API.md 12.5).

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { pathField, refField, refOf, repoField, scopeOf } from './history-input.ts';
import { pageAnswer, pageFields, paginate } from '../shapes/pagination.ts';
import { integer, text } from '../shapes/schemas.ts';

const PATH = '/api/commits/authors';

const author = z
  .object({
    name: text('Name, by the mailmap of the default branch.'),
    email: text('E-mail, by the mailmap of the default branch.'),
    commitCount: integer('Number of their commits.', 1),
  })
  .meta({ id: 'CommitAuthor', description: 'An author of commits.' });

export const getAuthors = endpoint(
  {
    ...GIT_READ,
    operationId: 'listCommitAuthors',
    method: 'GET',
    path: PATH,
    summary: 'Authors of commits',
    input: {
      query: z.object({ repo: repoField, ref: refField, path: pathField, ...pageFields(50) }),
    },
    responses: pageAnswer('A page of the authors: most commits first, ties by name.', author),
  },
  async ({ query }, context) => {
    const ref = refOf(query.ref);
    const repo = findRepo(query.repo, context);
    const path = scopeOf(query.path);
    const all = await context.services.history.authors(repo, { ref, path }, gitSignal(context));
    const { items, headers } = paginate(all, query, `${context.baseUrl}${PATH}`, {
      repo: query.repo,
      ref: query.ref,
      path: query.path,
    });
    return ok(items, headers);
  },
);

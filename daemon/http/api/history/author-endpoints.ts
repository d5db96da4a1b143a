// GET /api/commits/authors: who made the commits that lead to a ref (API.md 12.5).

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { findRepo, gitSignal, READ_ERRORS } from '../sources/git-calls.ts';
import { pathField, refField, refOf, repoField, scopeOf } from './history-input.ts';
import { PAGE_HEADERS, pageFields, paginate } from '../shapes/pagination.ts';
import { integer, text } from '../shapes/schemas.ts';

const PATH = '/api/commits/authors';

const author = z
  .object({
    name: text('Name, by the mailmap of the default branch.'),
    email: text('E-mail, by the mailmap of the default branch.'),
    commitCount: integer('Number of their commits.', 1),
  })
  .meta({ id: 'CommitAuthor', description: 'Somebody who made commits.' });

export const getAuthors = endpoint(
  {
    operationId: 'listCommitAuthors',
    method: 'GET',
    path: PATH,
    access: 'opt',
    tag: 'Git',
    summary: 'Authors of commits',
    isCounted: true,
    input: {
      query: z.object({ repo: repoField, ref: refField, path: pathField, ...pageFields(50) }),
    },
    responses: {
      200: {
        description: 'A page of the authors: most commits first, ties by name.',
        body: z.array(author),
        headers: PAGE_HEADERS,
      },
    },
    errors: READ_ERRORS,
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

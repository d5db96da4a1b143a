// GET /api/commits: the commits that lead to a ref (API.md 12.4). Order of the checks: parameters, syntax of the
// ref, repo, path, then whether the ref resolves.

import { z } from 'zod';
import { commitDateText } from './commit-dates.ts';
import { listedCommit } from './commit-schema.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { expressionText } from './expression-input.ts';
import { findRepo, gitSignal, READ_ERRORS } from '../sources/git-calls.ts';
import { pathField, refField, refOf, repoField, scopeOf } from './history-input.ts';
import { PAGE_HEADERS, pageFields, pageOf, windowOf } from '../shapes/pagination.ts';

const PATH = '/api/commits';

const DATE_FORMS =
  'An ISO 8601 date or date-time (UTC unless it has an offset), `3 weeks ago` and the like, `yesterday`, `last week`, `last month`, `last year`.';

const commitsQuery = z.object({
  repo: repoField,
  query: expressionText().optional().meta({
    description: 'In the message: a POSIX basic regular expression, without regard to case.',
  }),
  since: commitDateText('start')
    .optional()
    .meta({ description: `Only commits from then on. ${DATE_FORMS}` }),
  until: commitDateText('end')
    .optional()
    .meta({ description: `Only commits up to then; a date is the whole day. ${DATE_FORMS}` }),
  author: expressionText().optional().meta({
    description:
      'In name or e-mail of the author: a POSIX basic regular expression, without regard to case.',
  }),
  ref: refField,
  path: pathField,
  ...pageFields(50),
});

export const getCommits = endpoint(
  {
    operationId: 'listCommits',
    method: 'GET',
    path: PATH,
    access: 'opt',
    tag: 'Git',
    summary: 'List commits',
    isCounted: true,
    input: { query: commitsQuery },
    responses: {
      200: {
        description: 'A page of commits, newest first.',
        body: z.array(listedCommit),
        headers: PAGE_HEADERS,
      },
    },
    errors: READ_ERRORS,
  },
  async ({ query }, context) => {
    const { since, until } = query;
    if (since !== undefined && until !== undefined && since.seconds > until.seconds)
      throw new ApiError('INVALID_QUERY_PARAMS', 'since: later than until');
    const ref = refOf(query.ref);
    const repo = findRepo(query.repo, context);
    const call = {
      ref,
      path: scopeOf(query.path),
      query: query.query === '' ? undefined : query.query,
      author: query.author === '' ? undefined : query.author,
      since: since?.seconds,
      until: until?.seconds,
      ...windowOf(query),
    };
    const { total, items } = await context.services.history.commits(repo, call, gitSignal(context));
    const { headers } = pageOf(total, query, `${context.baseUrl}${PATH}`, {
      repo: query.repo,
      query: query.query,
      since: since?.text,
      until: until?.text,
      author: query.author,
      ref: query.ref,
      path: query.path,
    });
    return ok(
      items.map((commit) => ({ ...commit, parents: undefined })),
      headers,
    );
  },
);

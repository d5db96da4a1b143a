// GET /api/commits: the commits reachable from a ref (API.md 12.4). Order of the checks: parameters, syntax of the ref,
// repo, path, then whether the ref resolves.

import { z } from 'zod';
import { type CommitDate, commitDateText } from './commit-dates.ts';
import { listedCommit } from './commit-schema.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { expressionText } from './expression-input.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { pathField, refField, refOf, repoField, scopeOf } from './history-input.ts';
import type { HistoryContext } from './history-input.ts';
import { pageAnswer, pageFields, pageOf, windowOf } from '../shapes/pagination.ts';
import type { PageRequest } from '../shapes/pagination.ts';

const PATH = '/api/commits';

const DATE_FORMS =
  'An ISO 8601 date or date-time (UTC unless it has an offset), `3 weeks ago` and the like, `yesterday`, `last week`, `last month`, `last year`.';

const commitsQuery = z.object({
  repo: repoField,
  query: expressionText().optional().meta({
    description: 'Matches in the message: a POSIX basic regular expression, case-insensitive.',
  }),
  since: commitDateText('start')
    .optional()
    .meta({ description: `Only commits from this time on. ${DATE_FORMS}` }),
  until: commitDateText('end')
    .optional()
    .meta({
      description: `Only commits up to this time; a date includes the whole day. ${DATE_FORMS}`,
    }),
  author: expressionText().optional().meta({
    description:
      'Matches in name or e-mail of the author: a POSIX basic regular expression, case-insensitive.',
  }),
  ref: refField,
  path: pathField,
  ...pageFields(50),
});

/** The request for a list of commits; an empty text counts as absent. */
interface CommitListRequest extends PageRequest {
  readonly repo: string;
  readonly query?: string | undefined;
  readonly author?: string | undefined;
  readonly since?: CommitDate | undefined;
  readonly until?: CommitDate | undefined;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
}

/** Errors: INVALID_QUERY_PARAMS; INVALID_GIT_REF; NOT_FOUND; FILE_NOT_FOUND. */
export async function commitsOf(request: CommitListRequest, context: HistoryContext) {
  const { since, until } = request;
  if (since !== undefined && until !== undefined && since.seconds > until.seconds)
    throw new ApiError('INVALID_QUERY_PARAMS', 'since: must not be later than until');
  const ref = refOf(request.ref);
  const repo = findRepo(request.repo, context);
  const call = {
    ref,
    path: scopeOf(request.path),
    query: request.query === '' ? undefined : request.query,
    author: request.author === '' ? undefined : request.author,
    since: since?.seconds,
    until: until?.seconds,
    ...windowOf(request),
  };
  return await context.services.history.commits(repo, call, gitSignal(context));
}

export const getCommits = endpoint(
  {
    ...GIT_READ,
    operationId: 'listCommits',
    method: 'GET',
    path: PATH,
    summary: 'List commits',
    input: { query: commitsQuery },
    responses: pageAnswer('A page of commits, newest first.', listedCommit),
  },
  async ({ query }, context) => {
    const { total, items } = await commitsOf(query, context);
    const { headers } = pageOf(total, query, `${context.baseUrl}${PATH}`, {
      repo: query.repo,
      query: query.query,
      since: query.since?.text,
      until: query.until?.text,
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

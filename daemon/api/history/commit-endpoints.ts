// GET /api/commit, /api/commits and /api/commits/authors (API.md 12.3 to 12.5). Order of the checks: parameters, syntax
// of the ref, repo, path, then whether the ref resolves.

import { z } from 'zod';
import { checkRef } from '../../sources/git/names.ts';
import { ApiError } from '../shapes/api-error.ts';
import { type CallContext, endpoint, ok } from '../shapes/endpoint.ts';
import { requiredText } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageHeaders, paginate, windowOf } from '../shapes/pagination.ts';
import { integer, text } from '../shapes/schemas.ts';
import { findRepo, gitSignal, GIT_READ } from '../sources/git-calls.ts';
import { commitDateText } from './commit-dates.ts';
import { expressionText, pathField, refOf, scopeOf } from './history-input.ts';
import { refField, repoField } from '../sources/file-reading.ts';

const commitFields = {
  hash: text('Full id.'),
  date: text('Date of the author, ISO 8601 with the offset of the author.'),
  message: text('Subject line.'),
  refs: text('Refs that point at it, comma-separated; "" for none.'),
  body: text('Rest of the message.'),
  authorName: text('Name of the author, by the mailmap of the default branch.'),
  authorEmail: text('E-mail of the author, by the mailmap of the default branch.'),
};

const listedCommit = z.object(commitFields).meta({ id: 'ListedCommit', description: 'A commit.' });

const commitObject = z
  .object({
    ...commitFields,
    parents: z.array(z.string()).describe('Full ids of its parents.'),
  })
  .meta({ id: 'Commit', description: 'A commit and its parents.' });

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
        // Empty is absent.
        ref: requiredText().min(1, { error: 'required' }).describe('Branch, tag or commit.'),
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

const LIST_PATH = '/api/commits';

const DATE_FORMS =
  'An ISO 8601 date or date-time (UTC unless it has an offset), `3 weeks ago` and the like, `yesterday`, `last week`, `last month`, `last year`.';

const commitsQuery = z.object({
  repo: repoField,
  query: expressionText()
    .optional()
    .describe('Matches in the message: a POSIX basic regular expression, case-insensitive.'),
  since: commitDateText('start')
    .optional()
    .describe(`Only commits from this time on. ${DATE_FORMS}`),
  until: commitDateText('end')
    .optional()
    .describe(`Only commits up to this time; a date includes the whole day. ${DATE_FORMS}`),
  author: expressionText()
    .optional()
    .describe(
      'Matches in name or e-mail of the author: a POSIX basic regular expression, case-insensitive.',
    ),
  ref: refField,
  path: pathField,
  ...pageFields(50),
});

/** An empty text counts as absent. Errors: INVALID_QUERY_PARAMS; INVALID_GIT_REF; NOT_FOUND; FILE_NOT_FOUND. */
export async function commitsOf(request: z.output<typeof commitsQuery>, context: CallContext) {
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
    path: LIST_PATH,
    summary: 'List commits',
    input: { query: commitsQuery },
    responses: pageAnswer('A page of commits, newest first.', listedCommit),
  },
  async ({ query }, context) => {
    const { total, items } = await commitsOf(query, context);
    const parameters = { ...query, since: query.since?.text, until: query.until?.text };
    return ok(
      items.map((commit) => ({ ...commit, parents: undefined })),
      pageHeaders(total, parameters, context, LIST_PATH),
    );
  },
);

const AUTHORS_PATH = '/api/commits/authors';

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
    path: AUTHORS_PATH,
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
    const { items, headers } = paginate(all, query, context, AUTHORS_PATH);
    return ok(items, headers);
  },
);

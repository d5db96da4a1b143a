// /api/ee/grants: which users see which repositories with enforced permissions (API.md 14.7).

import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { GrantRow } from '../../accounts/grants.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { jsonInteger } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageHeaders, windowOf } from '../shapes/pagination.ts';
import { integer, text } from '../shapes/schemas.ts';
import { userText } from './user-schemas.ts';

const PATH = '/api/ee/grants';
const REPO_IDS_MAX = 10_000;
const repoNameText = z.string().max(1_000);

const grant = z
  .object({
    userId: text('Who sees the repository.'),
    email: text('E-mail address of the user.').optional(),
    repoId: integer('Which repository.', 1),
    repoName: text('Its name; absent if it is unknown.').optional(),
    source: z.enum(['config', 'host', 'store']).describe('Where the grant comes from.'),
    takenAt: text('When the host was asked (ISO 8601); only for source `host`.').optional(),
  })
  .meta({ id: 'Grant', description: 'A user sees a repository.' });

const HEAD = {
  path: PATH,
  access: 'owner',
  entitlement: 'permissions',
  isDescribed: false,
} as const;

/** 1 to 10,000 repositories. */
export function repoList<Item extends z.ZodType>(item: Item, description: string) {
  return z
    .array(item, { error: 'expected an array' })
    .min(1, { error: 'expected at least one' })
    .max(REPO_IDS_MAX, { error: `expected at most ${REPO_IDS_MAX}` })
    .describe(description);
}

export const namedRepos = repoList(
  z.union([jsonInteger(1), repoNameText.min(1)]),
  'Ids or names of repositories.',
);

const grantBody = z.object({ userId: userText, repoIds: namedRepos });

export const listGrants = endpoint(
  {
    ...HEAD,
    method: 'GET',
    input: {
      query: z.object({
        userId: userText.optional(),
        repoId: repoNameText.optional().describe('Id or name of the repository.'),
        ...pageFields(50),
      }),
    },
    responses: pageAnswer('A page of grants.', grant),
    errors: ['NOT_FOUND'],
  },
  async ({ query }, context) => {
    const { accounts } = context;
    const { userId, repoId } = query;
    if ((userId === undefined) === (repoId === undefined))
      throw new ApiError('INVALID_QUERY_PARAMS', 'userId: give either userId or repoId');
    const window = windowOf(query);
    const { total, rows } =
      userId === undefined
        ? await accounts.grants.ofRepo(repoId!, window)
        : await accounts.grants.ofUser(userId, window);
    const grants = await withGrantNames(accounts, rows);
    return ok(grants, pageHeaders(total, query, context, PATH));
  },
);

async function withGrantNames({ store }: Accounts, rows: readonly GrantRow[]) {
  if (rows.length === 0) return rows;
  const emails = new Map((await store.users.list()).map(({ id, email }) => [id, email]));
  const { repos } = await store.repos.read();
  const names = new Map(repos.map(({ repoId, name }) => [repoId, name]));
  return rows.map((row) => ({
    ...row,
    email: emails.get(row.userId),
    repoName: names.get(row.repoId),
  }));
}

export const addGrants = endpoint(
  {
    ...HEAD,
    method: 'POST',
    input: { body: grantBody },
    responses: { 200: { body: z.object({ added: integer('Grants.') }) } },
    errors: ['NOT_FOUND'],
  },
  async ({ body }, { accounts, actor }) =>
    ok({ added: await accounts.grants.add(actor, body.userId, body.repoIds) }),
);

export const removeGrants = endpoint(
  {
    ...HEAD,
    method: 'DELETE',
    input: { body: grantBody },
    responses: { 200: { body: z.object({ removed: integer('Grants.') }) } },
    errors: ['NOT_FOUND'],
  },
  async ({ body }, { accounts, actor }) =>
    ok({ removed: await accounts.grants.remove(actor, body.userId, body.repoIds) }),
);

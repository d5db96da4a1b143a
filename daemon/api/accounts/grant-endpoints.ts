// /api/ee/grants: which users see which repositories with enforced permissions (API.md 14.7).

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { integerText, jsonInteger } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageOf, windowOf } from '../shapes/pagination.ts';
import { integer, text } from '../shapes/schemas.ts';
import { idText } from './user-schemas.ts';

const PATH = '/api/ee/grants';
const REPO_IDS_MAX = 10_000;

const grant = z
  .object({
    userId: text('Who sees the repository.'),
    repoId: integer('Which repository.', 1),
    source: z
      .enum(['config', 'host', 'store'])
      .meta({ description: 'Where the grant comes from.' }),
    takenAt: text('When the host was asked (ISO 8601); only for source `host`.').optional(),
  })
  .meta({ id: 'Grant', description: 'A user sees a repository.' });

const HEAD = {
  path: PATH,
  access: 'owner',
  entitlement: 'permissions',
  tag: 'Enterprise',
  isDescribed: false,
} as const;

/** 1 to 10,000 ids of repos. */
export const repoIds = z
  .array(jsonInteger(1), { error: 'expected an array of integers' })
  .min(1, { error: 'expected at least one id' })
  .max(REPO_IDS_MAX, { error: `expected at most ${REPO_IDS_MAX} ids` })
  .meta({ description: 'Ids of repositories.' });

const grantBody = z.object({ userId: idText, repoIds });

export const listGrants = endpoint(
  {
    ...HEAD,
    operationId: 'listGrants',
    method: 'GET',
    summary: 'Grants of a user or for a repository',
    input: {
      query: z.object({
        userId: idText.optional(),
        repoId: integerText(1, Number.MAX_SAFE_INTEGER).optional(),
        ...pageFields(50),
      }),
    },
    responses: pageAnswer('A page of grants.', grant),
    errors: ['NOT_FOUND'],
  },
  async ({ query }, { accounts, baseUrl }) => {
    const { userId, repoId } = query;
    if ((userId === undefined) === (repoId === undefined))
      throw new ApiError('INVALID_QUERY_PARAMS', 'userId: give either userId or repoId');
    const window = windowOf(query);
    const { total, rows } =
      userId === undefined
        ? await accounts.grants.ofRepo(repoId!, window)
        : await accounts.grants.ofUser(userId, window);
    const own = { userId, repoId: repoId?.toString() };
    return ok(rows, pageOf(total, query, `${baseUrl}${PATH}`, own).headers);
  },
);

export const addGrants = endpoint(
  {
    ...HEAD,
    operationId: 'addGrants',
    method: 'POST',
    summary: 'Give users access to repositories',
    input: { body: grantBody },
    responses: {
      200: { description: 'Number of new grants.', body: z.object({ added: integer('Grants.') }) },
    },
    errors: ['NOT_FOUND'],
  },
  async ({ body }, { accounts, actor }) =>
    ok({ added: await accounts.grants.add(actor, body.userId, [...new Set(body.repoIds)]) }),
);

export const removeGrants = endpoint(
  {
    ...HEAD,
    operationId: 'removeGrants',
    method: 'DELETE',
    summary: 'Remove grants',
    description: 'Grants of the configuration and of hosts stay.',
    input: { body: grantBody },
    responses: {
      200: {
        description: 'Number of removed grants.',
        body: z.object({ removed: integer('Grants.') }),
      },
    },
    errors: ['NOT_FOUND'],
  },
  async ({ body }, { accounts, actor }) =>
    ok({ removed: await accounts.grants.remove(actor, body.userId, [...new Set(body.repoIds)]) }),
);

// /api/ee/scoped_access_token: short-lived tokens for some repositories, with an API key (API.md 15.3, 15.4).

import { z } from 'zod';
import { answer, type CallContext, endpoint, noContent } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { jsonInteger } from '../shapes/input.ts';
import { repoList } from './grant-endpoints.ts';
import { integer, isoTime, text, time } from '../shapes/schemas.ts';
import { idText } from './user-schemas.ts';

const HEAD = { access: 'key', entitlement: 'scoped-tokens', tag: 'Scoped Access Tokens' } as const;

const scopedAccessToken = z
  .object({
    id: text('Id, for revoking it.'),
    token: text('The token; shown only this once.'),
    createdAt: time('When it was created.'),
    expiresAt: time('When it expires, one hour later.'),
    repoIds: z.array(integer('Id of a repository.', 1)),
  })
  .meta({ id: 'ScopedAccessToken', description: 'A token with access to some repositories.' });

export const createScopedAccessToken = endpoint(
  {
    ...HEAD,
    operationId: 'createScopedAccessToken',
    method: 'POST',
    path: '/api/ee/scoped_access_token',
    summary: 'Create a token',
    input: { body: z.strictObject({ repoIds: repoList(jsonInteger(1), 'Ids of repositories.') }) },
    responses: { 201: { description: 'The token.', body: scopedAccessToken } },
    errors: ['INVALID_REPOSITORY_SCOPE'],
  },
  async ({ body }, context) => {
    const { accounts, actor } = context;
    const made = await accounts.keys.createToken(actor, withPerson(context), body.repoIds);
    return answer(201, {
      id: made.id,
      token: made.value,
      createdAt: isoTime(made.createdAt),
      expiresAt: isoTime(made.expiresAt),
      repoIds: made.repoIds,
    });
  },
);

export const revokeScopedAccessToken = endpoint(
  {
    ...HEAD,
    operationId: 'revokeScopedAccessToken',
    method: 'DELETE',
    path: '/api/ee/scoped_access_token/{id}',
    summary: 'Revoke a token',
    description:
      'The token is refused from now on. Any API key of the user who created it may revoke it.',
    input: { path: z.object({ id: idText }) },
    responses: { 204: { description: 'The token is revoked.' } },
    errors: ['SCOPED_ACCESS_TOKEN_NOT_FOUND'],
  },
  async ({ path }, context) => {
    const { person } = withPerson(context);
    await context.accounts.keys.revokeToken(context.actor, person, path.id);
    return noContent();
  },
);

/** For endpoints whose access is not `opt`. */
export function withPerson({ caller }: CallContext) {
  if (caller?.person === undefined)
    throw new ApiError('NOT_AUTHENTICATED', 'Authentication is required.');
  return { ...caller, person: caller.person };
}

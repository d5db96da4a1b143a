// Access of OAuth clients to accounts (API.md 16.6). Only our own pages use them, so the API description omits them.

import { z } from 'zod';
import { redirectHost } from '../../accounts/oauth/redirects.ts';
import { ApiError } from '../shapes/api-error.ts';
import { endpoint, noContent, ok } from '../shapes/endpoint.ts';
import { isoTime, text, time } from '../shapes/schemas.ts';
import { withPerson } from './token-endpoints.ts';
import { idText } from './user-schemas.ts';

const HEAD = { access: 'session', isDescribed: false } as const;

const REQUEST = {
  ...HEAD,
  path: '/api/ee/oauth/request/{id}',
  entitlement: 'oauth',
  errors: ['NOT_FOUND'],
} as const;
const requestPath = z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) });

function requestGone(): ApiError {
  return new ApiError('NOT_FOUND', 'This request was already answered, or has expired.');
}

export const getConsentRequest = endpoint(
  {
    ...REQUEST,
    method: 'GET',
    input: { path: requestPath },
    responses: {
      200: {
        body: z.object({
          clientName: text('The name that the client gave itself.'),
          redirectHost: text('Where the answer goes: a host, or the scheme of an application.'),
          resource: text('Address of the resource to access.'),
        }),
      },
    },
  },
  async ({ path }, context) => {
    const { person } = withPerson(context);
    const view = await context.accounts.oauth.consents.view(path.id, person.id);
    if (view === undefined) throw requestGone();
    return ok(view, { 'Cache-Control': 'no-store' });
  },
);

export const answerConsentRequest = endpoint(
  {
    ...REQUEST,
    method: 'POST',
    input: {
      path: requestPath,
      body: z.object({ decision: z.enum(['allow', 'deny'], { error: 'expected allow or deny' }) }),
    },
    responses: { 200: { body: z.object({ redirectTo: text('Where the browser goes next.') }) } },
  },
  async ({ path, body }, context) => {
    const { person } = withPerson(context);
    const { consents } = context.accounts.oauth;
    const redirectTo = await consents.decide(path.id, person.id, body.decision);
    if (redirectTo === undefined) throw requestGone();
    return ok({ redirectTo }, { 'Cache-Control': 'no-store' });
  },
);

export const listApplications = endpoint(
  {
    ...HEAD,
    method: 'GET',
    path: '/api/user/applications',
    responses: {
      200: {
        body: z.array(
          z.object({
            id: text('Id, for revoking it.'),
            name: text('The name that the client gave itself.'),
            redirectHost: text('Where the code was sent.'),
            resource: text('Address of the resource.'),
            createdAt: time('When it was authorized.'),
            lastUsedAt: time('When it last received tokens.'),
          }),
        ),
      },
    },
  },
  async (_, context) => {
    const { person } = withPerson(context);
    const consents = await context.accounts.oauth.consents.list(person.id);
    return ok(
      consents.map(({ id, clientName, redirectUri, resource, createdAt, usedAt }) => ({
        id,
        name: clientName,
        redirectHost: redirectHost(redirectUri),
        resource,
        createdAt: isoTime(createdAt),
        lastUsedAt: isoTime(usedAt),
      })),
    );
  },
);

export const endApplication = endpoint(
  {
    ...HEAD,
    method: 'DELETE',
    path: '/api/user/applications/{id}',
    input: { path: z.object({ id: idText }) },
    responses: { 204: {} },
    errors: ['NOT_FOUND'],
  },
  async ({ path }, context) => {
    const { person } = withPerson(context);
    if (await context.accounts.oauth.consents.end(path.id, person.id)) return noContent();
    throw new ApiError('NOT_FOUND', 'There is no such application.');
  },
);

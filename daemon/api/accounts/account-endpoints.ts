// /api/auth and /api/user: signing in and out, and the caller's own account, request count, API keys and tokens (API.md
// 15.1, 15.2). Only our own pages use them, so the API description omits them.

import { z } from 'zod';
import { endedSessionCookie, sessionCookie } from '../../accounts/credentials.ts';
import { KEY_NAME_LENGTH_MAX } from '../../accounts/keys.ts';
import type { SignedIn } from '../../accounts/sign-in.ts';
import { limitOf } from '../../accounts/limits.ts';
import {
  type Answer,
  answer,
  type CallContext,
  endpoint,
  noContent,
  ok,
} from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { withPerson } from './token-endpoints.ts';
import { flag, integer, nullableTime, text, time } from '../shapes/schemas.ts';
import { idText, isoTime, newEmail, toUser, user, userName } from './user-schemas.ts';

const HEAD = { tag: 'System', isDescribed: false } as const;

/** Bound: longer ones are refused before they are hashed. */
const TEXT_LENGTH_MAX = 1024;
const secretText = z
  .string({ error: 'expected a text' })
  .max(TEXT_LENGTH_MAX, { error: `longer than ${TEXT_LENGTH_MAX} characters` });

function signedIn(status: number, done: SignedIn, { accounts }: CallContext): Answer {
  return answer(status, toUser(done.person), {
    'Set-Cookie': sessionCookie(done.sessionValue, accounts.cookieScope),
  });
}

const COOKIE_HEADER = {
  'Set-Cookie': { description: 'The session.', type: 'string', isRequired: true },
} as const;

export const setUp = endpoint(
  {
    ...HEAD,
    operationId: 'setUp',
    method: 'POST',
    path: '/api/auth/setup',
    access: 'none',
    requiresSameOrigin: true,
    summary: 'Use a one-time link',
    input: {
      body: z.object({
        token: secretText,
        email: newEmail,
        name: userName,
        password: secretText,
      }),
    },
    responses: { 201: { description: 'The user.', body: user, headers: COOKIE_HEADER } },
    errors: ['INVALID_CREDENTIALS', 'USER_ALREADY_EXISTS', 'SERVER_OVERLOADED', 'NOT_READY'],
  },
  async ({ body }, context) => signedIn(201, await context.accounts.signIn.setUp(body), context),
);

export const getLink = endpoint(
  {
    ...HEAD,
    operationId: 'getOneTimeLink',
    method: 'GET',
    path: '/api/auth/link',
    access: 'none',
    requiresSameOrigin: true,
    summary: 'What a one-time link is for',
    input: { query: z.object({ token: secretText }) },
    responses: {
      200: {
        description: 'The link is valid.',
        body: z.object({
          kind: z.enum(['setup', 'invitation']),
          email: text('Of the invited user.').optional(),
        }),
      },
    },
    errors: ['NOT_FOUND', 'NOT_READY'],
  },
  async ({ query }, { accounts }) => {
    const link = await accounts.signIn.linkOf(query.token);
    if (link === undefined)
      throw new ApiError('NOT_FOUND', 'This link is invalid, already used, or expired.');
    return ok(link);
  },
);

export const getAuthState = endpoint(
  {
    ...HEAD,
    operationId: 'getAuthState',
    method: 'GET',
    path: '/api/auth/state',
    access: 'none',
    summary: 'Ways to sign in',
    responses: {
      200: {
        description: 'The ways.',
        body: z.object({
          isSetupDue: flag('Whether no account exists yet.'),
          passwordLogin: flag('Whether sign-in by password is enabled.'),
          providers: z.array(z.object({ name: text('Name.'), url: text('Where sign-in starts.') })),
          anonymousAccess: flag('Whether guests may search.'),
        }),
      },
    },
    errors: ['NOT_READY'],
  },
  async (_, { accounts, baseUrl }) => {
    const { anonymousAccess, passwordLogin } = accounts.settings.current;
    const providers = accounts.signOn.views(baseUrl);
    const isSetupDue = (await accounts.store.users.count()) === 0;
    return ok({ isSetupDue, passwordLogin, providers, anonymousAccess });
  },
);

export const logIn = endpoint(
  {
    ...HEAD,
    operationId: 'logIn',
    method: 'POST',
    path: '/api/auth/login',
    access: 'none',
    requiresSameOrigin: true,
    summary: 'Sign in',
    input: { body: z.object({ email: secretText, password: secretText }) },
    responses: { 200: { description: 'The user.', body: user, headers: COOKIE_HEADER } },
    errors: [
      'EMAIL_LOGIN_DISABLED',
      'TOO_MANY_SIGN_IN_ATTEMPTS',
      'INVALID_CREDENTIALS',
      'SERVER_OVERLOADED',
      'NOT_READY',
    ],
  },
  async ({ body }, context) => {
    const { accounts, address } = context;
    return signedIn(200, await accounts.signIn.logIn({ ...body, address }), context);
  },
);

export const logOut = endpoint(
  {
    ...HEAD,
    operationId: 'logOut',
    method: 'POST',
    path: '/api/auth/logout',
    access: 'session',
    summary: 'Sign out',
    responses: { 204: { description: 'The session has ended.', headers: COOKIE_HEADER } },
  },
  async (_, context) => {
    const { accounts, actor } = context;
    const { person, sessionHash = '' } = withPerson(context);
    await accounts.signIn.logOut(person, sessionHash, actor);
    return noContent({ 'Set-Cookie': endedSessionCookie(accounts.cookieScope) });
  },
);

export const changePassword = endpoint(
  {
    ...HEAD,
    operationId: 'changePassword',
    method: 'POST',
    path: '/api/auth/password',
    access: 'session',
    summary: 'Change the password',
    input: { body: z.object({ currentPassword: secretText, newPassword: secretText }) },
    responses: { 204: { description: 'Changed; other sessions have ended.' } },
    errors: ['INVALID_CREDENTIALS', 'TOO_MANY_SIGN_IN_ATTEMPTS', 'SERVER_OVERLOADED'],
  },
  async ({ body }, context) => {
    const { person, sessionHash = '' } = withPerson(context);
    const { accounts, address } = context;
    await accounts.signIn.changePassword(person, sessionHash, { ...body, address });
    return noContent();
  },
);

export const getAccount = endpoint(
  {
    ...HEAD,
    operationId: 'getAccount',
    method: 'GET',
    path: '/api/user',
    access: 'opt',
    allowsAnonymous: true,
    summary: 'Who is calling',
    responses: {
      200: {
        description: 'The caller and the features available to it.',
        body: z.object({
          user: user.nullable(),
          source: text('How the caller is authenticated.'),
          entitlements: z.array(z.string()),
          anonymousAccess: flag('Whether guests may search.'),
          features: z.object({
            passwordLogin: flag('Whether sign-in by password is enabled.'),
            apiKeyCreation: flag('Whether the caller may create API keys.'),
          }),
        }),
      },
    },
  },
  (_, { caller, accounts }) => {
    const { anonymousAccess, passwordLogin, apiKeyCreation } = accounts.settings.current;
    const isOwner = caller?.role === 'OWNER';
    return ok({
      user: caller?.person === undefined ? null : toUser(caller.person),
      source: caller?.source ?? 'none',
      entitlements: accounts.licences.licence.entitlements(accounts.now()),
      anonymousAccess,
      features: {
        passwordLogin,
        apiKeyCreation: caller?.person !== undefined && (isOwner || apiKeyCreation === 'all'),
      },
    });
  },
);

export const getUsage = endpoint(
  {
    ...HEAD,
    operationId: 'getUsage',
    method: 'GET',
    path: '/api/user/usage',
    access: 'user',
    summary: 'Requests used today',
    responses: {
      200: {
        description: 'Of the current UTC day.',
        body: z.object({
          limit: integer('Requests per day.').nullable(),
          used: integer('Requests counted today.'),
          remaining: integer('Requests remaining today.').nullable(),
          resetsAt: time('When the day ends.'),
        }),
      },
    },
  },
  async (_, context) => {
    const { accounts, ledger, settings } = context;
    const { id, requestsPerDay } = withPerson(context).person;
    const limit = limitOf(requestsPerDay, settings.rateLimit.requestsPerDay);
    const usage = await ledger.usageOf(id, limit, accounts.now());
    const { used, remaining, resetAtMs } = usage;
    return ok({ limit: usage.limit, used, remaining, resetsAt: isoTime(resetAtMs) });
  },
);

const KEYS = '/api/user/api_keys';

export const listKeys = endpoint(
  {
    ...HEAD,
    operationId: 'listApiKeys',
    method: 'GET',
    path: KEYS,
    access: 'session',
    summary: 'Own API keys',
    responses: {
      200: {
        description: 'The keys, without their values.',
        body: z.array(
          z.object({
            id: text('Id of the key.'),
            name: text('Name.'),
            createdAt: time('When it was created.'),
            lastUsedAt: nullableTime('When it was last used, to 5 minutes.'),
          }),
        ),
      },
    },
  },
  async (_, context) => {
    const keys = await context.accounts.keys.list(withPerson(context).person);
    return ok(
      keys.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        createdAt: isoTime(createdAt),
        lastUsedAt: isoTime(lastUsedAt),
      })),
    );
  },
);

export const createKey = endpoint(
  {
    ...HEAD,
    operationId: 'createApiKey',
    method: 'POST',
    path: KEYS,
    access: 'session',
    summary: 'Create an API key',
    input: { body: z.object({ name: z.string({ error: 'expected a text' }) }) },
    responses: {
      201: {
        description: 'The key with its value, which is shown only this once.',
        body: z.object({
          id: text('Id of the key.'),
          name: text('Name.'),
          key: text('The value.'),
          createdAt: time('When it was created.'),
        }),
      },
    },
    errors: ['API_KEY_ALREADY_EXISTS'],
  },
  async ({ body }, context) => {
    const name = body.name.trim();
    if (name.length < 1 || name.length > KEY_NAME_LENGTH_MAX)
      throw new ApiError(
        'API_KEY_ALREADY_EXISTS',
        `name: must have 1 to ${KEY_NAME_LENGTH_MAX} characters and differ from the names of your other keys`,
      );
    const { accounts, actor } = context;
    const made = await accounts.keys.create(actor, withPerson(context).person, name);
    return answer(201, {
      id: made.id,
      name: made.name,
      key: made.value,
      createdAt: isoTime(made.createdAt),
    });
  },
);

export const deleteKey = endpoint(
  {
    ...HEAD,
    operationId: 'deleteApiKey',
    method: 'DELETE',
    path: `${KEYS}/{id}`,
    access: 'session',
    summary: 'Revoke an API key',
    input: { path: z.object({ id: idText }) },
    responses: { 204: { description: 'The key and the tokens created with it are revoked.' } },
    errors: ['API_KEY_NOT_FOUND'],
  },
  async ({ path }, context) => {
    const { accounts, actor } = context;
    await accounts.keys.remove(actor, path.id, withPerson(context).person.id);
    return noContent();
  },
);

export const listTokens = endpoint(
  {
    ...HEAD,
    operationId: 'listScopedAccessTokens',
    method: 'GET',
    path: '/api/user/scoped_access_tokens',
    access: 'session',
    summary: 'Own scoped access tokens',
    responses: {
      200: {
        description: 'Active tokens, without their values.',
        body: z.array(
          z.object({
            id: text('Id of the token.'),
            createdAt: time('When it was created.'),
            expiresAt: time('When it expires.'),
            repoIds: z.array(integer('Id of a repository.', 1)),
          }),
        ),
      },
    },
  },
  async (_, context) => {
    const tokens = await context.accounts.keys.listTokens(withPerson(context).person);
    return ok(
      tokens.map(({ id, createdAt, expiresAt, repoIds }) => ({
        id,
        createdAt: isoTime(createdAt),
        expiresAt: isoTime(expiresAt),
        repoIds,
      })),
    );
  },
);

// /api/auth and /api/user (API.md 15.1, 15.2): sign-in and the caller's own account. Only our own pages use them.

import { z } from 'zod';
import { endedSessionCookie, sessionCookie } from '../../accounts/credentials.ts';
import { KEY_NAME_LENGTH_MAX } from '../../accounts/keys.ts';
import type { Person } from '../../accounts/caller.ts';
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
import { shortText } from '../shapes/input.ts';
import { withPerson } from './token-endpoints.ts';
import { flag, integer, isoTime, nullableTime, text, time } from '../shapes/schemas.ts';
import { idText, newEmail, secretText, toUser, user, userName, userText } from './user-schemas.ts';

const HEAD = { isDescribed: false } as const;

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
    method: 'POST',
    path: '/api/auth/setup',
    access: 'none',
    requiresSameOrigin: true,
    input: {
      body: z.object({ token: secretText, email: newEmail, name: userName, password: secretText }),
    },
    responses: { 201: { body: user, headers: COOKIE_HEADER } },
    errors: ['INVALID_CREDENTIALS', 'USER_ALREADY_EXISTS', 'SERVER_OVERLOADED', 'NOT_READY'],
  },
  async ({ body }, context) => signedIn(201, await context.accounts.signIn.setUp(body), context),
);

export const getLink = endpoint(
  {
    ...HEAD,
    method: 'GET',
    path: '/api/auth/link',
    access: 'none',
    requiresSameOrigin: true,
    input: { query: z.object({ token: secretText }) },
    responses: {
      200: {
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
    method: 'GET',
    path: '/api/auth/state',
    access: 'none',
    responses: {
      200: {
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
    method: 'POST',
    path: '/api/auth/login',
    access: 'none',
    requiresSameOrigin: true,
    input: { body: z.object({ email: secretText, password: secretText }) },
    responses: { 200: { body: user, headers: COOKIE_HEADER } },
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
    method: 'POST',
    path: '/api/auth/logout',
    access: 'session',
    responses: { 204: { headers: COOKIE_HEADER } },
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
    method: 'POST',
    path: '/api/auth/password',
    access: 'session',
    input: { body: z.object({ currentPassword: secretText, newPassword: secretText }) },
    responses: { 204: {} },
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
    method: 'GET',
    path: '/api/user',
    access: 'opt',
    allowsAnonymous: true,
    responses: {
      200: {
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
    method: 'GET',
    path: '/api/user/usage',
    access: 'user',
    responses: {
      200: {
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

/** Endpoints of the caller's own keys; for the operator, of any user's. */
const KEYS_HEAD = {
  ...HEAD,
  path: '/api/user/api_keys',
  access: 'session',
  isForOperator: true,
} as const;

/** Whose keys a request is about: the caller, or the user that the operator names (undefined: everyone). Errors: NOT_FOUND. */
async function keyOwner(context: CallContext, userId?: string): Promise<Person | undefined> {
  const { caller, accounts } = context;
  if (caller?.source !== 'operator') return withPerson(context).person;
  return userId === undefined ? undefined : accounts.members.find(userId);
}

export const listKeys = endpoint(
  {
    ...KEYS_HEAD,
    method: 'GET',
    input: { query: z.object({ userId: userText.optional() }) },
    responses: {
      200: {
        body: z.array(
          z.object({
            id: text('Id of the key.'),
            email: text('E-mail address of its user.'),
            name: text('Name.'),
            state: z.enum(['active', 'suspended']).describe('Keys of suspended users are refused.'),
            createdAt: time('When it was created.'),
            lastUsedAt: nullableTime('When it was last used, to 5 minutes.'),
          }),
        ),
      },
    },
  },
  async ({ query }, context) => {
    const { store } = context.accounts;
    const owner = await keyOwner(context, query.userId);
    const users = owner === undefined ? await store.users.list() : [owner];
    const usersById = new Map(users.map((user) => [user.id, user]));
    const keys = await store.apiKeys.list(owner?.id);
    return ok(
      keys.map(({ id, userId, name, createdAt, lastUsedAt }) => {
        const user = usersById.get(userId);
        return {
          id,
          email: user?.email ?? userId,
          name,
          state: (user?.suspendedAt ?? null) === null ? 'active' : 'suspended',
          createdAt: isoTime(createdAt),
          lastUsedAt: isoTime(lastUsedAt),
        };
      }),
    );
  },
);

const keyName = shortText(KEY_NAME_LENGTH_MAX).min(1);

export const createKey = endpoint(
  {
    ...KEYS_HEAD,
    method: 'POST',
    input: {
      body: z.object({
        name: z.string({ error: 'expected a text' }),
        userId: userText.exactOptional().describe('Only for the operator.'),
      }),
    },
    responses: {
      201: {
        body: z.object({
          id: text('Id of the key.'),
          email: text('E-mail address of its user.'),
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
    if (!keyName.safeParse(name).success)
      throw new ApiError(
        'API_KEY_ALREADY_EXISTS',
        `name: must have 1 to ${KEY_NAME_LENGTH_MAX} characters and differ from the names of your other keys`,
      );
    const { accounts, actor, caller } = context;
    const person = await keyOwner(context, body.userId);
    if (person === undefined) throw new ApiError('INVALID_REQUEST_BODY', 'userId: required');
    if (person.suspendedAt !== null)
      throw new ApiError('NOT_FOUND', `${person.email} is suspended and cannot have a key.`);
    const made =
      caller?.source === 'operator'
        ? await accounts.keys.createFor(actor, person, name)
        : await accounts.keys.create(actor, person, name);
    return answer(201, {
      id: made.id,
      email: person.email,
      name: made.name,
      key: made.value,
      createdAt: isoTime(made.createdAt),
    });
  },
);

export const deleteKey = endpoint(
  {
    ...KEYS_HEAD,
    method: 'DELETE',
    path: `${KEYS_HEAD.path}/{id}`,
    input: { path: z.object({ id: idText }) },
    responses: { 204: {} },
    errors: ['API_KEY_NOT_FOUND'],
  },
  async ({ path }, context) => {
    const { accounts, actor, caller } = context;
    const own = caller?.source === 'operator' ? undefined : withPerson(context).person.id;
    await accounts.keys.remove(actor, path.id, own);
    return noContent();
  },
);

export const listTokens = endpoint(
  {
    ...HEAD,
    method: 'GET',
    path: '/api/user/scoped_access_tokens',
    access: 'session',
    responses: {
      200: {
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

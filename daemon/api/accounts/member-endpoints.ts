// /api/ee/user and /api/ee/users: the members of the instance, for owners (API.md 14.1 to 14.5).

import { z } from 'zod';
import { ApiError } from '../shapes/api-error.ts';
import { answer, endpoint, ok } from '../shapes/endpoint.ts';
import { jsonInteger } from '../shapes/input.ts';
import { integer, text } from '../shapes/schemas.ts';
import {
  invitedUser,
  newEmail,
  role,
  secretText,
  toUser,
  user,
  userName,
  userQuery,
} from './user-schemas.ts';

const ONE_USER = '/api/ee/user';
const ALL_USERS = '/api/ee/users';

const HEAD = { access: 'owner', entitlement: 'org-management', tag: 'Enterprise' } as const;

export const getUser = endpoint(
  {
    ...HEAD,
    operationId: 'getUser',
    method: 'GET',
    path: ONE_USER,
    summary: 'One member',
    input: { query: userQuery },
    missingQueryCode: 'MISSING_REQUIRED_QUERY_PARAMETER',
    responses: { 200: { description: 'The member.', body: user } },
    errors: ['NOT_FOUND'],
  },
  async ({ query }, { accounts, actor }) =>
    ok(toUser(await accounts.members.get(actor, query.userId))),
);

export const listUsers = endpoint(
  {
    ...HEAD,
    operationId: 'listUsers',
    method: 'GET',
    path: ALL_USERS,
    summary: 'All members',
    responses: { 200: { description: 'By creation.', body: z.array(user) } },
  },
  async (_, { accounts, actor }) => ok((await accounts.members.list(actor)).map(toUser)),
);

export const deleteUser = endpoint(
  {
    ...HEAD,
    operationId: 'deleteUser',
    method: 'DELETE',
    path: ONE_USER,
    summary: 'Remove a member',
    description: 'Sessions, keys and tokens of the user become invalid at once.',
    input: { query: userQuery },
    missingQueryCode: 'MISSING_REQUIRED_QUERY_PARAMETER',
    responses: {
      200: {
        description: 'The member is removed.',
        body: z.object({ success: z.literal(true), message: z.string() }),
      },
    },
    errors: ['NOT_FOUND', 'LAST_OWNER_CANNOT_BE_REMOVED'],
  },
  async ({ query }, { accounts, actor }) => {
    await accounts.members.remove(actor, query.userId);
    return ok({ success: true, message: 'The member is removed.' });
  },
);

export const createUser = endpoint(
  {
    ...HEAD,
    operationId: 'createUser',
    method: 'POST',
    path: ALL_USERS,
    summary: 'Add a member',
    input: {
      body: z.object({
        email: newEmail,
        name: userName.exactOptional(),
        role: role.exactOptional().describe('Default: MEMBER.'),
        password: secretText.exactOptional().describe('Default: the user sets one.'),
      }),
    },
    responses: { 201: { description: 'The new member.', body: invitedUser } },
    errors: ['USER_ALREADY_EXISTS', 'ORG_SEAT_COUNT_REACHED'],
  },
  async ({ body: { password, ...input } }, { accounts, actor, baseUrl }) => {
    const { members, signIn, store } = accounts;
    const isFirst = (await store.users.count()) === 0;
    const body = { ...input, role: input.role ?? (isFirst ? 'OWNER' : 'MEMBER') };
    if (isFirst && body.role !== 'OWNER')
      throw new ApiError('INVALID_REQUEST_BODY', 'role: the first user must be an owner');
    const hash =
      password === undefined ? {} : { passwordHash: await signIn.hashPassword(password) };
    const { person, linkValue } = await members.add(actor, { ...body, ...hash });
    return answer(201, { ...toUser(person), setupUrl: accounts.setupUrl(baseUrl, linkValue) });
  },
);

export const updateUser = endpoint(
  {
    ...HEAD,
    operationId: 'updateUser',
    method: 'PATCH',
    path: ONE_USER,
    summary: 'Change a member',
    input: {
      query: userQuery,
      body: z.object({
        name: userName.exactOptional(),
        role: role.exactOptional().describe('What the member may do.'),
        suspended: z
          .boolean()
          .exactOptional()
          .describe('Suspend the member, or end the suspension.'),
        requestsPerDay: z
          .union([jsonInteger(0, Number.MAX_SAFE_INTEGER), z.literal('unlimited'), z.null()], {
            error: 'expected an integer from 0 to 2^53 - 1, "unlimited" or null',
          })
          .exactOptional()
          .describe('Limit of requests per day; null: that of the instance.'),
      }),
    },
    missingQueryCode: 'MISSING_REQUIRED_QUERY_PARAMETER',
    responses: { 200: { description: 'The changed member.', body: user } },
    errors: [
      'NOT_FOUND',
      'LAST_OWNER_CANNOT_BE_DEMOTED',
      'LAST_OWNER_CANNOT_BE_REMOVED',
      'ORG_SEAT_COUNT_REACHED',
    ],
  },
  async ({ query, body }, { accounts, actor }) =>
    ok(toUser(await accounts.members.change(actor, query.userId, body))),
);

const OPERATOR_HEAD = { access: 'operator', isDescribed: false } as const;

export const setUserPassword = endpoint(
  {
    ...OPERATOR_HEAD,
    method: 'PUT',
    path: `${ONE_USER}/password`,
    input: { query: userQuery, body: z.object({ password: secretText.exactOptional() }) },
    responses: {
      200: { body: z.object({ setupUrl: text('One-time address, valid for 7 days.').optional() }) },
    },
    errors: ['NOT_FOUND', 'SERVER_OVERLOADED'],
  },
  async ({ query, body: { password } }, { accounts, baseUrl }) => {
    const { members, signIn } = accounts;
    const { id } = await members.find(query.userId);
    if (password === undefined)
      return ok({ setupUrl: accounts.setupUrl(baseUrl, await signIn.makeLink(id)) });
    await signIn.setPassword(id, password);
    return ok({});
  },
);

export const unlinkUser = endpoint(
  {
    ...OPERATOR_HEAD,
    method: 'DELETE',
    path: `${ONE_USER}/links`,
    input: { query: userQuery },
    responses: { 200: { body: z.object({ removed: integer('Links.') }) } },
    errors: ['NOT_FOUND'],
  },
  async ({ query }, { accounts, actor }) =>
    ok({ removed: await accounts.members.unlink(actor, query.userId) }),
);

// /api/ee/user and /api/ee/users: the members of the instance, for owners (API.md 14.1 to 14.5).

import { z } from 'zod';
import { answer, endpoint, ok } from '../shapes/endpoint.ts';
import { jsonInteger, requiredText } from '../shapes/input.ts';
import { invitedUser, newEmail, role, toUser, user, userName } from './user-schemas.ts';

const userQuery = z.object({
  userId: requiredText().meta({ description: 'Id of the user.' }),
});

const ONE_USER = '/api/ee/user';
const ALL_USERS = '/api/ee/users';

const HEAD = {
  access: 'owner',
  entitlement: 'org-management',
  tag: 'Enterprise',
} as const;

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
        role: role.exactOptional().meta({ description: 'Default: MEMBER.' }),
      }),
    },
    responses: { 201: { description: 'The new member.', body: invitedUser } },
    errors: ['USER_ALREADY_EXISTS', 'ORG_SEAT_COUNT_REACHED'],
  },
  async ({ body }, { accounts, actor, baseUrl }) => {
    const { person, linkValue } = await accounts.members.add(actor, body);
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
        role: role.exactOptional().meta({ description: 'What the member may do.' }),
        suspended: z
          .boolean()
          .exactOptional()
          .meta({ description: 'Suspend the member, or end the suspension.' }),
        requestsPerDay: z
          .union([jsonInteger(0), z.literal('unlimited'), z.null()], {
            error: 'expected an integer >= 0, "unlimited" or null',
          })
          .exactOptional()
          .meta({ description: 'Limit of requests per day; null: that of the instance.' }),
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

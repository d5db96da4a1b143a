// The user as the API shows it (API.md 14.1), and schemas that endpoints for users share.

import { z } from 'zod';
import type { Person } from '../../accounts/caller.ts';
import { requiredText, shortText } from '../shapes/input.ts';
import { integer, isoTime, nullableTime, text, time } from '../shapes/schemas.ts';

export const role = z
  .enum(['OWNER', 'MEMBER'])
  .meta({ id: 'Role', description: 'What a member may do.' });

const userFields = {
  id: text('Id of the user.'),
  name: text('Display name.').nullable(),
  email: text('E-mail address, lower case.'),
  role,
  suspendedAt: nullableTime('When the user was suspended; null: the user is active.'),
  createdAt: time('When the user was created.'),
  updatedAt: time('When the user was last changed.'),
  lastActivityAt: nullableTime('When the user was last active, to 5 minutes; null: never.'),
  requestsPerDay: z
    .union([integer('Requests.'), z.literal('unlimited'), z.null()])
    .describe('Limit of requests per day; null: that of the instance.'),
};

export const user = z.object(userFields).meta({ id: 'User', description: 'A member.' });

export const invitedUser = z
  .object({
    ...userFields,
    setupUrl: text('One-time address, valid for 7 days, where the user sets a password.'),
  })
  .meta({ id: 'InvitedUser', description: 'A new member.' });

export function toUser(person: Person) {
  const { id, name, email, suspendedAt, createdAt, updatedAt, lastActivityAt } = person;
  return {
    id,
    name,
    email,
    role: person.role,
    suspendedAt: isoTime(suspendedAt),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    lastActivityAt: isoTime(lastActivityAt),
    requestsPerDay: person.requestsPerDay,
  };
}

const EMAIL_LENGTH_MAX = 254;

function givenText(input: unknown): string {
  return typeof input === 'string' ? `, not ${JSON.stringify(input.slice(0, 100))}` : '';
}

export const newEmail = z
  .email({ error: ({ input }) => `expected an e-mail address${givenText(input)}` })
  .max(EMAIL_LENGTH_MAX, { error: `longer than ${EMAIL_LENGTH_MAX} characters` })
  .describe('E-mail address; unique without regard to case.');

export const userName = shortText(200).min(1, { error: 'empty' }).describe('Display name.');

export const idText = z.string({ error: 'required' }).max(128, { error: 'too long' });

export const userText = z
  .string({ error: 'required' })
  .max(EMAIL_LENGTH_MAX, { error: 'too long' })
  .describe('Id or e-mail address of the user.');

export const userQuery = z.object({
  userId: requiredText().describe('Id or e-mail address of the user.'),
});

/** Longer ones are refused before they are hashed. */
export const secretText = shortText(1024);

// API keys for the operator: creates, lists and revokes keys of any user.

import { z } from 'zod';
import { AccountError } from '../../accounts/error.ts';
import { KEY_NAME_LENGTH_MAX } from '../../accounts/keys.ts';
import { isoTime } from '../accounts/user-schemas.ts';
import { operation } from './operation.ts';
import { emailOfUser, peopleOf } from './user-operations.ts';

const create = operation(
  z.strictObject({
    email: emailOfUser,
    name: z
      .string()
      .trim()
      .min(1, { error: 'empty' })
      .max(KEY_NAME_LENGTH_MAX, { error: `longer than ${KEY_NAME_LENGTH_MAX} characters` }),
  }),
  async ({ accounts, actor }, { email, name }) => {
    const person = await accounts.members.byEmail(email);
    if (person.suspendedAt !== null)
      throw new AccountError('NOT_FOUND', `${person.email} is suspended and cannot have a key.`);
    const { id, value } = await accounts.keys.createFor(actor, person, name);
    return { id, email: person.email, name, key: value };
  },
);

const list = operation(
  z.strictObject({ email: emailOfUser.optional() }),
  async ({ accounts }, { email }) => {
    const { members, store } = accounts;
    const person = email === undefined ? undefined : await members.byEmail(email);
    const people = await peopleOf(accounts, person);
    const keys = await store.apiKeys.list(person?.id);
    return keys.map(({ id, userId, name, createdAt, lastUsedAt }) => ({
      id,
      email: people.get(userId)?.email ?? userId,
      name,
      // Keys of suspended users are refused.
      state: (people.get(userId)?.suspendedAt ?? null) === null ? 'active' : 'suspended',
      createdAt: isoTime(createdAt),
      lastUsedAt: isoTime(lastUsedAt),
    }));
  },
);

const revoke = operation(
  z.strictObject({ id: z.string() }),
  async ({ accounts, actor }, { id }) => {
    const { keys, store } = accounts;
    const key = await store.apiKeys.get(id);
    try {
      await keys.remove(actor, id);
    } catch (error) {
      if (key !== undefined) throw error;
      throw new AccountError('API_KEY_NOT_FOUND', `There is no API key ${id}.`);
    }
    return { id, name: key?.name ?? '' };
  },
);

export const KEY_OPERATIONS = { 'key.create': create, 'key.list': list, 'key.revoke': revoke };

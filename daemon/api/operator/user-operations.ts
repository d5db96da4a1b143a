// Users for the operator: by e-mail address, without licence (API.md 22.2).

import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Person } from '../../accounts/caller.ts';
import { AccountError } from '../../accounts/error.ts';
import { newEmail, role, toUser, userName } from '../accounts/user-schemas.ts';
import { operation, type OperatorContext } from './operation.ts';

/** E-mail address of an existing user. */
export const emailOfUser = z.string({ error: 'expected an e-mail address' }).max(1000);
const password = z.string({ error: 'expected a text' });
const byEmail = z.strictObject({ email: emailOfUser });

/** As in the API, with the request limit. */
function userView(person: Person) {
  return { ...toUser(person), requestsPerDay: person.requestsPerDay };
}

export type UserView = ReturnType<typeof userView>;

const add = operation(
  z.strictObject({
    email: newEmail,
    name: userName.exactOptional(),
    role: role.exactOptional(),
    password: password.exactOptional(),
  }),
  async (context, { password, ...input }) => {
    const { members, signIn, store } = context.accounts;
    const isFirst = (await store.users.count()) === 0;
    const member = { ...input, role: input.role ?? (isFirst ? 'OWNER' : 'MEMBER') };
    if (isFirst && member.role !== 'OWNER')
      throw new AccountError('INVALID_REQUEST_BODY', 'role "MEMBER": the first user is an owner');
    if (password !== undefined) {
      const passwordHash = await signIn.hashPassword(password);
      return { user: userView(await members.create(context.actor, { ...member, passwordHash })) };
    }
    const { person, linkValue } = await members.add(context.actor, member);
    return { user: userView(person), setupUrl: setupUrl(context, linkValue) };
  },
);

function setupUrl({ accounts, baseUrl }: OperatorContext, linkValue: string): string {
  return accounts.setupUrl(baseUrl, linkValue);
}

const list = operation(z.strictObject({}), async ({ accounts, actor }) =>
  (await accounts.members.list(actor)).map(userView),
);

const show = operation(byEmail, async ({ accounts, actor }, { email }) => {
  const { id } = await accounts.members.byEmail(email);
  return userView(await accounts.members.get(actor, id));
});

const change = operation(
  z.strictObject({
    email: emailOfUser,
    role: role.exactOptional(),
    suspended: z.boolean().exactOptional(),
    requestsPerDay: z
      .union([z.int().min(0), z.literal('unlimited'), z.null()], {
        error: 'expected an integer >= 0, "unlimited" or null',
      })
      .exactOptional(),
  }),
  async ({ accounts, actor }, { email, ...changes }) => {
    const { id } = await accounts.members.byEmail(email);
    return userView(await accounts.members.change(actor, id, changes));
  },
);

const remove = operation(byEmail, async ({ accounts, actor }, { email }) => {
  const person = await accounts.members.byEmail(email);
  await accounts.members.remove(actor, person.id);
  return userView(person);
});

/** Sets the password, which ends the sessions of the user; without a password creates a link where the user sets it. */
const setPassword = operation(
  z.strictObject({ email: emailOfUser, password: password.optional() }),
  async (context, { email, password }) => {
    const { members, signIn } = context.accounts;
    const { id } = await members.byEmail(email);
    if (password === undefined) return { setupUrl: setupUrl(context, await signIn.makeLink(id)) };
    await signIn.setPassword(id, password);
    return {};
  },
);

/** Removes the links with accounts of identity providers: the next sign-on creates a new one. */
const unlink = operation(byEmail, async ({ accounts, actor }, { email }) => {
  const person = await accounts.members.byEmail(email);
  return { email: person.email, count: await accounts.members.unlink(actor, person.id) };
});

/** People by user id: this one, or all. */
export async function peopleOf(
  { store }: Accounts,
  person: Person | undefined,
): Promise<ReadonlyMap<string, Pick<Person, 'email' | 'suspendedAt'>>> {
  const users = person === undefined ? await store.users.list() : [person];
  return new Map(users.map((user) => [user.id, user]));
}

export const USER_OPERATIONS = {
  'user.add': add,
  'user.list': list,
  'user.show': show,
  'user.change': change,
  'user.remove': remove,
  'user.password': setPassword,
  'user.unlink': unlink,
};

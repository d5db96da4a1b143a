// Grants as the operator gives and takes them: by e-mail address and repository name.

import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import { AccountError } from '../../accounts/error.ts';
import { operation } from './operation.ts';
import { knownEmail } from './users.ts';

const GRANT_COUNT_MAX = 10_000;
const PAGE_SIZE_MAX = 5_000;

const change = z.strictObject({
  email: knownEmail,
  repos: z.array(z.string()).min(1).max(GRANT_COUNT_MAX),
});

/** Errors: NOT_FOUND naming each name that no repository has. */
function repoIdsOf({ directory }: Accounts, names: readonly string[]): number[] {
  const idByName = new Map(directory.all.map(({ name, repoId }) => [name, repoId]));
  const unknown = names.filter((name) => !idByName.has(name));
  if (unknown.length > 0)
    throw new AccountError('NOT_FOUND', `There is no repository ${unknown.join(', ')}.`);
  return [...new Set(names.flatMap((name) => idByName.get(name) ?? []))];
}

const add = operation(change, async ({ accounts, actor }, { email, repos }) => {
  const { id } = await accounts.members.byEmail(email);
  const added = await accounts.grants.add(actor, id, repoIdsOf(accounts, repos));
  return { added, isEffective: accounts.isEntitled('permissions') };
});

const remove = operation(change, async ({ accounts, actor }, { email, repos }) => {
  const { id } = await accounts.members.byEmail(email);
  return { removed: await accounts.grants.remove(actor, id, repoIdsOf(accounts, repos)) };
});

/** A part of the grants of a user, or for a repository. */
const list = operation(
  z
    .strictObject({
      email: knownEmail.optional(),
      repo: z.string().optional(),
      offset: z.int().min(0),
      limit: z.int().min(1).max(PAGE_SIZE_MAX),
    })
    .refine(({ email, repo }) => (email === undefined) !== (repo === undefined), {
      error: 'expected a user or a repository',
    }),
  async ({ accounts }, { email, repo, ...window }) => {
    const { grants, members, directory, store } = accounts;
    const person = email === undefined ? undefined : await members.byEmail(email);
    const [repoId = 0] = repo === undefined ? [] : repoIdsOf(accounts, [repo]);
    const { total, rows } =
      person === undefined
        ? await grants.ofRepo(repoId, window)
        : await grants.ofUser(person.id, window);
    const users = person === undefined ? await store.users.list() : [person];
    const emails = new Map(users.map((user) => [user.id, user.email]));
    return {
      total,
      rows: rows.map((row) => ({
        email: emails.get(row.userId) ?? row.userId,
        // A grant outlives a repository that is not served at the moment.
        repo: directory.byId(row.repoId)?.name ?? `#${row.repoId}`,
        repoId: row.repoId,
        source: row.source,
      })),
    };
  },
);

export const GRANT_OPERATIONS = { 'grant.add': add, 'grant.remove': remove, 'grant.list': list };

// Grants for the operator: by e-mail address, and by name or id of any known repository.

import { z } from 'zod';
import { operation, pageWindow } from './operation.ts';
import { repoIdsOf } from './repo-operations.ts';
import { emailOfUser, peopleOf } from './user-operations.ts';

const GRANT_COUNT_MAX = 10_000;

const change = z.strictObject({
  email: emailOfUser,
  repos: z.array(z.string()).min(1).max(GRANT_COUNT_MAX),
});

const add = operation(change, async ({ accounts, actor, repos: directory }, { email, repos }) => {
  const { id } = await accounts.members.byEmail(email);
  const added = await accounts.grants.add(actor, id, [...repoIdsOf(directory.list(), repos)]);
  return { added, isEffective: accounts.isEntitled('permissions') };
});

const remove = operation(
  change,
  async ({ accounts, actor, repos: directory }, { email, repos }) => {
    const { id } = await accounts.members.byEmail(email);
    return {
      removed: await accounts.grants.remove(actor, id, [...repoIdsOf(directory.list(), repos)]),
    };
  },
);

/** A page of the grants of a user, or for a repository. */
const list = operation(
  z
    .strictObject({
      email: emailOfUser.optional(),
      repo: z.string().optional(),
      ...pageWindow,
    })
    .refine(({ email, repo }) => (email === undefined) !== (repo === undefined), {
      error: 'expected a user or a repository',
    }),
  async ({ accounts, repos }, { email, repo, ...window }) => {
    const { grants, members } = accounts;
    const directory = repos.list();
    const names = new Map(directory.map(({ repoId, name }) => [repoId, name]));
    const person = email === undefined ? undefined : await members.byEmail(email);
    const [repoId = 0] = repo === undefined ? [] : repoIdsOf(directory, [repo]);
    const { total, rows } =
      person === undefined
        ? await grants.ofRepo(repoId, window)
        : await grants.ofUser(person.id, window);
    const people = await peopleOf(accounts, person);
    return {
      total,
      rows: rows.map((row) => ({
        email: people.get(row.userId)?.email ?? row.userId,
        // An old store may have grants of unknown repositories.
        repo: names.get(row.repoId) ?? `#${row.repoId}`,
        repoId: row.repoId,
        source: row.source,
      })),
    };
  },
);

export const GRANT_OPERATIONS = { 'grant.add': add, 'grant.remove': remove, 'grant.list': list };

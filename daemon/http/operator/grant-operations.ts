// Grants as the operator gives and takes them: by e-mail address and repository name.

import { z } from 'zod';
import { operation, pageWindow } from './operation.ts';
import { repoIdsOf } from './repo-operations.ts';
import { emailsOf, knownEmail } from './user-operations.ts';

const GRANT_COUNT_MAX = 10_000;

const change = z.strictObject({
  email: knownEmail,
  repos: z.array(z.string()).min(1).max(GRANT_COUNT_MAX),
});

const add = operation(change, async ({ accounts, actor }, { email, repos }) => {
  const { id } = await accounts.members.byEmail(email);
  const added = await accounts.grants.add(actor, id, [...repoIdsOf(accounts.directory.all, repos)]);
  return { added, isEffective: accounts.isEntitled('permissions') };
});

const remove = operation(change, async ({ accounts, actor }, { email, repos }) => {
  const { id } = await accounts.members.byEmail(email);
  return {
    removed: await accounts.grants.remove(actor, id, [...repoIdsOf(accounts.directory.all, repos)]),
  };
});

/** A part of the grants of a user, or for a repository. */
const list = operation(
  z
    .strictObject({
      email: knownEmail.optional(),
      repo: z.string().optional(),
      ...pageWindow,
    })
    .refine(({ email, repo }) => (email === undefined) !== (repo === undefined), {
      error: 'expected a user or a repository',
    }),
  async ({ accounts }, { email, repo, ...window }) => {
    const { grants, members, directory } = accounts;
    const person = email === undefined ? undefined : await members.byEmail(email);
    const [repoId = 0] = repo === undefined ? [] : repoIdsOf(directory.all, [repo]);
    const { total, rows } =
      person === undefined
        ? await grants.ofRepo(repoId, window)
        : await grants.ofUser(person.id, window);
    const emails = await emailsOf(accounts, person);
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

// Repositories as the operator sees them: all of the instance, with who may see each, which is changed here.

import { z } from 'zod';
import { AccountError } from '../../accounts/error.ts';
import { operation, type RepoRule } from './operation.ts';

const REPO_COUNT_MAX = 10_000;
const PAGE_SIZE_MAX = 5_000;

/** A part of the repositories, by name. */
const list = operation(
  z.strictObject({ offset: z.int().min(0), limit: z.int().min(1).max(PAGE_SIZE_MAX) }),
  ({ repos }, { offset, limit }) => {
    const all = [...repos.list()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const rows = all.slice(offset, offset + limit).map(rowOf);
    return Promise.resolve({ total: all.length, rows });
  },
);

function rowOf({ repoId, name, visibility, enforcement, place, failure }: RepoRule) {
  return {
    repoId,
    repo: name,
    visibility,
    enforcement,
    path: place?.path ?? null,
    failure: failure ?? null,
  };
}

/** Who may see repositories; unknown names change nothing. */
const set = operation(
  z.strictObject({
    repos: z.array(z.string()).min(1).max(REPO_COUNT_MAX),
    visibility: z.enum(['public', 'internal', 'private']).optional(),
    enforcement: z.enum(['none', 'restricted', 'all']).optional(),
  }),
  async ({ accounts, actor, repos }, { repos: names, visibility, enforcement }) => {
    const change = {
      ...(visibility === undefined ? {} : { visibility }),
      ...(enforcement === undefined ? {} : { enforcement }),
    };
    if (Object.keys(change).length === 0)
      throw new AccountError('INVALID_REQUEST_BODY', 'There is nothing to change.');
    const byName = new Map(repos.list().map((repo) => [repo.name, repo]));
    const unknown = names.filter((name) => !byName.has(name));
    if (unknown.length > 0)
      throw new AccountError('NOT_FOUND', `There is no repository ${unknown.join(', ')}.`);
    const repoIds = new Set(names.map((name) => byName.get(name)!.repoId));
    for (const repoId of repoIds) {
      const target = { id: String(repoId), type: 'repo' } as const;
      await accounts.trail.record(actor, 'settings.changed', target, change);
    }
    await repos.change(repoIds, change);
    const changed = repos.list().filter(({ repoId }) => repoIds.has(repoId));
    return { rows: changed.map(rowOf) };
  },
);

export const REPO_OPERATIONS = { 'repo.list': list, 'repo.set': set };

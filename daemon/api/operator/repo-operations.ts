// Repositories for the operator: all of the instance, with their permissions, which can be changed here.

import { z } from 'zod';
import { AccountError } from '../../accounts/error.ts';
import { ENFORCEMENTS, VISIBILITIES } from '../../repos/records.ts';
import { someNames } from '../../repos/some-names.ts';
import { operation, pageWindow, type RepoRule } from './operation.ts';

const REPO_COUNT_MAX = 10_000;

/** A page of the repositories, by name. */
const list = operation(z.strictObject(pageWindow), ({ repos }, { offset, limit }) => {
  const all = [...repos.list()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = all.slice(offset, offset + limit).map(rowOf);
  return Promise.resolve({ total: all.length, rows });
});

function rowOf({ repoId, name, visibility, enforcement, place, failure, ...rule }: RepoRule) {
  const state = rule.isServed === true ? 'served' : 'not served';
  return {
    repoId,
    repo: name,
    visibility,
    enforcement,
    state: rule.isServed === undefined ? null : state,
    indexedAt: rule.indexedAt ?? null,
    path: place?.path ?? null,
    failure: failure ?? null,
  };
}

/** Ids of repositories given by name or id (`270`, `#270`). Errors: NOT_FOUND naming each unknown one. */
export function repoIdsOf(
  repos: readonly { readonly repoId: number; readonly name: string }[],
  texts: readonly string[],
): ReadonlySet<number> {
  const idByText = new Map(
    repos.flatMap(({ repoId }) => [`${repoId}`, `#${repoId}`].map((text) => [text, repoId])),
  );
  for (const { name, repoId } of repos) idByText.set(name, repoId);
  const unknown = texts.filter((text) => !idByText.has(text));
  if (unknown.length > 0)
    throw new AccountError('NOT_FOUND', `There is no repository ${unknown.join(', ')}.`);
  return new Set(texts.flatMap((text) => idByText.get(text) ?? []));
}

/**
 * Changes permissions; if a name is unknown, or decided by host and connection, nothing changes.
 */
const set = operation(
  z.strictObject({
    repos: z.array(z.string()).min(1).max(REPO_COUNT_MAX),
    visibility: z.enum(VISIBILITIES).exclude(['unknown']).exactOptional(),
    enforcement: z.enum(ENFORCEMENTS).exactOptional(),
  }),
  async ({ actor, repos }, { repos: names, ...change }) => {
    if (Object.keys(change).length === 0)
      throw new AccountError('INVALID_REQUEST_BODY', 'There is nothing to change.');
    const repoIds = repoIdsOf(repos.list(), names);
    const listed = repos.list().filter(({ repoId, isListed }) => repoIds.has(repoId) && isListed);
    if (listed.length > 0)
      throw new AccountError(
        'INVALID_REQUEST_BODY',
        `Nothing was changed: a connection lists ${someNames(listed.map(({ name }) => name))}, so its host and the configuration ` +
          'decide who may see it; change it at the host, or enforcePermissions of the connection.',
      );
    await repos.change(repoIds, change, actor);
    const changed = repos.list().filter(({ repoId }) => repoIds.has(repoId));
    return { rows: changed.map(rowOf) };
  },
);

/** Removes repositories; if one is served or listed by a connection, none. */
const remove = operation(
  z.strictObject({ repos: z.array(z.string()).min(1).max(REPO_COUNT_MAX) }),
  async ({ actor, repos }, { repos: names }) => {
    const repoIds = repoIdsOf(repos.list(), names);
    const selected = repos.list().filter(({ repoId }) => repoIds.has(repoId));
    const served = selected.filter(({ isServed, isListed }) => isServed === true || isListed);
    if (served.length > 0)
      throw new AccountError(
        'INVALID_REQUEST_BODY',
        `Nothing was removed: ${someNames(served.map(({ name }) => name))} is served, or a connection lists it; remove it ` +
          'from the sources of the daemon, or exclude it in the configuration of the connection.',
      );
    await repos.remove(repoIds, actor);
    return { rows: selected.map(rowOf) };
  },
);

export const REPO_OPERATIONS = { 'repo.list': list, 'repo.set': set, 'repo.remove': remove };

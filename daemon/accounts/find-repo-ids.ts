// Finds repositories by what people call them: a name, or an id (`270`, `#270`).

import { someNames } from '../repos/some-names.ts';
import { AccountError } from './error.ts';

/** Ids of the repositories. Errors: NOT_FOUND naming each unknown one. */
export function repoIdsOf(
  repos: readonly { readonly repoId: number; readonly name: string }[],
  requested: readonly (number | string)[],
): ReadonlySet<number> {
  const idByText = new Map(
    repos.flatMap(({ repoId }) => [`${repoId}`, `#${repoId}`].map((text) => [text, repoId])),
  );
  for (const { name, repoId } of repos) idByText.set(name, repoId);
  const texts = requested.map(String);
  const unknown = texts.filter((text) => !idByText.has(text));
  if (unknown.length > 0)
    throw new AccountError('NOT_FOUND', `There is no repository ${someNames(unknown)}.`);
  return new Set(texts.flatMap((text) => idByText.get(text) ?? []));
}

// GET /api/refs: branches and tags of a repository, in pages.

import { z } from 'zod';
import type { ListedRef } from '../../sources/git/refs.ts';
import { isoTimeOf } from '../../sources/git/iso-time.ts';
import { shortRefName } from '../../repos/links.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { findRepo, gitSignal } from './git-calls.ts';
import { repoField } from './file-reading.ts';
import { pageAnswer, pageFields, paginate } from '../shapes/pagination.ts';
import { flag, text, time } from '../shapes/schemas.ts';

const PATH = '/api/refs';

const refsQuery = z.object({
  repo: repoField,
  query: text('Part of the full name, case-insensitive.').optional(),
  ...pageFields(50),
});

const reference = z
  .object({
    name: text('Full name, `refs/heads/main`.'),
    shortName: text('Name without `refs/heads/` or `refs/tags/`.'),
    kind: z.enum(['branch', 'tag']).describe('Kind of ref.'),
    commit: text('Object id of the commit; annotated tags are peeled.'),
    committedAt: time('Time of the commit.'),
    isAmbiguous: flag('Whether a branch and a tag have this short name.'),
    isDefault: flag('Whether it is the default branch.'),
    isIndexed: flag('Whether it is indexed.'),
  })
  .meta({ id: 'Ref', description: 'A branch or tag of a repository.' });

/** @param names  of all refs */
function toListItem(ref: ListedRef, names: ReadonlySet<string>) {
  const { name, kind, commit, committedAtSeconds, isDefault, isIndexed } = ref;
  const shortName = shortRefName(name);
  return {
    name,
    shortName,
    isAmbiguous: [`refs/heads/${shortName}`, `refs/tags/${shortName}`].every((one) =>
      names.has(one),
    ),
    kind,
    commit,
    // git also shows the first day of 1970 for a time out of range.
    committedAt: isoTimeOf(committedAtSeconds) ?? isoTimeOf(0),
    isDefault,
    isIndexed,
  };
}

export const getRefs = endpoint(
  {
    operationId: 'listRefs',
    method: 'GET',
    path: PATH,
    access: 'opt',
    tag: 'Git',
    summary: 'Branches and tags of a repository',
    input: { query: refsQuery },
    responses: pageAnswer(
      'A page of the list: the default branch first, then the newest commit first.',
      reference,
    ),
    errors: ['NOT_FOUND', 'SERVER_OVERLOADED'],
  },
  async ({ query }, context) => {
    const repo = findRepo(query.repo, context);
    const all = await context.services.refs.list(repo, gitSignal(context));
    const namePart = query.query?.toLowerCase() ?? '';
    const found = all.filter(({ name }) => name.toLowerCase().includes(namePart));
    const { items, headers } = paginate(found, query, context, PATH);
    const names = new Set(all.map(({ name }) => name));
    return ok(
      items.map((ref) => toListItem(ref, names)),
      headers,
    );
  },
);

// The tools `list_repos` and `list_branches`.

import { z } from 'zod';
import { isoTimeOf } from '../../../sources/git/iso-time.ts';
import { ORG } from '../../../accounts/audit-log.ts';
import { shortRefName } from '../../../repos/links.ts';
import type { RepoRecord } from '../../../repos/records.ts';
import { windowOf } from '../../shapes/pagination.ts';
import { gitSignal } from '../../sources/git-calls.ts';
import { defaultBranchOf, sortRepos } from '../../sources/repo-order.ts';
import { pageArguments, partOf, requestedRepo, repoField } from './tool-arguments.ts';
import { tool } from './tool.ts';

export const listRepos = tool(
  {
    name: 'list_repos',
    description: 'List the repositories that can be searched and read.',
    input: z.strictObject({
      query: z.string().default('').describe('Part of the name.'),
      ...pageArguments(30),
      sort: z.enum(['name', 'pushed']).default('name'),
      direction: z.enum(['asc', 'desc']).default('asc'),
    }),
  },
  ({ query, sort, direction, ...page }, { services, repoAccess, accounts, actor }) => {
    accounts.auditLog.note(actor, 'user.listed_repos', ORG);
    const part = query.toLowerCase();
    const found = services.repos
      .list(repoAccess)
      .filter(({ name }) => name.toLowerCase().includes(part));
    const sorted = sortRepos(found, sort, direction);
    const { offset, limit } = windowOf(page);
    const repos = sorted.slice(offset, offset + limit).map(repoView);
    return partOf({ repos, totalCount: sorted.length }, page);
  },
);

function repoView(repo: RepoRecord) {
  const { name, webUrl: url, pushedAt, isFork, isArchived } = repo;
  return { name, url, pushedAt, defaultBranch: defaultBranchOf(repo), isFork, isArchived };
}

export const listBranches = tool(
  {
    name: 'list_branches',
    description: 'List the branches of a repository, the default one first, then the newest.',
    input: z.strictObject({
      repo: repoField,
      query: z.string().default('').describe('Part of the name.'),
      ...pageArguments(50),
    }),
  },
  async ({ repo: name, query, ...page }, context) => {
    const repo = requestedRepo(name, context);
    const part = query.toLowerCase();
    const all = await context.services.refs.list(repo, gitSignal(context));
    const found = all.filter(
      ({ kind, name }) => kind === 'branch' && shortRefName(name).toLowerCase().includes(part),
    );
    const { offset, limit } = windowOf(page);
    const branches = found.slice(offset, offset + limit).map((ref) => ({
      name: shortRefName(ref.name),
      commit: ref.commit,
      committedAt: isoTimeOf(ref.committedAtSeconds) ?? isoTimeOf(0),
      isDefault: ref.isDefault,
      isIndexed: ref.isIndexed,
    }));
    return partOf(
      {
        repo: repo.name,
        defaultBranch: defaultBranchOf(repo),
        indexedAt: repo.indexedAt,
        totalCount: found.length,
        branches,
      },
      page,
    );
  },
);

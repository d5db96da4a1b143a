// GET /api/repos: the list of repos, filtered, sorted, in pages.

import { z } from 'zod';
import { ORG } from '../../accounts/audit-log.ts';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { treePageUrl } from '../../repos/links.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { seesAll } from '../../repos/repo-access.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { REPO_STATES, type RepoState } from '../../repos/jobs.ts';
import type { RepoSizes, Services } from '../shapes/endpoint-services.ts';
import { choiceText, integerText } from '../shapes/input.ts';
import { pageAnswer, pageFields, paginate } from '../shapes/pagination.ts';
import { defaultBranchOf, sortRepos } from './repo-order.ts';
import { codeHostType, flag, integer, text, time } from '../shapes/schemas.ts';

const PATH = '/api/repos';

export function connectionIdsOf(services: Services, { repoId }: RepoRecord): readonly number[] {
  const ids = services.connections.idsOf(repoId);
  return ids.length === 0 ? [repoId] : ids;
}

const listQuery = z.object({
  ...pageFields(30),
  sort: choiceText(['name', 'pushed'])
    .optional()
    .meta({
      description: 'By name or by time of the newest commit.',
      override: { default: 'name' },
    }),
  direction: choiceText(['asc', 'desc'])
    .optional()
    .meta({ description: 'Sort direction.', override: { default: 'asc' } }),
  query: text('Part of the name, case-insensitive.').optional(),
  connectionId: integerText(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Only repositories of this connection.'),
  state: choiceText(REPO_STATES).optional().describe('Only repositories in this state.'),
  name: text('Only the repository with exactly this name.').optional(),
});

const repository = z
  .object({
    codeHostType,
    repoId: integer('Id of the repository, never reused.', 1),
    repoName: text('Name, for example `github.com/owner/name`.'),
    webUrl: text('Page of the repository in this instance.'),
    isFork: flag('Whether it is a fork.'),
    isArchived: flag('Whether it is archived.'),
    repoDisplayName: text('Display name.').optional(),
    externalWebUrl: text('Page of the repository at its code host.').optional(),
    imageUrl: text('Picture of the repository or its owner.').optional(),
    defaultBranch: text('Short name of the default branch.').optional(),
    indexedAt: time('When it was last indexed.').optional(),
    pushedAt: time('Time of the newest commit.').optional(),
    state: z
      .enum(REPO_STATES)
      .describe(
        'State: a job is running (`indexing`), its last job failed, or it is not indexed yet (`waiting`).',
      ),
    docs: integer('Files that are indexed.').optional(),
    contentBytes: integer('Bytes of their contents.').optional(),
    shardBytes: integer('Bytes of its index. For owners only.').optional(),
    skipped: z
      .record(z.string(), integer('Files.', 0))
      .describe('Files found only by name, by reason.')
      .optional(),
  })
  .meta({
    id: 'Repository',
    description: 'A repository. One without `indexedAt` is not indexed yet.',
  });

function toListItem(
  repo: RepoRecord,
  baseUrl: string,
  state: RepoState,
  sizes: Partial<RepoSizes>,
) {
  return {
    codeHostType: repo.codeHostType,
    repoId: repo.repoId,
    repoName: repo.name,
    webUrl: treePageUrl(baseUrl, repo.name),
    isFork: repo.isFork,
    isArchived: repo.isArchived,
    repoDisplayName: repo.displayName,
    externalWebUrl: repo.webUrl,
    imageUrl: repo.imageUrl,
    defaultBranch: defaultBranchOf(repo),
    indexedAt: repo.indexedAt,
    pushedAt: repo.pushedAt,
    state,
    ...sizes,
  };
}

function filterOf(
  { query = '', connectionId, state, name }: z.output<typeof listQuery>,
  services: Services,
  stateOf: (repo: RepoRecord) => RepoState,
): (repo: RepoRecord) => boolean {
  const part = query.toLowerCase();
  return (repo) =>
    (name === undefined || repo.name === name) &&
    repo.name.toLowerCase().includes(part) &&
    (connectionId === undefined || connectionIdsOf(services, repo).includes(connectionId)) &&
    (state === undefined || stateOf(repo) === state);
}

export const listRepos = endpoint(
  {
    operationId: 'listRepositories',
    method: 'GET',
    path: PATH,
    access: 'opt',
    tag: 'Repositories',
    summary: 'List repositories',
    isCounted: true,
    input: { query: listQuery },
    responses: pageAnswer('A page of the list.', repository),
  },
  ({ query }, context) => {
    const { services, baseUrl, repoAccess, accounts, actor, caller } = context;
    const { auditLog } = accounts;
    if (caller?.source === 'session') auditLog.noteRepeated(actor, 'user.listed_repos', ORG);
    else auditLog.note(actor, 'user.listed_repos', ORG);
    const isOwner = hasOwnerRole(caller) && seesAll(repoAccess);
    const stateOf = services.jobs.states();
    const found = services.repos.list(repoAccess).filter(filterOf(query, services, stateOf));
    const sorted = sortRepos(found, query.sort, query.direction);
    const { items, headers } = paginate(sorted, query, context, PATH);
    const sizesOf = ({ repoId }: RepoRecord): Partial<RepoSizes> => {
      const { shardBytes, ...sizes } = services.jobs.sizesOf(repoId) ?? {};
      // Its share of a shared shard depends on the other repos in it. By role: the member must not reveal that anything
      // is hidden.
      return shardBytes === undefined || !isOwner ? sizes : { ...sizes, shardBytes };
    };
    return ok(
      items.map((repo) => toListItem(repo, baseUrl, stateOf(repo), sizesOf(repo))),
      headers,
    );
  },
);

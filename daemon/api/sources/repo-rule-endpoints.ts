// /api/ee/repos: all repositories, their permissions and how fresh they are, for the operator (API.md 22.4).

import { z } from 'zod';
import { OPERATOR } from '../../accounts/audit-log.ts';
import { repoIdsOf } from '../../accounts/find-repo-ids.ts';
import { ENFORCEMENTS, VISIBILITIES } from '../../repos/records.ts';
import { someNames } from '../../repos/some-names.ts';
import { namedRepos } from '../accounts/grant-endpoints.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import type { OperatorService, RepoRule } from '../shapes/operator-service.ts';
import { pageAnswer, pageFields, paginate } from '../shapes/pagination.ts';
import { integer, nullableTime, text } from '../shapes/schemas.ts';

const PATH = '/api/ee/repos';
const HEAD = { access: 'operator', path: PATH, isDescribed: false } as const;

const row = z.object({
  repoId: integer('Id of the repository.', 1),
  repo: text('Name.'),
  visibility: z.enum(VISIBILITIES),
  enforcement: z.enum(ENFORCEMENTS),
  state: z.enum(['served', 'not served']).nullable().describe('Null: no daemon runs.'),
  indexedAt: nullableTime('When it was last indexed.'),
  path: text('Where its source is.').nullable(),
  failure: text('Why its last job failed.').nullable(),
  connection: text('Names of its connections.').nullable(),
  askedAt: nullableTime('When its host was last checked for changes.'),
  job: z.enum(['waiting', 'running']).nullable(),
});

function rowsOf({ status }: OperatorService, rules: readonly RepoRule[]) {
  const freshness = status?.freshness(rules.map(({ repoId }) => repoId));
  return rules.map(({ repoId, name, visibility, enforcement, location, failure, ...rule }) => {
    const fresh = freshness?.get(repoId);
    const state = rule.isServed === true ? 'served' : 'not served';
    return {
      repoId,
      repo: name,
      visibility,
      enforcement,
      state: rule.isServed === undefined ? null : state,
      indexedAt: rule.indexedAt ?? null,
      path: location?.path ?? null,
      failure: failure ?? null,
      connection: fresh?.connections.join(', ') || null,
      askedAt: fresh?.askedAt ?? null,
      job: fresh?.job ?? null,
    };
  });
}

/** Errors: NOT_FOUND naming each unknown one. */
function selected({ rules }: OperatorService, names: readonly (number | string)[]) {
  const all = rules.list();
  const repoIds = repoIdsOf(all, names);
  return { repoIds, found: all.filter(({ repoId }) => repoIds.has(repoId)) };
}

export const listRepoRules = endpoint(
  {
    ...HEAD,
    method: 'GET',
    input: { query: z.object(pageFields(50)) },
    responses: pageAnswer('A page of the repositories, by name.', row),
  },
  ({ query }, context) => {
    const { operator } = context.services;
    const all = [...operator.rules.list()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const { items, headers } = paginate(all, query, context, PATH);
    return ok(rowsOf(operator, items), headers);
  },
);

export const changeRepoRules = endpoint(
  {
    ...HEAD,
    method: 'PATCH',
    input: {
      body: z.object({
        repos: namedRepos,
        visibility: z.enum(VISIBILITIES).exclude(['unknown']).exactOptional(),
        enforcement: z.enum(ENFORCEMENTS).exactOptional(),
      }),
    },
    responses: { 200: { body: z.array(row) } },
    errors: ['NOT_FOUND'],
  },
  async ({ body: { repos: names, ...change } }, { services, actor = OPERATOR }) => {
    const { operator } = services;
    if (Object.keys(change).length === 0)
      throw new ApiError('INVALID_REQUEST_BODY', 'There is nothing to change.');
    const { repoIds, found } = selected(operator, names);
    const listed = found.filter(({ isListed }) => isListed);
    if (listed.length > 0)
      throw new ApiError(
        'INVALID_REQUEST_BODY',
        `Nothing was changed: a connection lists ${someNames(listed.map(({ name }) => name))}, so its host and the configuration ` +
          'decide who may see it; change it at the host, or enforcePermissions of the connection.',
      );
    await operator.rules.change(repoIds, change, actor);
    return ok(rowsOf(operator, selected(operator, names).found));
  },
);

export const removeRepos = endpoint(
  {
    ...HEAD,
    method: 'DELETE',
    input: { body: z.object({ repos: namedRepos }) },
    responses: { 200: { body: z.array(row) } },
    errors: ['NOT_FOUND'],
  },
  async ({ body }, { services, actor = OPERATOR }) => {
    const { operator } = services;
    const { repoIds, found } = selected(operator, body.repos);
    const served = found.filter(({ isServed, isListed }) => isServed === true || isListed);
    if (served.length > 0)
      throw new ApiError(
        'INVALID_REQUEST_BODY',
        `Nothing was removed: ${someNames(served.map(({ name }) => name))} is served, or a connection lists it; remove it ` +
          'from the sources of the daemon, or exclude it in the configuration of the connection.',
      );
    const elsewhere = found.filter((one) => one.isElsewhere);
    if (elsewhere.length > 0)
      throw new ApiError(
        'INVALID_REQUEST_BODY',
        `Nothing was removed: ${someNames(elsewhere.map(({ name }) => name))} is not in this index, so another daemon of the ` +
          'store may serve it; remove it there.',
      );
    await operator.rules.remove(repoIds, actor);
    const left = operator.rules.list().filter(({ repoId }) => repoIds.has(repoId));
    if (left.length > 0)
      throw new ApiError(
        'NOT_READY',
        `Not removed: ${someNames(left.map(({ name }) => name))}, as a job of it has not ended yet, or it was added again ` +
          'meanwhile. Any others are removed. Try again with those that are left.',
      );
    return ok(rowsOf(operator, found));
  },
);

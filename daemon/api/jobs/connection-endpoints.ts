// Connections (API.md 13.2, 13.3, 13.5). Each served source is a connection of its own, of type `git`, with the name
// and id of its only repository.

import { z } from 'zod';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { CONNECTION_TYPES } from '../../base/config/connections.ts';
import type { JobView } from '../../repos/jobs.ts';
import { ApiError } from '../shapes/api-error.ts';
import { answer, endpoint, ok, type CallContext } from '../shapes/endpoint.ts';
import type { ConnectionView } from '../shapes/endpoint-services.ts';
import { integerText, jsonIds } from '../shapes/input.ts';
import { integer, isoTime, nullableTime, text } from '../shapes/schemas.ts';
import { job, JOB_REQUESTED, jobJson } from './job-json.ts';
import { connectionIdsOf } from '../sources/repo-endpoints.ts';
import { byNameBytes } from '../sources/repo-order.ts';

const connection = z
  .object({
    id: integer('Id of the connection.', 1),
    name: text('Its name.'),
    connectionType: z.enum(CONNECTION_TYPES).describe('Kind of host.'),
    trouble: text(
      'For owners: why it cannot be listed or fetched, since when, and the next step; absent if it works or has not been tried.',
    ).optional(),
  })
  .meta({ id: 'Connection', description: 'An origin of repositories.' });

const connectionStatus = z
  .object({
    connectionId: integer('Id of the connection.', 1),
    syncedAt: nullableTime('When it was last listed.'),
    latestJob: job.nullable(),
    readers: z
      .object({
        count: integer('Accounts in its lists.'),
        known: integer('Those of them that are users here.'),
      })
      .optional()
      .describe(
        'For owners: accounts that may read private repositories at the host; absent if it does not sync permissions, or they are not counted yet.',
      ),
  })
  .meta({ id: 'ConnectionSyncStatus', description: 'State of the listing of a connection.' });

/** Connections with a visible repo; owners see all. By name, then by id. */
function visibleConnections({ services, repoAccess, caller }: CallContext): ConnectionView[] {
  const isOwner = hasOwnerRole(caller);
  const repos = services.repos.list(repoAccess);
  const ids = new Set(repos.flatMap((repo) => connectionIdsOf(services, repo)));
  const configured = services.connections.list().filter(({ id }) => isOwner || ids.has(id));
  const sources = repos
    .filter(({ repoId }) => ids.has(repoId))
    .map(({ repoId: id, name }) => ({ id, name, connectionType: 'git' as const, syncedAt: null }));
  return byNameBytes([...configured, ...sources].sort((a, b) => a.id - b.id));
}

export const listConnections = endpoint(
  {
    operationId: 'listConnections',
    method: 'GET',
    path: '/api/connections',
    access: 'opt',
    tag: 'Connections',
    summary: 'List connections',
    isCounted: true,
    responses: {
      200: {
        description:
          'Connections with a repository that the caller sees; for owners all connections of the configuration. By name.',
        body: z.array(connection),
      },
    },
  },
  (_, context) => {
    const isOwner = hasOwnerRole(context.caller);
    const connections = visibleConnections(context).map(
      ({ id, name, connectionType, trouble }) => ({
        id,
        name,
        connectionType,
        ...(isOwner && trouble !== undefined ? { trouble } : {}),
      }),
    );
    return ok(connections);
  },
);

export const getConnectionSyncStatus = endpoint(
  {
    operationId: 'getConnectionSyncStatus',
    method: 'POST',
    path: '/api/connection-sync-status',
    access: 'opt',
    tag: 'Connections',
    summary: 'State of the listings of connections',
    description:
      'For callers who are not owners the last job has only its status: the rest may name repositories that they cannot see.',
    input: {
      body: z.object({ connectionIds: jsonIds().describe('Ids of connections.') }),
    },
    responses: {
      200: {
        description:
          'Those of the connections that have a repository visible to the caller, in the requested order.',
        body: z.object({ connections: z.array(connectionStatus) }),
      },
    },
  },
  async ({ body }, context) => {
    const visible = new Map(visibleConnections(context).map((one) => [one.id, one]));
    const selected = [...new Set(body.connectionIds)].flatMap((id) => visible.get(id) ?? []);
    const latest = await context.services.connections.latest(selected.map(({ id }) => id));
    const isOwner = hasOwnerRole(context.caller);
    const connections = selected.map(({ id, syncedAt, readers }) => {
      const view = latest.get(id);
      return {
        connectionId: id,
        syncedAt: isoTime(syncedAt),
        latestJob: view === undefined ? null : jobJson(isOwner ? view : withoutNames(view)),
        ...(isOwner && readers !== undefined && { readers }),
      };
    });
    return ok({ connections });
  },
);

function withoutNames(view: JobView): JobView {
  const error = view.error === null ? null : 'the listing failed; owners see the reason';
  const status = view.result?.['status'];
  return { ...view, error, result: status === undefined ? null : { status } };
}

export const getConnectionSyncCounts = endpoint(
  {
    operationId: 'getConnectionSyncCounts',
    method: 'GET',
    path: '/api/connection-sync-counts',
    access: 'owner',
    tag: 'Connections',
    summary: 'Counts of connections that are not listed, failed or have warnings',
    responses: {
      200: {
        description: 'The counts.',
        body: z
          .object({
            firstTimeSyncingCount: integer('Not listed yet, and not failed.'),
            failedCount: integer('Those whose last job failed.'),
            warningCount: integer('Those whose last listing was incomplete.'),
          })
          .meta({ id: 'ConnectionSyncCounts', description: 'Counts of connections.' }),
      },
    },
  },
  (_, { services }) => {
    const { firstTime, failed, warned } = services.connections.counts();
    return ok({ firstTimeSyncingCount: firstTime, failedCount: failed, warningCount: warned });
  },
);

export const triggerConnectionSync = endpoint(
  {
    operationId: 'triggerConnectionSync',
    method: 'POST',
    path: '/api/connections/{connectionId}/sync',
    access: 'owner',
    tag: 'Connections',
    summary: 'List a connection now',
    description:
      'Requests a job, or returns the one that is already waiting. A source of this machine is indexed. Without a body.',
    input: {
      path: z.object({
        connectionId: integerText(1, Number.MAX_SAFE_INTEGER).describe('Id of the connection.'),
      }),
    },
    responses: JOB_REQUESTED,
    errors: ['NOT_FOUND'],
  },
  async ({ path: { connectionId } }, context) => {
    const { connections, jobs } = context.services;
    const isSource = visibleConnections(context).some(
      ({ id }) => id === connectionId && context.services.repos.byId(id) !== undefined,
    );
    const jobId = isSource ? await jobs.index(connectionId) : await connections.sync(connectionId);
    if (jobId === undefined)
      throw new ApiError('NOT_FOUND', `Connection ${connectionId} not found.`);
    return answer(202, { jobId });
  },
);

// GET /api/health, /api/ready and /api/version: liveness, readiness and version.

import { z } from 'zod';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { integer, text } from '../shapes/schemas.ts';

/** Liveness only: touches neither store nor engine. */
export const getHealth = endpoint(
  {
    operationId: 'getHealth',
    method: 'GET',
    path: '/api/health',
    access: 'none',
    tag: 'System',
    summary: 'Is the process alive?',
    responses: {
      200: { description: 'Yes.', body: z.object({ status: z.literal('ok') }) },
    },
  },
  () => ok({ status: 'ok' }),
);

const quarantined = z
  .object({
    shardId: text('Id of the shard.'),
    bytes: integer('Size of its file.'),
    reason: text('Why it is out of service.'),
    repositories: z.array(z.string()).meta({ description: 'Repositories with files in it.' }),
  })
  .meta({ id: 'QuarantinedShard', description: 'A shard that is out of service.' });

const readiness = z.object({
  status: z.literal('ready'),
  shards: integer('Shards in service. For owners only, like the members below.').exactOptional(),
  repositories: integer('Repositories known.').exactOptional(),
  quarantinedShards: integer('Shards out of service.').exactOptional(),
  quarantine: z
    .array(quarantined)
    .meta({ description: 'The first hundred of them; absent if there are none.' })
    .exactOptional(),
  degraded: z
    .array(text('State of the daemon.'))
    .meta({ description: 'Problems; absent if there are none.' })
    .exactOptional(),
});

export const getReady = endpoint(
  {
    operationId: 'getReady',
    method: 'GET',
    path: '/api/ready',
    access: 'none',
    usesOptionalCredential: true,
    tag: 'System',
    summary: 'Is the daemon ready for requests?',
    responses: { 200: { description: 'Yes.', body: readiness } },
    errors: ['NOT_READY'],
  },
  (_, { services, isStopping, caller }) => {
    if (isStopping) throw new ApiError('NOT_READY', 'The daemon is stopping.');
    const status = services.readiness.status();
    if (!status.isReady) throw new ApiError('NOT_READY', 'The index is still loading.');
    if (status.isStoreLost)
      throw new ApiError('NOT_READY', 'The store has not answered for longer than storeGraceMs.');
    // The details tell of repositories that not everybody may see.
    if (caller?.person === undefined || !hasOwnerRole(caller)) return ok({ status: 'ready' });
    const { degraded } = status;
    const quarantine = services.readiness.quarantine();
    return ok({
      status: 'ready',
      shards: status.shardCount,
      repositories: status.repoCount,
      quarantinedShards: status.quarantinedShardCount,
      quarantine: quarantine.length === 0 ? undefined : quarantine,
      degraded: degraded.length === 0 ? undefined : degraded,
    });
  },
);

export const getVersion = endpoint(
  {
    operationId: 'getVersion',
    method: 'GET',
    path: '/api/version',
    access: 'none',
    tag: 'System',
    summary: 'Version of the product',
    responses: {
      200: {
        description: 'The version.',
        body: z.object({
          version: z
            .string()
            .regex(/^v/)
            .meta({ examples: ['v1.2.3'] }),
        }),
      },
    },
  },
  (_, { version }) => ok({ version: `v${version}` }),
);

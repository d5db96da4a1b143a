// GET /api/health, /api/health/series, /api/ready and /api/version (API.md 18).

import { z } from 'zod';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { readCommit } from '../../base/config/version.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { choiceText } from '../shapes/input.ts';
import { integer, isoTime, text, time } from '../shapes/schemas.ts';

/** Liveness only: touches neither store nor engine. */
export const getHealth = endpoint(
  {
    operationId: 'getHealth',
    method: 'GET',
    path: '/api/health',
    access: 'none',
    tag: 'System',
    summary: 'Is the process alive?',
    responses: { 200: { description: 'Yes.', body: z.object({ status: z.literal('ok') }) } },
  },
  () => ok({ status: 'ok' }),
);

const quarantined = z
  .object({
    shardId: text('Id of the shard.'),
    bytes: integer('Size of its file.'),
    reason: text('Why it is out of service.'),
    repositories: z.array(z.string()).describe('Repositories with files in it.'),
  })
  .meta({ id: 'QuarantinedShard', description: 'A shard that is out of service.' });

const readiness = z.object({
  status: z.literal('ready'),
  shards: integer('Shards in service. For owners only, like the members below.').exactOptional(),
  repositories: integer('Repositories known.').exactOptional(),
  quarantinedShards: integer('Shards out of service.').exactOptional(),
  quarantine: z
    .array(quarantined)
    .describe('The first hundred of them; absent if there are none.')
    .exactOptional(),
  degraded: z
    .array(text('State of the daemon.'))
    .describe('Problems; absent if there are none.')
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
    if (!hasOwnerRole(caller)) return ok({ status: 'ready' });
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
          commit: z
            .string()
            .optional()
            .describe('What was built; `+`: with changes.')
            .meta({ examples: ['0c7b4368ab12'] }),
        }),
      },
    },
  },
  (_, { version }) => ok({ version: `v${version}`, commit: readCommit() || undefined }),
);

const number = (description: string) => z.number().min(0).describe(description);

const point = z
  .object({
    at: time('End of the interval.'),
    searchesPerSecond: number('Searches that ended, by seconds.'),
    p50Ms: number('Median search latency in ms; null: no searches.').nullable(),
    p99Ms: number('99th percentile of the search latency in ms; null: no searches.').nullable(),
    waiting: integer('Maximum number of waiting searches.'),
    privateBytes: integer(
      'Maximum memory of the process, without what it shares with the page cache.',
    ),
    shards: integer('Shards in service.'),
  })
  .meta({ id: 'HealthPoint', description: 'Health of the daemon in one interval.' });

export const getHealthSeries = endpoint(
  {
    operationId: 'getHealthSeries',
    method: 'GET',
    path: '/api/health/series',
    access: 'owner',
    tag: 'System',
    summary: 'Recent health of the daemon',
    input: {
      query: z.object({
        window: choiceText(['3600', '86400'])
          .optional()
          .meta({
            description: 'Length of the window in seconds: an hour or a day.',
            override: { default: '3600' },
          }),
      }),
    },
    responses: {
      200: {
        description:
          'At most 240 points, oldest first; the last one is not complete yet. Only kept in memory: there are none from before the start, or while the machine slept.',
        body: z.object({ points: z.array(point) }),
      },
    },
  },
  ({ query }, { services }) => {
    const points = services.health.series(query.window === '86400' ? 86_400 : 3600);
    return ok({ points: points.map((one) => ({ ...one, at: isoTime(one.at) })) });
  },
);

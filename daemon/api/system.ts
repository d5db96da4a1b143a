// GET /api/health, /api/ready and /api/version: is the process alive, can it answer, which one is it.

import { z } from 'zod';
import { ok, queryEndpoint } from './endpoint.ts';
import { ApiError } from './errors.ts';

const noParameters = z.object({});

/** Liveness only: touches neither store nor engine. */
export const getHealth = queryEndpoint(
  { operationId: 'getHealth', path: '/api/health', access: 'none' },
  noParameters,
  () => ok({ status: 'ok' }),
);

export const getReady = queryEndpoint(
  { operationId: 'getReady', path: '/api/ready', access: 'none' },
  noParameters,
  (_, { services, isStopping }) => {
    if (isStopping) throw new ApiError('NOT_READY', 'The daemon is stopping.');
    const status = services.readiness.status();
    if (!status.isReady) throw new ApiError('NOT_READY', 'The index is still loading.');
    return ok({
      status: 'ready',
      shards: status.shardCount,
      repositories: status.repoCount,
      quarantinedShards: status.quarantinedShardCount,
    });
  },
);

export const getVersion = queryEndpoint(
  { operationId: 'getVersion', path: '/api/version', access: 'none' },
  noParameters,
  (_, { version }) => ok({ version: `v${version}` }),
);

// GET /api/health/series: recent health of the daemon, for charts (API.md 18).

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { choiceText } from '../shapes/input.ts';
import { integer, time } from '../shapes/schemas.ts';

const number = (description: string) => z.number().min(0).meta({ description });

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
    return ok({ points: points.map((one) => ({ ...one, at: new Date(one.at).toISOString() })) });
  },
);

// GET /api/health/series: how the daemon did lately, for charts (API.md 18).

import { z } from 'zod';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { choiceText } from '../shapes/input.ts';
import { integer, time } from '../shapes/schemas.ts';

const number = (description: string) => z.number().min(0).meta({ description });

const point = z
  .object({
    at: time('End of the stretch of time that it tells of.'),
    searchesPerSecond: number('Searches that ended, by seconds.'),
    p50Ms: number('Time that half of them took at most, in ms; null: there was none.').nullable(),
    p99Ms: number('Time that 99 of 100 took at most, in ms; null: there was none.').nullable(),
    waiting: integer('Most searches that waited.'),
    privateBytes: integer(
      'Most memory of the process, without what it shares with the page cache.',
    ),
    shards: integer('Shards in service.'),
  })
  .meta({ id: 'HealthPoint', description: 'How the daemon did in a stretch of time.' });

export const getHealthSeries = endpoint(
  {
    operationId: 'getHealthSeries',
    method: 'GET',
    path: '/api/health/series',
    access: 'owner',
    tag: 'System',
    summary: 'How the daemon did lately',
    input: {
      query: z.object({
        window: choiceText(['3600', '86400'])
          .optional()
          .meta({
            description: 'Seconds up to now: an hour or a day.',
            override: { default: '3600' },
          }),
      }),
    },
    responses: {
      200: {
        description:
          'At most 240 points, oldest first; the last one is not over yet. Kept in memory: of the time before the start, and while the machine slept, there are none.',
        body: z.object({ points: z.array(point) }),
      },
    },
  },
  ({ query }, { services }) => {
    const points = services.health.series(query.window === '86400' ? 86_400 : 3600);
    return ok({ points: points.map((one) => ({ ...one, at: new Date(one.at).toISOString() })) });
  },
);

// The schema of a job in answers, with its progress, and the conversion from the job of the daemon.

import { z } from 'zod';
import { JOB_PHASES, JOB_QUEUES, JOB_STATES, JOB_UNITS, type JobView } from '../../repos/jobs.ts';
import { integer, isoTime, nullableTime, text, time } from '../shapes/schemas.ts';

const progress = z
  .object({
    phase: z
      .enum(JOB_PHASES)
      .describe(
        'Current step. In a fetch: first the host is asked for its refs; the next three are phases of git.',
      ),
    done: integer('Amount done.'),
    total: integer('Total amount; 0: unknown yet.'),
    unit: z.enum(JOB_UNITS).describe('Unit of the amounts: git objects in a fetch.'),
    remainingMs: integer('Time remaining at the present speed; null: unknown.').nullable(),
  })
  .meta({ id: 'JobProgress', description: 'Progress of a job.' });

export const job = z
  .object({
    id: text('Id of the job.'),
    queue: z.enum(JOB_QUEUES).describe('Kind of job.'),
    data: z
      .object({
        repoId: integer('Id of the repository.', 1).optional(),
        connectionId: integer('Id of the connection.', 1).optional(),
      })
      .describe('Its target: a repository or a connection.'),
    status: z.enum(JOB_STATES).describe('State of the job.'),
    priority: integer(
      'Lower ones go first: 1 requested by a user, 5 first index, 10 scheduled.',
      1,
    ),
    attempt: integer('Number of the last attempt; 0: none has started.'),
    createdAt: time('When it was requested.'),
    startedAt: nullableTime('When its last attempt started.'),
    finishedAt: nullableTime('When it ended.'),
    errorMessage: text('Why its last attempt failed.').nullable(),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'For an index job: `docs`, `shards`, `bytes`, `skipped` and `ignored` (counts by reason and by rule), `warnings`, `durationMs`. ' +
          'For a listing: `status` (`SUCCESS`, `PARTIAL_SUCCESS`), `issues`, `repositories`, `missing`, `durationMs`. ' +
          'For a removal: `removed`.',
      ),
    progress: progress.nullable(),
  })
  .meta({ id: 'Job', description: 'A job.' });

export const JOB_REQUESTED = {
  202: { description: 'The job is queued.', body: z.object({ jobId: text('Id of the job.') }) },
} as const;

export function jobJson(view: JobView) {
  return {
    id: view.id,
    queue: view.queue,
    data:
      view.queue === 'connection-sync'
        ? { connectionId: view.targetId }
        : { repoId: view.targetId },
    status: view.state,
    priority: view.priority,
    attempt: view.attempt,
    createdAt: isoTime(view.createdAt),
    startedAt: isoTime(view.startedAt),
    finishedAt: isoTime(view.finishedAt),
    errorMessage: view.error,
    result: view.result,
    progress: view.progress === undefined ? null : progressOf(view.progress),
  };
}

function progressOf({ phase, done, total, unit, remainingMs }: NonNullable<JobView['progress']>) {
  return { phase, done, total, unit, remainingMs };
}

// Jobs as answers hold them.

import { z } from 'zod';
import { JOB_PHASES, JOB_QUEUES, JOB_STATES, JOB_UNITS, type JobView } from '../../repos/jobs.ts';
import { integer, nullableTime, text, time } from '../shapes/schemas.ts';

const progress = z
  .object({
    phase: z.enum(JOB_PHASES).meta({
      description:
        'What is being done. Of a fetch: the host is asked what there is; the next three are those of git.',
    }),
    done: integer('How much of it is done.'),
    total: integer('How much there is; 0: not known yet.'),
    unit: z.enum(JOB_UNITS).meta({ description: 'What is counted: objects of git in a fetch.' }),
    remainingMs: integer('Time left at the present speed; null: not known.').nullable(),
  })
  .meta({ id: 'JobProgress', description: 'How far a job is.' });

export const job = z
  .object({
    id: text('Id of the job.'),
    queue: z.enum(JOB_QUEUES).meta({ description: 'What kind of job.' }),
    data: z
      .object({
        repoId: integer('Id of the repository.', 1).optional(),
        connectionId: integer('Id of the connection.', 1).optional(),
      })
      .meta({ description: 'What it is of: a repository, or a connection.' }),
    status: z.enum(JOB_STATES).meta({ description: 'How it stands.' }),
    priority: integer('Lower ones go first: 1 asked for, 5 first index, 10 scheduled.', 1),
    attempt: integer('Number of the last attempt; 0: none has begun.'),
    createdAt: time('When it was asked for.'),
    startedAt: nullableTime('When its last attempt began.'),
    finishedAt: nullableTime('When it ended.'),
    errorMessage: text('Why its last attempt failed.').nullable(),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description:
          'Of an index job: `docs`, `shards`, `bytes`, `skipped` and `ignored` (counts by reason and by rule), `warnings`, `durationMs`. ' +
          'Of a listing: `status` (`SUCCESS`, `PARTIAL_SUCCESS`), `issues`, `repositories`, `missing`, `durationMs`. ' +
          'Of a removal: `removed`.',
      }),
    progress: progress.nullable(),
  })
  .meta({ id: 'Job', description: 'A job.' });

/** Of what asks for a job. */
export const JOB_ASKED = {
  202: { description: 'There will be a job.', body: z.object({ jobId: text('Id of the job.') }) },
} as const;

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

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
    createdAt: new Date(view.createdAt).toISOString(),
    startedAt: isoOrNull(view.startedAt),
    finishedAt: isoOrNull(view.finishedAt),
    errorMessage: view.error,
    result: view.result,
    progress: view.progress === undefined ? null : progressOf(view.progress),
  };
}

function progressOf({ phase, done, total, unit, remainingMs }: NonNullable<JobView['progress']>) {
  return { phase, done, total, unit, remainingMs };
}

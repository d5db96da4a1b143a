// Jobs (API.md 13.3 to 13.5): index states, jobs with their log lines, and requests for a job.

import { z } from 'zod';
import { hasOwnerRole } from '../../accounts/caller.ts';
import { JOB_QUEUES, JOB_STATES, type JobView } from '../../repos/jobs.ts';
import { ApiError } from '../shapes/api-error.ts';
import { answer, endpoint, ok } from '../shapes/endpoint.ts';
import { choiceText, integerText, jsonIds, jsonInteger } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageHeaders, windowOf } from '../shapes/pagination.ts';
import { integer, isoTime, nullableTime, text, time } from '../shapes/schemas.ts';
import { findRepoById } from '../sources/git-calls.ts';
import { job, JOB_REQUESTED, jobJson } from './job-json.ts';

const LIST_PATH = '/api/jobs';

const repoStatus = z
  .object({
    repoId: integer('Id of the repository.', 1),
    indexedAt: nullableTime('When it was last indexed.'),
    askedAt: nullableTime(
      'When its code host was last checked for changes; null: never, or it has none.',
    ),
    indexedCommitHash: text('The indexed commit of the default revision.').nullable(),
    latestJob: job.nullable(),
  })
  .meta({ id: 'RepoIndexStatus', description: 'State of the index of a repository.' });

const logLine = z
  .object({
    version: z.literal(1).describe('Format of the line.'),
    timestamp: time('Time of the line.'),
    level: text('`info`, `warn` or `error`.'),
    message: text('What happened.'),
    attempt: integer('Number of the attempt.'),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Further facts; secrets are masked.'),
  })
  .meta({ id: 'JobLogLine', description: 'A log line of a job.' });

export const getRepoIndexStatus = endpoint(
  {
    operationId: 'getRepoIndexStatus',
    method: 'POST',
    path: '/api/repo-index-status',
    access: 'opt',
    tag: 'Repositories',
    summary: 'State of the index of repositories',
    input: {
      body: z.object({ repoIds: jsonIds().describe('Ids of repositories.') }),
    },
    responses: {
      200: {
        description: 'Those of the repositories that the caller sees, in the requested order.',
        body: z.object({ repositories: z.array(repoStatus) }),
      },
    },
  },
  async ({ body }, { services, repoAccess, caller }) => {
    const visible = new Map(services.repos.list(repoAccess).map((repo) => [repo.repoId, repo]));
    const selected = [...new Set(body.repoIds)].flatMap((repoId) => visible.get(repoId) ?? []);
    const latest = await services.jobs.latest(selected.map(({ repoId }) => repoId));
    // A local caller has the files of the machine anyway.
    const seesReason = hasOwnerRole(caller) || caller?.source === 'local';
    const repositories = selected.map(({ repoId, indexedAt }) => {
      const view = latest.get(repoId);
      return {
        repoId,
        indexedAt: indexedAt ?? null,
        askedAt: isoTime(services.jobs.askedAt(repoId) ?? null),
        indexedCommitHash: services.jobs.commitOf(repoId) ?? null,
        latestJob: view === undefined ? null : jobJson(seesReason ? view : withoutReason(view)),
      };
    });
    return ok({ repositories });
  },
);

/** Reasons name paths of the server and settings of git. */
function withoutReason(view: JobView): JobView {
  return view.error === null ? view : { ...view, error: 'the job failed; owners see the reason' };
}

export const getRepoSyncCounts = endpoint(
  {
    operationId: 'getRepositorySyncCounts',
    method: 'GET',
    path: '/api/repository-sync-counts',
    access: 'owner',
    tag: 'Repositories',
    summary: 'Counts of repositories that are not indexed, failed or have warnings',
    responses: {
      200: {
        description: 'The counts.',
        body: z
          .object({
            firstTimeIndexingCount: integer('Not indexed yet, and not failed.'),
            failedCount: integer('Those whose last job failed.'),
            warningCount: integer('Those whose last job warned.'),
          })
          .meta({ id: 'RepositorySyncCounts', description: 'Counts of repositories.' }),
      },
    },
  },
  (_, { services, repoAccess }) => {
    const { firstTime, failed, warned } = services.jobs.counts(services.repos.list(repoAccess));
    return ok({ firstTimeIndexingCount: firstTime, failedCount: failed, warningCount: warned });
  },
);

export const listJobs = endpoint(
  {
    operationId: 'listJobs',
    method: 'GET',
    path: LIST_PATH,
    access: 'owner',
    tag: 'Repositories',
    summary: 'Jobs',
    input: {
      query: z.object({
        ...pageFields(30),
        queue: choiceText(JOB_QUEUES).optional().describe('Only these.'),
        status: choiceText(JOB_STATES).optional().describe('Only these.'),
      }),
    },
    responses: pageAnswer(
      'A page of jobs: unfinished ones, then those that ended in the last 14 days; newest first.',
      job,
    ),
  },
  async ({ query }, context) => {
    const { queue, status: state } = query;
    const call = { queue, state, ...windowOf(query) };
    const { items, total } = await context.services.jobs.list(call);
    return ok(items.map(jobJson), pageHeaders(total, query, context, LIST_PATH));
  },
);

export const getJobLogs = endpoint(
  {
    operationId: 'getJobLogs',
    method: 'POST',
    path: '/api/job-logs',
    access: 'owner',
    tag: 'Repositories',
    summary: 'Log of a job',
    input: {
      body: z.object({
        queue: z
          .enum(JOB_QUEUES, { error: `expected ${JOB_QUEUES.join(' or ')}` })
          .describe('The queue of the job.'),
        jobId: z.string({ error: 'required' }).describe('Id of the job.'),
        offset: jsonInteger(0)
          .default(0)
          .meta({
            description: 'Number of lines to skip, from the first one written.',
            override: { type: 'integer', minimum: 0, default: 0 },
          }),
      }),
    },
    responses: {
      200: {
        description: 'The last lines, 500 at most, oldest first.',
        body: z
          .object({
            logs: z.array(logLine),
            count: integer('Number of lines written in all; the last 500 are kept.'),
          })
          .meta({ id: 'JobLogs', description: 'Log lines of a job.' }),
      },
    },
    errors: ['NOT_FOUND'],
  },
  async ({ body: { queue, jobId, offset } }, { services }) => {
    const log = await services.jobs.lines(queue, jobId);
    if (log === undefined) throw new ApiError('NOT_FOUND', `Job "${jobId}" not found.`);
    const { lines, droppedCount } = log;
    const logs = lines.slice(Math.max(0, offset - droppedCount));
    return ok({ logs, count: droppedCount + lines.length });
  },
);

export const triggerRepoIndex = endpoint(
  {
    operationId: 'triggerRepoIndex',
    method: 'POST',
    path: '/api/repos/{repoId}/index',
    access: 'owner',
    tag: 'Repositories',
    summary: 'Index a repository now',
    description: 'Requests a job, or returns the one that is already waiting. Without a body.',
    input: {
      path: z.object({
        repoId: integerText(1, Number.MAX_SAFE_INTEGER).describe('Id of the repository.'),
      }),
    },
    responses: JOB_REQUESTED,
    errors: ['NOT_FOUND'],
  },
  async ({ path }, context) => {
    const { repoId } = findRepoById(path.repoId, context);
    const jobId = await context.services.jobs.index(repoId);
    if (jobId === undefined) throw new ApiError('NOT_FOUND', `Repository ${repoId} not found.`);
    return answer(202, { jobId });
  },
);

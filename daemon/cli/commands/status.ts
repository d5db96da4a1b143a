// `trawl status`: state of the running daemon, and how fresh each repository is.

import type { Command } from 'commander';
import type { getStatus } from '../../api/instance/status-endpoints.ts';
import type { listRepoRules } from '../../api/sources/repo-rule-endpoints.ts';
import type { StatusReport } from '../../api/shapes/status-report.ts';
import { type CliContext, EXIT_NONE } from '../context.ts';
import { countOf, formatBytes, formatCount, formatDuration } from '../format.ts';
import {
  formatJsonLines,
  formatTable,
  type OperatorFlags,
  printTable,
  withOperator,
} from '../operator-output.ts';
import type { Operator } from '../operator.ts';
import { addAction } from '../options.ts';
import { escapeControls } from '../terminal-text.ts';

interface StatusFlags extends OperatorFlags {
  readonly repos?: true;
}

/** Jobs that a progress line names: the longest running ones. */
const STEPS_MAX = 2;
/** Reasons of failures are among the problems. */
const CONNECTION_COLUMNS = ['name', 'type', 'repos', 'indexed', 'syncedAt', 'state'] as const;
/** Words for jobs without progress yet. */
const QUEUE_WORDS: Readonly<Record<string, string>> = {
  'connection-sync': 'being listed',
  'repo-index': 'being indexed',
  'repo-cleanup': 'being removed',
};

type Running = StatusReport['jobs']['running'][number];

export function describeStatus(report: StatusReport, now = Date.now()): string {
  const { url, version, startedAt, jobs, symbols, connections } = report;
  const notes = [...report.problems, ...report.warnings.map((warning) => `warning: ${warning}`)];
  return [
    `trawl ${version} ${url === null ? 'on its control socket only' : `at ${url}`}, up ${formatDuration(now - Date.parse(startedAt))}\n`,
    `${describeRepos(report)}\n`,
    `${describeJobs(jobs)}\n`,
    ...jobs.running.map((job) => `  ${describeJob(job, now)}\n`),
    ...(symbols === null || report.problems.includes(symbols)
      ? []
      : [`${escapeControls(symbols)}\n`]),
    ...(connections.length === 0 ? [] : ['\n', formatTable(CONNECTION_COLUMNS, connections)]),
    ...(notes.length === 0 ? [] : ['\n']),
    ...notes.map((note) => `${escapeControls(note)}\n`),
  ].join('');
}

function describeRepos({ repos, remainingMs }: StatusReport): string {
  if (repos.served === 0) return 'no repositories yet';
  const failed = repos.failed === 0 ? '' : `, the last job of ${formatCount(repos.failed)} failed`;
  const remaining = remainingMs === null ? '' : `, about ${formatDuration(remainingMs)} left`;
  return `${repositories(repos.served)}: ${formatCount(repos.indexed)} indexed${failed}${remaining}`;
}

function describeJobs({ running, waiting }: StatusReport['jobs']): string {
  if (running.length + waiting === 0) return 'no jobs';
  const waits = waiting === 0 ? '' : `, ${formatCount(waiting)} waiting`;
  return `${countOf(running.length, 'job')} running${waits}`;
}

export function describeRound({ repos, remainingMs, jobs, connections }: StatusReport): string {
  const steps = jobs.running.filter(({ phase }) => phase !== null).slice(-STEPS_MAX);
  const listing = connections.filter(({ state }) => state === 'listing' || state === 'waiting');
  const silent = connections.filter(({ state }) => state === 'unanswered');
  const broken = connections.filter(({ state }) => state === 'failed');
  const failed = repos.failed === 0 ? '' : `, ${formatCount(repos.failed)} failed`;
  const open = jobs.running.length + jobs.waiting;
  return [
    ...(repos.served === 0
      ? []
      : [`${formatCount(repos.indexed)} of ${repositories(repos.served)} indexed${failed}`]),
    ...(open === 0 ? [] : [`${countOf(open, 'job')} to do`]),
    ...steps.map(describeStep),
    ...listing.map(({ name }) => `${name} is being listed`),
    ...silent.map(({ name }) => `the host of ${name} does not answer`),
    ...(broken.length === 0 ? [] : [`${countOf(broken.length, 'connection')} cannot be listed`]),
    ...(remainingMs === null ? [] : [`about ${formatDuration(remainingMs)} left`]),
  ].join('; ');
}

/** Whether everything that the connections list is indexed or has failed. */
export function isRoundOver({ repos, connections }: StatusReport): boolean {
  const isListed = connections.every(
    ({ syncedAt, state }) => syncedAt !== null || state === 'failed',
  );
  return isListed && repos.indexed + repos.failed >= repos.served;
}

function repositories(count: number): string {
  return countOf(count, 'repository', 'repositories');
}

function describeJob(job: Running, now: number): string {
  const { startedAt } = job;
  const spent = startedAt === null ? '' : `, for ${formatDuration(now - Date.parse(startedAt))}`;
  return `${describeStep(job)}${spent}`;
}

function describeStep(job: Running): string {
  const { queue, target, phase, done, total, unit, receivedSize, remainingMs } = job;
  return [
    `${escapeControls(target)}: ${phase ?? QUEUE_WORDS[queue] ?? queue}`,
    ...(total === 0 ? [] : [` ${Math.floor((100 * done) / total)}%`]),
    ...(total === 0 || unit !== 'bytes' ? [] : [` of ${formatBytes(total)}`]),
    ...(receivedSize === null ? [] : [`, ${formatBytes(receivedSize)} received`]),
    ...(remainingMs === null ? [] : [`, ${formatDuration(remainingMs)} left`]),
  ].join('');
}

async function* servedRepos(operator: Operator) {
  for await (const rows of operator.pages<typeof listRepoRules>('/api/ee/repos'))
    yield rows.filter(({ state }) => state === 'served');
}

async function show(flags: StatusFlags, context: CliContext): Promise<void> {
  const { stdout } = context;
  await withOperator(flags, async (operator) => {
    const report = await operator.call<typeof getStatus>('GET', '/api/status');
    if (flags.repos !== true)
      stdout.write(flags.json ? formatJsonLines([report]) : describeStatus(report));
    else
      await printTable(context, flags, servedRepos(operator), {
        columns: ['repo', 'connection', 'askedAt', 'indexedAt', 'job', 'failure'],
        cellsOf: (row) => row,
      });
    if (report.problems.length > 0) context.setExitCode(EXIT_NONE);
  });
}

export function addStatusCommand(program: Command, context: CliContext): void {
  const command = program
    .command('status')
    .summary('show the state of the running daemon')
    .description(
      'Shows what the daemon of the data directory serves, running and waiting jobs, the state of its connections, and ' +
        'problems. --repos shows instead when each repository was last checked at its host and indexed, and what failed.\n' +
        'Exits with 1 if there is a problem.',
    )
    .option('--repos', 'one line per repository')
    .option('--json', 'one JSON object per line');
  addAction(command, context, show, [
    'trawl status',
    'trawl status --repos',
    'trawl status --json',
  ]);
}

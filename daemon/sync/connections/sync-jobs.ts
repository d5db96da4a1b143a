// Jobs that list a connection (queue `connection-sync`): one listing each, with its issues.

import type { ConnectionRows, StoredConnection } from '../../store/connections.ts';
import type { StoredRepo } from '../../store/repos.ts';
import type { Host, ListingIssue } from '../../hosts/host.ts';
import { someNames } from '../../repos/some-names.ts';
import { type Job, PRIORITIES } from '../jobs/job.ts';
import type { JobQueueOptions } from '../jobs/job-queue.ts';
import { JobRunner, type JobWords, type KeptResult } from '../jobs/job-runner.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { listConnection, type ListingOptions, type ListingOutcome } from './listing.ts';

export const SYNC_QUEUE = 'connection-sync';

export interface SyncTarget {
  readonly connectionId: number;
  readonly name: string;
}

export interface SyncJobsOptions extends JobQueueOptions {
  readonly registry: RepoRegistry;
  readonly rows: ConnectionRows;
  /** The host of a connection. Errors: not configured, or it cannot be opened. */
  readonly hostOf: (name: string) => Promise<Host>;
  /** Undefined: no longer in the configuration. */
  readonly targetOf: (connectionId: number) => StoredConnection | undefined;
  readonly apply: ListingOptions['apply'];
  readonly latestVisibility: ListingOptions['latestVisibility'];
  /** Whether a connection comes before another one in the configuration. */
  readonly comesBefore: (connectionId: number, other: SyncTarget) => boolean;
  readonly onEnd: () => void;
}

type SyncJob = Job<SyncTarget, KeptResult>;

const WORDS: JobWords = {
  queue: SYNC_QUEUE,
  target: 'connection',
  targets: 'connections',
  done: 'listed',
  failing: 'listing a connection failed',
};

export class SyncJobs extends JobRunner<SyncTarget, KeptResult> {
  readonly #options: SyncJobsOptions;
  /** Connections whose last listing was incomplete. */
  readonly warned = new Set<number>();

  constructor(options: SyncJobsOptions) {
    super(WORDS, options);
    this.#options = options;
  }

  protected override idOf({ connectionId }: SyncTarget): number {
    return connectionId;
  }

  protected override targetOf(connectionId: number): SyncTarget | undefined {
    return this.#options.targetOf(connectionId);
  }

  protected override priorityOf({ connectionId }: SyncTarget): number {
    const { connections } = this.#options.registry;
    const stored = connections.find((one) => one.connectionId === connectionId);
    return stored?.syncedAt == null ? PRIORITIES.first : PRIORITIES.scheduled;
  }

  protected override failureOf(): KeptResult {
    return { status: 'PARTIAL_SUCCESS' };
  }

  protected override async attempt(job: SyncJob): Promise<KeptResult> {
    const { registry, rows, hostOf, targetOf, apply, latestVisibility, comesBefore, onEnd } =
      this.#options;
    const startMs = performance.now();
    const { connectionId, name } = job.target;
    job.isKept = true;
    const host = await hostOf(name);
    const target = targetOf(connectionId);
    if (target === undefined) throw new Error(`connection ${name} is no longer configured`);
    const { address, rules } = target;
    const outcome = await listConnection({
      registry,
      rows,
      host,
      connectionId,
      address,
      isCurrent: () => targetOf(connectionId)?.rules.digest === rules.digest,
      signal: job.signal,
      apply,
      latestVisibility,
      comesFirst: (other) => comesBefore(other, job.target),
    });
    const { missing } = outcome.end;
    const issues = [...outcome.issues, ...emptyIssues(name, outcome)];
    this.#report(job, issues, outcome.count, missing);
    onEnd();
    return {
      status: issues.length === 0 ? 'SUCCESS' : 'PARTIAL_SUCCESS',
      issues,
      repositories: outcome.count,
      // Newly missing ones.
      missing: missing.length,
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  #report(
    job: SyncJob,
    issues: readonly ListingIssue[],
    listed: number,
    missing: readonly StoredRepo[],
  ): void {
    const { connectionId, name: connection } = job.target;
    if (issues.length > 0) this.warned.add(connectionId);
    else this.warned.delete(connectionId);
    for (const { message, ...issue } of issues)
      this.say(job, 'warn', message, { connection, ...issue });
    if (missing.length > 0)
      this.say(job, 'warn', 'repositories are gone from their host', {
        connection,
        count: missing.length,
        repos: someNames(missing.map(({ name }) => name)),
      });
    const fields = { connection, listed, issues: issues.length };
    this.say(job, 'info', 'connection listed', fields);
  }
}

function emptyIssues(name: string, { end }: ListingOutcome): ListingIssue[] {
  return end.emptied.map(({ target, count }) => {
    const what = target === undefined ? `connection ${name}` : `connection ${name}, ${target}:`;
    return {
      code: 'EMPTY_LISTING',
      target: target ?? name,
      effect: 'DISCOVERY_INCOMPLETE',
      message:
        `${what} lists nothing, but had ${count} repositories before: they stay; check that its credential can still see ` +
        `them, or remove ${target === undefined ? 'the connection' : 'it'} from the configuration to remove them`,
    };
  });
}

// A job as this process has it: requested, or claimed and running (API.md 20.2). Its row in the store is the job. This
// adds what belongs to the process: the target, waiters for the result, progress, and the signal that stops it.

import { randomUUID } from 'node:crypto';
import type { JobWrite, StoredJob } from '../../store/jobs.ts';
import type { LogFields } from '../../base/log.ts';
import type { LogLevel } from '../../base/log-levels.ts';
import { JobLines } from './job-lines.ts';
import type { FetchStep } from '../../hosts/mirrors/git-progress.ts';
import type { JobProgress } from './job-step.ts';

/** Lower ones go first. */
export const PRIORITIES = { user: 1, first: 5, scheduled: 10 } as const;

let lastOrdinal = 0;

/** Later ordinals exceed those of the previous process, although the clock may be set back. */
export function ascendFrom(ordinal: number): void {
  lastOrdinal = Math.max(lastOrdinal, ordinal);
}

function nextOrdinal(): number {
  lastOrdinal = Math.max(lastOrdinal + 1, Date.now() * 1000);
  return lastOrdinal;
}

export function newRow(
  fields: Pick<StoredJob, 'queue' | 'targetId' | 'priority' | 'host' | 'dueAt'>,
): JobWrite {
  return {
    ...fields,
    id: randomUUID(),
    state: 'PENDING',
    attempt: 0,
    ordinal: nextOrdinal(),
    createdAt: Date.now(),
    startedAt: null,
    finishedAt: null,
    error: null,
    result: null,
    failures: 0,
    lines: '[]',
  };
}

export class Job<Target, Result> {
  target: Target;
  isForced = false;
  /** The row of the job stays after its end, even if nothing has changed. */
  isKept = false;
  /** It was stopped for good, and counts as failed. */
  isCancelled = false;
  /** It only contacts its host so far, and computes nothing. */
  isFetching = false;
  #lines: JobLines;
  #row: StoredJob;
  #pushedAt = Infinity;
  #progress: JobProgress | undefined;
  readonly #abort = new AbortController();
  /** The result of the attempt. Errors: the reason why it was stopped. */
  readonly outcome: Promise<Result>;
  /** Resolves `outcome`. */
  settle!: (result: Result) => void;
  /** Rejects `outcome`: the job ends without a result. */
  giveUp!: (reason: unknown) => void;

  constructor(target: Target, row: JobWrite) {
    this.target = target;
    this.#row = row;
    this.#lines = new JobLines(row.lines);
    this.outcome = new Promise((resolve, reject) => {
      this.settle = resolve;
      this.giveUp = reject;
    });
    // Nobody may be waiting for it.
    this.outcome.catch(() => {});
  }

  get row(): StoredJob {
    return this.#row;
  }

  get lines(): JobLines {
    return this.#lines;
  }

  get write(): JobWrite {
    return { ...this.#row, lines: this.#lines.toString() };
  }

  /**
   * Since when the index lacks what it brings (ms since the epoch): the push, else the request. A failed attempt is reported
   * by itself: until the next one it is that one's time.
   */
  get lacksSince(): number {
    const { state, failures, createdAt, dueAt } = this.#row;
    const pushedAt = Math.min(this.#pushedAt, createdAt);
    if (state === 'PENDING' && (failures > 0 || pushedAt === createdAt))
      return Math.max(createdAt, dueAt ?? 0);
    return pushedAt;
  }

  get targetId(): number {
    return this.#row.targetId;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Undefined: not running, or no progress yet. */
  get progress(): JobProgress | undefined {
    return this.#progress;
  }

  set progress(step: FetchStep) {
    const isSame = this.#progress?.phase === step.phase;
    this.#progress = { ...step, since: isSame ? this.#progress!.since : Date.now() };
  }

  requestAgain(
    target: Target,
    request: {
      readonly priority: number;
      readonly dueAt: number;
      readonly isForced: boolean;
      /** Infinity: unknown. */
      readonly pushedAt: number;
    },
  ): void {
    this.target = target;
    this.isForced ||= request.isForced;
    this.#pushedAt = Math.min(this.#pushedAt, request.pushedAt);
    const priority = Math.min(request.priority, this.#row.priority);
    const dueAt = Math.min(request.dueAt, this.#row.dueAt ?? Infinity);
    this.#row = { ...this.#row, priority, dueAt };
  }

  /** The row as the store has it now: the target may have had a pending job already. */
  adopt(row: JobWrite): void {
    const { lines, ...rest } = row;
    const { priority, dueAt } = this.#row;
    const isPending = rest.state === 'PENDING';
    this.#row = {
      ...rest,
      priority: Math.min(rest.priority, priority),
      dueAt: isPending ? Math.min(rest.dueAt ?? Infinity, dueAt ?? Infinity) : rest.dueAt,
    };
    this.#lines = new JobLines(lines);
  }

  say(level: LogLevel, message: string, fields?: LogFields): void {
    this.#lines.add(level, this.#row.attempt, message, fields);
  }

  /** The attempt has ended; `state` PENDING: another one follows. */
  end(state: 'PENDING' | 'COMPLETED' | 'FAILED', more: Partial<StoredJob> = {}): void {
    const finishedAt = state === 'PENDING' ? null : Date.now();
    this.#row = { ...this.#row, dueAt: null, ...more, state, finishedAt };
    this.#progress = undefined;
  }

  stop(reason: unknown): void {
    this.#abort.abort(reason);
  }
}

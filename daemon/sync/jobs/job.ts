// One job: the work for a repo or a connection, its progress and result (API.md 20.2). It lives while it has attempts
// left; the store keeps a row of it.

import { randomUUID } from 'node:crypto';
import type { JobWrite, StoredJob } from '../../store/jobs.ts';
import type { LogFields } from '../../base/log.ts';
import type { LogLevel } from '../../base/log-levels.ts';
import { JobLines } from './job-lines.ts';
import type { JobProgress, FineStep } from './job-step.ts';

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

/** The target of a job; its id is unique in the queue (API.md 20.2). */
export interface JobTarget {
  readonly queue: string;
  readonly id: number;
}

export class Job<Target, Result> {
  /** As of the last request. */
  target: Target;
  isForced = false;
  /** It has a row in the store, or will get one. */
  isKept = false;
  /** It was stopped for good, and counts as failed. */
  isCancelled = false;
  readonly lines: JobLines;
  #row: StoredJob;
  #progress: JobProgress | undefined;
  #abort = new AbortController();
  #outcome = newOutcome<Result>();

  /** @param interrupted  what a previous process stored of it */
  constructor({ queue, id }: JobTarget, target: Target, priority: number, interrupted?: JobWrite) {
    this.target = target;
    this.isKept = interrupted !== undefined;
    this.lines = new JobLines(interrupted?.lines);
    this.#row = interrupted ?? {
      id: randomUUID(),
      queue,
      targetId: id,
      priority,
      state: 'PENDING',
      attempt: 0,
      ordinal: nextOrdinal(),
      createdAt: Date.now(),
      startedAt: null,
      finishedAt: null,
      error: null,
      result: null,
    };
  }

  get row(): StoredJob {
    return this.#row;
  }

  get write(): JobWrite {
    return { ...this.#row, lines: this.lines.toString() };
  }

  get targetId(): number {
    return this.#row.targetId;
  }

  /** Of the current attempt, or of the next one. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The result of that attempt. Errors: the reason why it was stopped. */
  get outcome(): Promise<Result> {
    return this.#outcome.promise;
  }

  /** Undefined: not running, or no progress yet. */
  get progress(): JobProgress | undefined {
    return this.#progress;
  }

  set progress(step: FineStep) {
    const isSame = this.#progress?.phase === step.phase;
    this.#progress = { ...step, since: isSame ? this.#progress!.since : Date.now() };
  }

  /** Requested again before it has started. */
  requestAgain(target: Target, priority: number, isForced: boolean): void {
    this.target = target;
    this.isForced ||= isForced;
    this.#row = { ...this.#row, priority: Math.min(priority, this.#row.priority) };
  }

  begin(): void {
    const { attempt, state } = this.#row;
    // An interrupted job is repeated.
    const isAgain = state === 'PENDING' && this.#row.startedAt !== null && this.#row.error === null;
    this.#row = {
      ...this.#row,
      state: 'IN_PROGRESS',
      attempt: isAgain ? attempt : attempt + 1,
      startedAt: Date.now(),
      error: null,
    };
  }

  say(level: LogLevel, message: string, fields?: LogFields): void {
    this.lines.add(level, this.#row.attempt, message, fields);
  }

  /** The attempt has ended; `state` PENDING: another one follows. */
  end(state: 'PENDING' | 'COMPLETED' | 'FAILED', more: Partial<StoredJob> = {}): void {
    const finishedAt = state === 'PENDING' ? null : Date.now();
    this.#row = { ...this.#row, ...more, state, finishedAt };
    this.#progress = undefined;
  }

  /** Resolves the waiters with the result; a further attempt gets a new promise. */
  settle(result: Result): void {
    this.#outcome.resolve(result);
    this.#renew();
  }

  /** Ends waiting for the attempt without a result. */
  giveUp(reason: unknown): void {
    this.#outcome.reject(reason);
    this.#renew();
  }

  #renew(): void {
    this.#outcome = newOutcome();
    this.#abort = new AbortController();
  }

  /** Stops the running attempt. */
  stop(reason: unknown): void {
    this.#abort.abort(reason);
  }
}

interface Outcome<Result> {
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

function newOutcome<Result>(): Outcome<Result> {
  const settlers: Partial<Outcome<Result>> = {};
  const promise = new Promise<Result>((resolve, reject) =>
    Object.assign(settlers, { resolve, reject }),
  );
  // There may be no waiters.
  promise.catch(() => {});
  // Safety: the executor has run.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...(settlers as Outcome<Result>), promise };
}

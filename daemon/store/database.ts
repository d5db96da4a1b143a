// Access of this folder's files to the database: reads, and writes as one transaction each; it maps errors of both engines
// to store errors, retries unchanged work, and notifies cache owners of changes. Statements are in the files of their
// tables.

import { type Kysely, sql, type Transaction } from 'kysely';
import type { Log } from '../base/log.ts';
import type { Change, Engine, Fault, Snapshot } from './engine.ts';
import { StoreError, isRefusal, UnwritableError } from './error.ts';
import { retried } from './retry.ts';
import type { Schema, StoreKind } from './schema.ts';

export interface Writing {
  readonly db: Transaction<Schema>;
  /** Ascends with each call, so that rows of one millisecond have an order. */
  readonly nextOrdinal: () => number;
  /** Notifies here and other daemons of a change once the transaction is committed. */
  readonly changed: (change: Change) => void;
  /** Blocks other transactions that call this until this one ends. */
  readonly lockMembership: (options?: { readonly isPatient: boolean }) => Promise<void>;
  /**
   * Locks the user until the transaction ends, so that new rows of the user cannot outlive it. False: there is no such
   * user, or it is suspended.
   */
  readonly lockActiveUser: (userId: string) => Promise<boolean>;
}

export interface DatabaseOptions {
  readonly engine: Engine;
  readonly log: Log;
  /** How long work is retried while the database is locked, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class Database {
  readonly kind: StoreKind;
  readonly now: () => number;
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #busyTimeoutMs: number;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #snapshots = new Set<Snapshot>();
  #ordinal = 0;
  #isClosed = false;
  #answerMsMax = Infinity;
  #isAway = false;
  #writeHealth: WriteHealth | undefined;

  constructor({ engine, log, busyTimeoutMs, now }: DatabaseOptions) {
    this.kind = engine.kind;
    this.now = now;
    this.#engine = engine;
    this.#log = log;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** The last awaited answer did not come, or reported an unreachable database. Set only with limited answers. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Why operations fail, until a write succeeds again; undefined: they do not, or it is not watched. */
  get lastError(): string | undefined {
    return this.#writeHealth?.reason;
  }

  /** From now on failures are tracked and logged. */
  watchWrites(): void {
    this.#writeHealth = new WriteHealth(this.#log, () =>
      this.write(async ({ db }) => void (await incremented(db, 'attempts to write'))),
    );
  }

  /** From now on operations that take longer fail with NOT_READY; they may still complete. */
  limitAnswers(answerMsMax: number): void {
    this.#answerMsMax = answerMsMax;
  }

  /** Runs read-only statements, without a transaction. Errors: NOT_READY. */
  async read<Result>(run: (db: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    try {
      return await this.#inTime(this.#track(() => this.#retried(() => run(this.#engine.db))));
    } catch (error) {
      this.#writeHealth?.failed(error);
      throw error;
    }
  }

  /**
   * Runs `run` as one transaction: all or nothing. It may run more than once.
   *
   * @param isLong  it may exceed the limit of answers: no request waits for it
   * Errors: those that `run` throws; NOT_READY, after which the transaction may have been committed if the connection was
   * lost on the way.
   */
  async write<Result>(
    run: (writing: Writing) => Promise<Result>,
    { isLong = false } = {},
  ): Promise<Result> {
    try {
      const outcome = this.#track(() => this.#retried(() => this.#writeOnce(run)));
      const result = await (isLong ? outcome : this.#inTime(outcome));
      this.#writeHealth?.wrote();
      return result;
    } catch (error) {
      this.#writeHealth?.failed(error);
      throw error;
    }
  }

  async #writeOnce<Result>(run: (writing: Writing) => Promise<Result>): Promise<Result> {
    const changes: Change[] = [];
    let result: Result;
    try {
      result = await this.#engine.db.transaction().execute(async (trx) => {
        const result = await run({
          db: trx,
          nextOrdinal: () => this.nextOrdinal(),
          changed: (change) => void changes.push(change),
          lockMembership: ({ isPatient } = { isPatient: false }) =>
            this.#engine.lockMembership(trx, isPatient),
          lockActiveUser: (userId) => this.#lockActiveUser(trx, userId),
        });
        if (changes.length > 0) await this.#engine.announce(trx, changes);
        return result;
      });
    } catch (error) {
      // The connection may have been lost after the commit.
      if (!isRefusal(error)) for (const change of changes) this.#notify(change);
      throw error;
    }
    for (const change of changes) this.#notify(change);
    return result;
  }

  async #lockActiveUser(trx: Transaction<Schema>, userId: string): Promise<boolean> {
    const query = trx
      .selectFrom('users')
      .select('id')
      .where('id', '=', userId)
      .where('suspendedAt', 'is', null);
    // The embedded store has one writer at a time.
    const rows = await (this.kind === 'postgres' ? query.forShare() : query).execute();
    return rows.length > 0;
  }

  /**
   * Yields what `read` reads from one snapshot of the store, while writes continue.
   * Errors: those of `read`; NOT_READY, also if the store is closed meanwhile.
   */
  async *readSnapshot<Item>(
    read: (db: Kysely<Schema>) => AsyncIterable<Item>,
  ): AsyncGenerator<Item> {
    const snapshot = await this.#track(() => this.#retried(() => this.#engine.openSnapshot()));
    this.#snapshots.add(snapshot);
    try {
      yield* read(snapshot.db);
    } catch (error) {
      if (this.#isClosed) throw closedError();
      throw this.#engine.faultOf(error)?.error ?? error;
    } finally {
      if (this.#snapshots.delete(snapshot)) {
        // A lost connection was reported already.
        await snapshot.close().catch(() => {});
      }
    }
  }

  /** From now on listeners are also notified of changes by other daemons. */
  async listen(): Promise<void> {
    await this.#engine.listen((change) => this.#notify(change));
  }

  /** Adds a listener; the result removes it. A change may be reported more than once. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ascends with every call, and across starts of the daemon unless the clock is set back. */
  nextOrdinal(): number {
    this.#ordinal = Math.max(this.#ordinal + 1, this.now() * 1000);
    return this.#ordinal;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writeHealth?.close();
    await Promise.allSettled(this.#running);
    const snapshots = [...this.#snapshots];
    this.#snapshots.clear();
    await Promise.allSettled(snapshots.map((snapshot) => snapshot.close()));
    await this.#engine.close();
  }

  async #track<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw closedError();
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** The outcome, or NOT_READY after the limit. */
  async #inTime<Result>(outcome: Promise<Result>): Promise<Result> {
    if (this.#answerMsMax === Infinity) return outcome;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new StoreError('NOT_READY', 'the store does not answer');
      timer = setTimeout(() => reject(error), this.#answerMsMax);
    });
    try {
      const result = await Promise.race([outcome, late]);
      this.#isAway = false;
      return result;
    } catch (error) {
      const isUnanswered = error instanceof StoreError && error.errorCode === 'NOT_READY';
      this.#isAway = isUnanswered && !(error instanceof UnwritableError);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #retried<Result>(run: () => Promise<Result>): Promise<Result> {
    const faultOf = (error: unknown): Fault | undefined => this.#engine.faultOf(error);
    return retried(run, { faultOf, timeoutMs: this.#busyTimeoutMs });
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error('a listener of store changes failed', { error });
      }
    }
  }
}

function closedError(): StoreError {
  return new StoreError('NOT_READY', 'the store is closed');
}

/** Adds 1 to a counter; returns the new value, from 1. */
export async function incremented(db: Kysely<Schema>, name: string): Promise<number> {
  const { value } = await db
    .insertInto('counters')
    .values({ name, value: 1 })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: sql`counters.value + 1` }),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  return value;
}

/**
 * Health of the database, for readiness and the log: failing from the first failed operation until a write succeeds.
 * Meanwhile a small write is tried every 2 s, so that recovery is noticed without traffic.
 */
class WriteHealth {
  readonly #log: Log;
  readonly #tryWrite: () => Promise<void>;
  #reason: string | undefined;
  #nextTry: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param tryWrite  must write; `failed` and `wrote` are called with its outcome as for other operations */
  constructor(log: Log, tryWrite: () => Promise<void>) {
    this.#log = log;
    this.#tryWrite = tryWrite;
  }

  /** As text, without secrets; undefined: healthy. */
  get reason(): string | undefined {
    return this.#reason;
  }

  failed(error: unknown): void {
    if (this.#isClosed || !(error instanceof StoreError) || error.errorCode !== 'NOT_READY') return;
    if (this.#reason === undefined) this.#log.error('the store fails', { reason: error.message });
    this.#reason = error.message;
    this.#nextTry ??= setTimeout(() => void this.#tryAgain(), 2_000).unref();
  }

  /** Errors: none: `failed` is called with them. */
  async #tryAgain(): Promise<void> {
    this.#nextTry = undefined;
    await this.#tryWrite().catch(() => {});
  }

  wrote(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    this.#log.info('the store works again');
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#nextTry);
  }
}

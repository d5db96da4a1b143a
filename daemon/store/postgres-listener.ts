// Receives changes made by other daemons on the same PostgreSQL, through one connection that LISTENs. While it is lost,
// changes may be missed: `isInformed` is false until it is back. Everything counts as changed then, and after each attempt
// that failed while the store answers other connections. Callers decide what to do meanwhile.

import { setTimeout } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { z } from 'zod';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { backOffMs } from '../base/retries.ts';
import type { Change } from './engine.ts';

export const CHANNEL = 'trawl_changes';

/** Before a reconnect. */
const PAUSE_MS = { min: 100, max: 5_000 };

/** Milliseconds between two heartbeats, and the longest duration of one. */
const HEARTBEAT_MS = 5_000;

export class PostgresListener {
  readonly #config: ClientConfig;
  readonly #ping: () => Promise<unknown>;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isInformed = false;
  /** Everything that changed before was reported. */
  #informedAtMs = performance.now();

  /** @param ping  rejects if the store does not answer */
  constructor(config: ClientConfig, ping: () => Promise<unknown>, log: Log) {
    this.#ping = ping;
    this.#config = { ...config, query_timeout: HEARTBEAT_MS };
    this.#log = log;
  }

  /** False while changes may be missed; a connection that dies silently is noticed within 10 s. */
  get isInformed(): boolean {
    return this.#isInformed;
  }

  /** Milliseconds since changes may be missed, 0 while none are; a silent death counts 10 s too few. */
  get uninformedMs(): number {
    return this.#isInformed ? 0 : performance.now() - this.#informedAtMs;
  }

  /** Listens until `stop`; resolves after the first attempt. `onChange` must not throw. */
  async start(onChange: (change: Change) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#running = this.#run(onChange, resolve);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(onChange: (change: Change) => void, onAttempt: () => void): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listenOnce(onChange, () => {
          failures = 0;
          onAttempt();
        });
      } catch (error) {
        failures++;
        const message = `changes by other daemons are not received: ${messageOf(error)}`;
        this.#log.warn(message, { retryInMs: backOffMs(failures, PAUSE_MS) });
        void this.#reportAll(onChange);
      }
      onAttempt();
      await this.#pause(backOffMs(failures, PAUSE_MS));
    }
  }

  /** If the store answers, its readers can read everything again. Errors: none. */
  async #reportAll(onChange: (change: Change) => void): Promise<void> {
    const startMs = performance.now();
    const isAnswering = await this.#ping().then(
      () => true,
      () => false,
    );
    if (!isAnswering || this.#isInformed || this.#stopping.signal.aborted) return;
    this.#informedAtMs = Math.max(this.#informedAtMs, startMs);
    onChange({ topic: 'all' });
  }

  /** Connects and listens; returns on stop, throws when the connection is lost. */
  async #listenOnce(onChange: (change: Change) => void, onInformed: () => void): Promise<void> {
    const client = new Client(this.#config);
    const lost = new Promise<never>((_, reject) => {
      client.once('error', reject);
      client.once('end', () => reject(new Error('the connection has ended')));
    });
    // It may be rejected while nobody awaits it.
    lost.catch(() => {});
    client.on('error', () => {});
    client.on('notification', ({ payload }) => onChange(decodeChange(payload ?? '')));
    try {
      await Promise.race([client.connect(), lost]);
      await Promise.race([client.query(`LISTEN ${CHANNEL}`), lost]);
      onChange({ topic: 'all' });
      this.#isInformed = true;
      onInformed();
      while (!this.#stopping.signal.aborted) {
        await Promise.race([this.#pause(HEARTBEAT_MS), lost]);
        await Promise.race([client.query('SELECT 1'), lost]);
      }
    } finally {
      if (this.#isInformed) this.#informedAtMs = performance.now();
      this.#isInformed = false;
      // A connection that died silently does not end.
      const ended = client.end().catch(() => {});
      await Promise.race([ended, setTimeout(1_000, undefined, { ref: false })]);
    }
  }

  /** Waits; returns early on stop. */
  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}

const changeSchema = z.union([
  z.strictObject({ userId: z.string() }),
  z.strictObject({ topic: z.enum(['settings', 'repos', 'readers', 'all']) }),
  z.strictObject({
    list: z.strictObject({
      repoId: z.int(),
      connection: z.string(),
      takenAt: z.number().nullable(),
    }),
  }),
]);

/** An unknown text may be any change. */
function decodeChange(text: string): Change {
  try {
    return changeSchema.parse(JSON.parse(text));
  } catch {
    return { topic: 'all' };
  }
}

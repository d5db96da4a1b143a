// The slow pass over all bytes in the background (API.md 20.5): checks the files of one shard after the other against the
// sums of their pages, at a bounded rate, and only while nothing is searched. A shard that fails goes out of service and
// is built again. Where the pass is, is kept in a file, so that a restart goes on from there; a finished pass rests before
// the next one. Also checks what was being searched when the process before ended without a word.

import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { PageCheck, type Pace } from '../../engine/host/page-check.ts';
import type { ShardFault, ShardProblem } from '../../engine/host/space.ts';
import type { LiveShard } from '../../engine/search/snapshot.ts';
import { readOwn, replaceOwn } from '../../base/own-file.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';

/** Guess: bytes a second; a disk does not notice, and 1 TB takes a day and a half. */
const RATE = 8 << 20;
/** From the start of a pass to that of the next one. */
const INTERVAL_MS = 24 * 3600 * 1000;
/** How long a search that runs is waited for at a time. */
const BUSY_PAUSE_MS = 50;
/** Guess: after something that the machine had none of was wanted. */
const FAULT_PAUSE_MS = 60_000;
/** Where the pass is, is written so often. */
const SAVE_MS = 10_000;

const stateSchema = z.strictObject({
  /** When the pass began, ms since 1970. */
  startedAt: z.number(),
  /** The last shard that was checked; "": none yet. */
  shardId: z.string(),
  isDone: z.boolean(),
});
type State = z.infer<typeof stateSchema>;

export interface IntegrityPassOptions {
  readonly module: WebAssembly.Module;
  /** Absolute path of the file that says where the pass is. */
  readonly stateFile: string;
  /** The shards in service. */
  readonly shards: () => readonly LiveShard[];
  /** Whether something is being searched. */
  readonly isBusy: () => boolean;
  readonly onDamage: (shardId: string, reason: string, fault: ShardFault) => void;
  readonly log: Log;
  /** Bytes a second; default: 8 MiB. */
  readonly rate?: number;
  /** From the start of a pass to that of the next one; default: a day. */
  readonly intervalMs?: number;
  /** Rest after a shard that could not be checked; default: a minute. */
  readonly faultPauseMs?: number;
}

export class IntegrityPass {
  readonly #options: IntegrityPassOptions;
  readonly #stop = new AbortController();
  #check: PageCheck | undefined;
  #running: Promise<void> | undefined;
  #state: State;
  /** Of performance.now, which no change of the clock moves. */
  #savedMs = -Infinity;
  checkedCount = 0;

  constructor(options: IntegrityPassOptions) {
    this.#options = options;
    this.#state = readState(options.stateFile);
  }

  /** Goes on until `close`. */
  run(): void {
    this.#running ??= this.#work();
  }

  /** Checks these shards at once and as fast as it goes; returns those that are damaged, or cannot be read now. */
  async checkNow(
    shards: readonly LiveShard[],
  ): Promise<{ shardId: string; reason: string; fault: ShardFault }[]> {
    const found = [];
    for (const shard of shards) {
      const problem = await this.#checked(shard, () => Promise.resolve());
      if (problem !== undefined) found.push({ shardId: shard.shardId, ...problem });
    }
    return found;
  }

  #checker(): PageCheck {
    return (this.#check ??= new PageCheck(this.#options.module));
  }

  /** What is wrong with a shard, or with the machine that is to read it. Errors: that it is to stop. */
  async #checked(shard: LiveShard, pace: Pace): Promise<ShardProblem | undefined> {
    try {
      return await this.#checker().check(shard, pace);
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      // It may be the checker itself.
      this.#check = undefined;
      return { reason: messageOf(error), fault: 'unmapped' };
    }
  }

  /** Ends when it is to stop. */
  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#untilDue();
        await this.#passOver();
        this.#save({ ...this.#state, shardId: '', isDone: true });
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#options.log.error('the check of shards in the background failed', {
          error: messageOf(error),
        });
        await this.#rest();
      }
    }
  }

  async #rest(): Promise<void> {
    await this.#wait(this.#options.faultPauseMs ?? FAULT_PAUSE_MS).catch(() => {});
  }

  /** Waits for the time of the next pass, and begins it; one that was begun goes on. */
  async #untilDue(): Promise<void> {
    if (!this.#state.isDone) return;
    const { intervalMs = INTERVAL_MS } = this.#options;
    const dueMs = this.#state.startedAt + intervalMs - Date.now();
    if (dueMs > 0) await this.#wait(Math.min(dueMs, intervalMs));
    this.#save({ startedAt: Date.now(), shardId: '', isDone: false });
  }

  /** In the order of the ids, so that shards that come or go meanwhile do not matter. */
  async #passOver(): Promise<void> {
    const unread: LiveShard[] = [];
    for (;;) {
      const next = this.#nextShard();
      if (next === undefined) break;
      if (!(await this.#checkOne(next))) unread.push(next);
      this.#state = { ...this.#state, shardId: next.shardId };
      if (performance.now() - this.#savedMs > SAVE_MS) this.#save(this.#state);
    }
    // Once more; what cannot be read then either is for the next pass.
    for (const shard of unread) if (this.#isInService(shard)) await this.#checkOne(shard);
  }

  /** False: it could not be read, and nothing is known of it. */
  async #checkOne(shard: LiveShard): Promise<boolean> {
    const problem = await this.#checked(shard, this.#pace);
    if (problem?.fault === 'unmapped') {
      const { shardId } = shard;
      this.#options.log.warn('a shard could not be checked', { shardId, reason: problem.reason });
      await this.#rest();
      return false;
    }
    this.checkedCount++;
    // A file may go while it is read.
    if (problem !== undefined && this.#isInService(shard))
      this.#options.onDamage(shard.shardId, problem.reason, problem.fault);
    return true;
  }

  #isInService({ shardId }: LiveShard): boolean {
    return this.#options.shards().some((shard) => shard.shardId === shardId);
  }

  #nextShard(): LiveShard | undefined {
    let next: LiveShard | undefined;
    for (const shard of this.#options.shards()) {
      if (shard.shardId <= this.#state.shardId) continue;
      if (next === undefined || shard.shardId < next.shardId) next = shard;
    }
    return next;
  }

  readonly #pace: Pace = async (size) => {
    await this.#wait((size * 1000) / (this.#options.rate ?? RATE));
    while (this.#options.isBusy()) await this.#wait(BUSY_PAUSE_MS);
  };

  async #wait(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#stop.signal, ref: false });
  }

  #save(state: State): void {
    this.#state = state;
    this.#savedMs = performance.now();
    const { stateFile, log } = this.#options;
    try {
      replaceOwn(stateFile, JSON.stringify(state));
    } catch (error) {
      log.warn('where the check of shards is could not be kept', { error: messageOf(error) });
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    await this.#running;
    if (this.#running !== undefined) this.#save(this.#state);
  }
}

function readState(file: string): State {
  try {
    const state = stateSchema.parse(JSON.parse(readOwn(file).toString()));
    if (state.startedAt <= Date.now()) return state;
    // Of a clock that was ahead, which would hold up the next pass after each restart. One that was begun goes on.
    return { ...state, startedAt: Date.now(), isDone: false };
  } catch {
    // It only saves work.
    return { startedAt: Date.now(), shardId: '', isDone: false };
  }
}

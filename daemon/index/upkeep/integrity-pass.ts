// Checks all bytes of the shards in the background against the checksums of their pages (API.md 20.5), at a limited
// rate and only while no search runs. A shard that fails is rebuilt. Progress is stored; a restart resumes.

import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { PageCheck, type Pace } from '../../engine/host/page-check.ts';
import type { ShardFault, ShardProblem } from '../../engine/host/space.ts';
import type { LiveShard } from '../../engine/search/snapshot.ts';
import { DAY_MS } from '../../base/durations.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';

/** How often progress is stored. Bound: a reader of the index opens it again after each change of its file. */
const SAVE_MS = 600_000;

const stateSchema = z.strictObject({
  /** Start of the pass, ms since 1970. */
  startedAt: z.number(),
  shardId: z.string(),
  isDone: z.boolean(),
});
type State = z.infer<typeof stateSchema>;

export interface IntegrityPassOptions {
  readonly module: WebAssembly.Module;
  readonly progress: {
    readonly read: () => string | undefined;
    readonly write: (text: string) => Promise<void>;
  };
  readonly shards: () => readonly LiveShard[];
  readonly isBusy: () => boolean;
  readonly onDamage: (shardId: string, reason: string, fault: ShardFault) => void;
  readonly log: Log;
  /** Bytes a second; default: 8 MiB, so 1 TB takes a day and a half. Bound: load of the disk. */
  readonly rate?: number;
  /** From the start of a pass to the start of the next; default: a day. */
  readonly intervalMs?: number;
  /** Pause after the machine ran out of a resource; default: a minute. Bound: further load. */
  readonly faultPauseMs?: number;
}

export class IntegrityPass {
  readonly #options: IntegrityPassOptions;
  readonly #stop = new AbortController();
  #check: PageCheck | undefined;
  #running: Promise<void> | undefined;
  #state: State;
  /** Of performance.now, which clock changes do not affect. */
  #savedMs = -Infinity;
  checkedCount = 0;

  constructor(options: IntegrityPassOptions) {
    this.#options = options;
    this.#state = stateIn(options.progress.read());
  }

  run(): void {
    this.#running ??= this.#work();
  }

  /** Checks these shards at once at full speed; returns those that are damaged or unreadable. */
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

  /** The problem of a shard, or of the machine that reads it. Errors: the pass is stopping. */
  async #checked(shard: LiveShard, pace: Pace): Promise<ShardProblem | undefined> {
    try {
      this.#check ??= new PageCheck(this.#options.module);
      return await this.#check.check(shard, pace);
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      // The checker itself may be at fault.
      this.#check = undefined;
      return { reason: messageOf(error), fault: 'unmapped' };
    }
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#untilDue();
        await this.#passOver();
        await this.#save({ ...this.#state, shardId: '', isDone: true });
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const fields = { error: messageOf(error) };
        this.#options.log.error('the check of shards in the background failed', fields);
        await this.#rest();
      }
    }
  }

  async #rest(): Promise<void> {
    await this.#wait(this.#options.faultPauseMs ?? 60_000).catch(() => {});
  }

  /** Waits until the next pass is due and begins it; an unfinished one continues. */
  async #untilDue(): Promise<void> {
    if (!this.#state.isDone) return;
    const { intervalMs = DAY_MS } = this.#options;
    const dueMs = this.#state.startedAt + intervalMs - Date.now();
    if (dueMs > 0) await this.#wait(Math.min(dueMs, intervalMs));
    await this.#save({ startedAt: Date.now(), shardId: '', isDone: false });
  }

  /** In order of ids, so that shards may come and go meanwhile. */
  async #passOver(): Promise<void> {
    const unread: LiveShard[] = [];
    for (;;) {
      const next = this.#nextShard();
      if (next === undefined) break;
      if (!(await this.#checkOne(next))) unread.push(next);
      this.#state = { ...this.#state, shardId: next.shardId };
      if (performance.now() - this.#savedMs > SAVE_MS) await this.#save(this.#state);
    }
    // Once more; what is unreadable then waits for the next pass.
    for (const shard of unread) if (this.#isInService(shard)) await this.#checkOne(shard);
  }

  /** False: unreadable, so its state is unknown. */
  async #checkOne(shard: LiveShard): Promise<boolean> {
    const problem = await this.#checked(shard, this.#pace);
    if (problem?.fault === 'unmapped') {
      const { shardId } = shard;
      this.#options.log.warn('a shard could not be checked', { shardId, reason: problem.reason });
      await this.#rest();
      return false;
    }
    this.checkedCount++;
    // A file may be removed while it is read.
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
    await this.#wait((size * 1000) / (this.#options.rate ?? 8 << 20));
    while (this.#options.isBusy()) await this.#wait(50);
  };

  async #wait(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#stop.signal, ref: false });
  }

  async #save(state: State): Promise<void> {
    this.#state = state;
    this.#savedMs = performance.now();
    try {
      await this.#options.progress.write(JSON.stringify(state));
    } catch (error) {
      const fields = { error: messageOf(error) };
      this.#options.log.warn(
        'progress of the background check of shards could not be saved',
        fields,
      );
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    await this.#running;
    if (this.#running !== undefined) await this.#save(this.#state);
  }
}

function stateIn(text: string | undefined): State {
  try {
    const state = stateSchema.parse(JSON.parse(text ?? ''));
    if (state.startedAt <= Date.now()) return state;
    // The clock was ahead; it must not delay the next pass. An unfinished one continues.
    return { ...state, startedAt: Date.now(), isDone: false };
  } catch {
    // A lost file only costs work.
    return { startedAt: Date.now(), shardId: '', isDone: false };
  }
}

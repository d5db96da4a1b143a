// Checks all bytes of the shards in the background against the checksums of their pages (API.md 20.5), at a limited
// rate and only while no search runs. A shard that fails is rebuilt. A restart begins again.

import { setTimeout } from 'node:timers/promises';
import { PageCheck, type Pace } from '../../engine/host/page-check.ts';
import type { ShardFault, ShardProblem } from '../../engine/host/space.ts';
import type { LiveShard } from '../../engine/search/snapshot.ts';
import { DAY_MS } from '../../base/durations.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';

export interface IntegrityPassOptions {
  readonly module: WebAssembly.Module;
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
  checkedCount = 0;

  constructor(options: IntegrityPassOptions) {
    this.#options = options;
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
      const startMs = performance.now();
      try {
        await this.#passOver();
        const { intervalMs = DAY_MS } = this.#options;
        await this.#wait(startMs + intervalMs - performance.now());
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

  /** In order of ids, so that shards may come and go meanwhile. */
  async #passOver(): Promise<void> {
    const unread: LiveShard[] = [];
    let next = this.#shardAfter('');
    for (; next !== undefined; next = this.#shardAfter(next.shardId))
      if (!(await this.#checkOne(next))) unread.push(next);
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

  #shardAfter(shardId: string): LiveShard | undefined {
    let next: LiveShard | undefined;
    for (const shard of this.#options.shards()) {
      if (shard.shardId <= shardId) continue;
      if (next === undefined || shard.shardId < next.shardId) next = shard;
    }
    return next;
  }

  readonly #pace: Pace = async (size) => {
    await this.#wait((size * 1000) / (this.#options.rate ?? 8 << 20));
    while (this.#options.isBusy()) await this.#wait(50);
  };

  async #wait(ms: number): Promise<void> {
    await setTimeout(Math.max(ms, 0), undefined, { signal: this.#stop.signal, ref: false });
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    await this.#running;
  }
}

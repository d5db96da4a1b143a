// The search loop of one thread: binds shards, claims and runs their units, head units of all shards first
// (core/match/heads.ts). Steps are bounded, so that the caller can check the clock and other searches in between; a long step
// is abandoned when the search stops or the caller's time is up. A failed shard is retried once on a new instance.

import { isTrap, type StopTest } from './core.ts';
import { PrefixSum, type SearchControl } from './control.ts';
import type {
  BindFinding,
  FailureFinding,
  Findings,
  ShardTimes,
  UnitFinding,
} from './search-messages.ts';
import type { EncodedPlan } from './encoded-plan.ts';
import type { Searcher } from './searcher.ts';
import { ShardError } from './space.ts';
import { messageOf } from '../../base/caught.ts';

/** Guess: a higher limit needs more than the first part of a shard. */
const PART_LIMIT_MAX = 200;

export class SearchLoop {
  bindings: BindFinding[] = [];
  headBindings: BindFinding[] = [];
  partBindings: BindFinding[] = [];
  units: UnitFinding[] = [];
  failures: FailureFinding[] = [];
  firstUnitNs: bigint | undefined;
  #searcher: Searcher;
  readonly #shardIds: readonly string[];
  readonly #limit: number;
  readonly #control: SearchControl;
  readonly #encodedPlan: EncodedPlan;
  /** Indexes, in order, of the shards tested so far. */
  readonly #headShards: number[] = [];
  #headTestCount = 0;
  #areHeadsFound: boolean;
  /** Shards with heads that this thread has finished. */
  #headsDone = 0;
  #prefix: PrefixSum | undefined;
  #times: ShardTimes[] = [];
  /** Shards whose binding was reported. */
  readonly #bound = new Set<number>();
  #shard = 0;
  #unitCount: number | undefined;
  /** The next binding of the shard may be of its first part. */
  #mayBePart: boolean;
  #hasStarted = false;
  #isPlanned = false;

  constructor(
    searcher: Searcher,
    encodedPlan: EncodedPlan,
    shardIds: readonly string[],
    limit: number,
    control: SearchControl,
  ) {
    this.#searcher = searcher;
    this.#encodedPlan = encodedPlan;
    this.#shardIds = shardIds;
    this.#limit = limit;
    this.#control = control;
    // A search without a limit needs no order.
    this.#areHeadsFound = limit === Infinity;
    this.#mayBePart = limit <= PART_LIMIT_MAX;
  }

  get #isAmidHeads(): boolean {
    return this.#headsDone < this.#headShards.length;
  }

  /** Another search may have used the searcher: plan and binding must be set again. */
  resumeOn(searcher: Searcher): void {
    this.#searcher = searcher;
    this.#isPlanned = false;
  }

  take(): Findings {
    const { bindings, headBindings, partBindings, units, failures, firstUnitNs } = this;
    const times = this.#times;
    this.bindings = [];
    this.headBindings = [];
    this.partBindings = [];
    this.units = [];
    this.failures = [];
    this.#times = [];
    const headShards = this.#areHeadsFound ? this.#headShards : undefined;
    return {
      bindings,
      headBindings,
      partBindings,
      units,
      failures,
      times,
      firstUnitNs,
      headShards,
    };
  }

  #addTimes(bindNs: number, searchNs: number): void {
    const shard = this.#shard;
    const last = this.#times.at(-1);
    if (last?.shard !== shard) this.#times.push({ shard, bindNs, searchNs });
    else {
      const sums = { shard, bindNs: last.bindNs + bindNs, searchNs: last.searchNs + searchNs };
      this.#times[this.#times.length - 1] = sums;
    }
  }

  /** False: nothing more to do. A step abandoned by `isStopRequested` is repeated by a later claim. Throws PlanError. */
  step(isStopRequested: StopTest = () => this.#control.isStopped): boolean {
    if (this.#control.isHalted || this.#shard === this.#shardIds.length) return false;
    if (!this.#isPlanned) {
      if (this.#hasStarted) this.#searcher.setPlan(this.#encodedPlan);
      else this.#searcher.beginPlan(this.#encodedPlan);
      this.#hasStarted = true;
      this.#isPlanned = true;
    }
    const shardId = this.#shardIds[this.#shard]!;
    if (!this.#areHeadsFound) this.#findHeadShards();
    else if (this.#isAmidHeads) this.#searchHeads(shardId, isStopRequested);
    else if (this.#control.isDrained(this.#shard)) this.#nextShard();
    else if (this.#unitCount === undefined || !this.#searcher.isBound(shardId, this.#mayBePart))
      this.#try(() => this.#bind(shardId, isStopRequested));
    else {
      const unit = this.#control.claim(this.#shard, this.#unitCount);
      if (unit !== undefined) this.#runOrLose(unit, isStopRequested);
      else if (this.#searcher.isBound(shardId)) this.#nextShard();
      else this.#mayBePart = false;
    }
    return true;
  }

  #findHeadShards(): void {
    const count = this.#shardIds.length;
    // Each test takes some microseconds.
    const end = Math.min(count, this.#headTestCount + 64);
    for (; this.#headTestCount < end; this.#headTestCount++)
      if (this.#hasHeads(this.#shardIds[this.#headTestCount]!))
        this.#headShards.push(this.#headTestCount);
    if (end < count) return;
    this.#areHeadsFound = true;
    this.#shard = this.#headShards[0] ?? 0;
    this.#prefix = new PrefixSum(this.#control, this.#shardIds.length, this.#headShards);
  }

  /** An unreadable shard counts as without heads; binding reports the error. */
  #hasHeads(shardId: string): boolean {
    try {
      return this.#searcher.hasHeads(shardId);
    } catch (error) {
      if (!isShardFailure(error)) throw error;
      if (isTrap(error)) this.#searcher.replaceSpaceOf(shardId);
      return false;
    }
  }

  #nextShard(): void {
    this.#unitCount = undefined;
    this.#mayBePart = this.#limit <= PART_LIMIT_MAX;
    if (!this.#isAmidHeads) this.#shard++;
    else this.#shard = this.#headShards[++this.#headsDone] ?? 0;
  }

  #bind(shardId: string, isStopRequested: StopTest): void {
    const start = process.hrtime.bigint();
    const binding = this.#searcher.bind(shardId, isStopRequested, this.#mayBePart);
    this.#addTimes(Number(process.hrtime.bigint() - start), 0);
    if (binding === undefined) return;
    this.#unitCount = binding.unitCount;
    if (binding.isPart) {
      if (this.#control.partCount(this.#shard) === undefined)
        this.partBindings.push({ shard: this.#shard, ...binding });
      this.#control.setPartCount(this.#shard, binding.unitCount);
      return;
    }
    if (!this.#bound.has(this.#shard)) {
      this.#bound.add(this.#shard);
      this.bindings.push({ shard: this.#shard, ...binding });
    }
    this.#control.setUnitCount(this.#shard, binding.unitCount);
  }

  /** Searches the head unit of a shard, unless another thread does. */
  #searchHeads(shardId: string, isStopRequested: StopTest): void {
    const shard = this.#shard;
    let isClaimed = false;
    const hasSucceeded = this.#try(() => {
      if (!isClaimed && this.#control.isHeadDrained(shard)) return;
      if (!this.#bindHeads(shardId, isStopRequested)) return;
      isClaimed ||= this.#control.claimHead(shard);
      if (isClaimed) this.#runUnit(0, isStopRequested);
    });
    if (isClaimed && !hasSucceeded) this.#control.finish(shard, 0, 0);
    if (hasSucceeded && this.#control.isHeadDrained(shard)) this.#nextShard();
  }

  /** False: it was stopped. */
  #bindHeads(shardId: string, isStopRequested: StopTest): boolean {
    const start = process.hrtime.bigint();
    const binding = this.#searcher.bindHeads(shardId, isStopRequested);
    this.#addTimes(Number(process.hrtime.bigint() - start), 0);
    if (binding === undefined) return false;
    if (this.#control.headCount(this.#shard) === undefined)
      this.headBindings.push({ shard: this.#shard, ...binding });
    this.#control.setHeadCount(this.#shard, binding.headUnitCount);
    return true;
  }

  #runUnit(unit: number, isStopRequested: StopTest): void {
    const start = process.hrtime.bigint();
    this.firstUnitNs ??= start;
    const found = this.#searcher.searchUnit(unit, isStopRequested);
    this.#addTimes(0, Number(process.hrtime.bigint() - start));
    if (found === undefined) {
      // In a stopped search it counts as not begun.
      if (!this.#control.isStopped) this.#control.giveBack(this.#shard, unit);
      return;
    }
    this.units.push({ shard: this.#shard, unit, ...found });
    this.#control.finish(this.#shard, unit, found.matches);
    if (this.#limit !== Infinity && this.#prefix?.isOver(this.#limit)) this.#control.stop();
  }

  #runOrLose(unit: number, isStopRequested: StopTest): void {
    const shard = this.#shard;
    // A lost unit counts as finished without ranges, so that the ordered sum can pass it.
    if (!this.#try(() => this.#runUnit(unit, isStopRequested)))
      this.#control.finish(shard, unit, 0);
  }

  /** After a trap or damage, repeats `work` once on a new instance; false: it failed again, and the shard is given up. */
  #try(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (!isShardFailure(error)) throw error;
      if (error instanceof ShardError && error.fault === 'unmapped') return this.#giveUp(error);
      this.#renew(error);
    }
    const shardId = this.#shardIds[this.#shard]!;
    try {
      this.#searcher.setPlan(this.#encodedPlan);
      if (this.#unitCount !== undefined) this.#searcher.bind(shardId);
      work();
      return true;
    } catch (error) {
      if (!isShardFailure(error)) throw error;
      return this.#giveUp(error);
    }
  }

  /** A trapped instance is dead; a refused call left it usable. */
  #renew(error: unknown): void {
    const shardId = this.#shardIds[this.#shard]!;
    if (!isTrap(error)) this.#searcher.beginPlan(this.#encodedPlan);
    else if (this.#searcher.has(shardId)) this.#searcher.replaceSpaceOf(shardId);
  }

  #giveUp(error: unknown): false {
    const fault = error instanceof ShardError ? { fault: error.fault } : {};
    this.failures.push({ shard: this.#shard, reason: messageOf(error), ...fault });
    this.#renew(error);
    this.#isPlanned = false;
    if (this.#control.headCount(this.#shard) === undefined)
      this.#control.setHeadCount(this.#shard, 0);
    if (this.#control.unitCount(this.#shard) === undefined)
      this.#control.setUnitCount(this.#shard, 0);
    this.#nextShard();
    return false;
  }
}

function isShardFailure(error: unknown): boolean {
  return error instanceof ShardError || isTrap(error);
}

// Puts findings into the order of the search: the head units of all shards, then the other units, shard by shard, up to the
// one that exceeds the limit. So an answer depends only on the snapshot, not on how threads race.

import type { BindFinding, Findings, UnitFinding } from '../host/search-messages.ts';

export interface UnitSink {
  /** The heads of a shard come next, if there are any, or units of its first part. */
  addPartBinding(binding: BindFinding): void;
  /** The search passes a shard without candidates, or enters one with some. */
  addBinding(binding: BindFinding): void;
  addUnit(unit: UnitFinding, isHead: boolean): void;
}

interface ShardState {
  headBinding: BindFinding | undefined;
  partBinding: BindFinding | undefined;
  binding: BindFinding | undefined;
  isFailed: boolean;
  hasPassedHead: boolean;
  /** Received and not yet passed on, by number. */
  readonly units: (UnitFinding | undefined)[];
}

export class UnitOrder {
  readonly #sink: UnitSink;
  readonly #shards: ShardState[] = [];
  /** In order; undefined: unknown yet. */
  #headShards: readonly number[] | undefined;
  #headIndex = 0;
  #shard = 0;
  #unit = 0;
  /** Ranges up to the limit; below 0: exceeded. */
  #remaining: number;
  #isEnded = false;

  /** @param limit  ranges after which only heads are passed on */
  constructor(shardCount: number, limit: number, sink: UnitSink) {
    for (let shard = 0; shard < shardCount; shard++)
      this.#shards.push({
        headBinding: undefined,
        partBinding: undefined,
        binding: undefined,
        isFailed: false,
        hasPassedHead: false,
        units: [],
      });
    this.#remaining = limit;
    this.#sink = sink;
  }

  get isOverLimit(): boolean {
    return this.#remaining < 0;
  }

  get hasPassedHeads(): boolean {
    return this.#headIndex === this.#headShards?.length;
  }

  /** Passes on the units in order without a gap. Each unit must be added once. */
  add(findings: Omit<Findings, 'times' | 'firstUnitNs'>): void {
    const { bindings, headBindings, partBindings, units, failures, headShards } = findings;
    this.#headShards ??= headShards;
    for (const binding of headBindings) this.#shards[binding.shard]!.headBinding ??= binding;
    for (const binding of partBindings) this.#shards[binding.shard]!.partBinding ??= binding;
    for (const binding of bindings) this.#shards[binding.shard]!.binding ??= binding;
    for (const { shard } of failures) this.#shards[shard]!.isFailed = true;
    for (const unit of units) this.#shards[unit.shard]!.units[unit.unit] = unit;
    this.#handOn();
  }

  /** Passes on the rest up to the limit, ignoring gaps. */
  end(): void {
    this.#isEnded = true;
    this.#headShards ??= [];
    this.#handOn();
  }

  #handOn(): void {
    if (this.#headShards === undefined) return;
    for (; !this.hasPassedHeads; this.#headIndex++)
      if (!this.#passHead(this.#shards[this.#headShards[this.#headIndex]!]!)) return;
    for (; this.#shard < this.#shards.length && !this.isOverLimit; this.#shard++) {
      if (!this.#passUnits(this.#shards[this.#shard]!)) return;
      this.#unit = 0;
    }
  }

  /** False: the head unit is missing and may come. */
  #passHead(state: ShardState): boolean {
    const { headBinding, units } = state;
    const canCome = !this.#isEnded && !state.isFailed;
    if (headBinding === undefined) return !canCome;
    const unit = units[0];
    if (headBinding.headUnitCount > 0 && unit === undefined && canCome) return false;
    this.#sink.addPartBinding(headBinding);
    if (headBinding.headUnitCount > 0 && unit !== undefined) this.#pass(state, unit, true);
    return true;
  }

  /** False: a missing unit may come, or the limit is exceeded. */
  #passUnits(state: ShardState): boolean {
    const { binding, partBinding, units } = state;
    const canCome = !this.#isEnded && !state.isFailed;
    const unitCount = (binding ?? partBinding)?.unitCount;
    if (unitCount === undefined) return !canCome;
    // Its only unit may be the head unit, which was passed on already.
    if ((partBinding === undefined && unitCount <= 1) || state.isFailed) this.#addBinding(state);
    for (; this.#unit < unitCount && !this.isOverLimit; this.#unit++) {
      const unit = units[this.#unit];
      const isPassed = this.#unit === 0 && state.hasPassedHead;
      if (unit === undefined && canCome && !isPassed) return false;
      if (unit === undefined) continue;
      this.#addBinding(state);
      this.#pass(state, unit, false);
    }
    if (this.isOverLimit) return false;
    if (binding === undefined) return !canCome;
    // Not before: another thread may have bound the whole shard in vain.
    if (partBinding !== undefined) this.#sink.addBinding(binding);
    return true;
  }

  /** Of the next unit. */
  #addBinding({ binding, partBinding }: ShardState): void {
    const isInPart = partBinding !== undefined && this.#unit < partBinding.unitCount;
    if (isInPart || binding === undefined) this.#sink.addPartBinding(partBinding!);
    else this.#sink.addBinding(binding);
  }

  #pass(state: ShardState, unit: UnitFinding, isHead: boolean): void {
    state.units[unit.unit] = undefined;
    state.hasPassedHead ||= isHead;
    this.#remaining -= unit.matches;
    this.#sink.addUnit(unit, isHead);
  }
}

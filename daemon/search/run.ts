// Runs a plan over shards: on the main thread for as long as a cheap query takes, then on all threads of
// the pool, which go on where it stopped. Stops at the limit, the deadline, or when the client is gone.
// What a dead thread lost is run again here, once.

import { SearchControl } from '../engine/control.ts';
import { Drain } from '../engine/drain.ts';
import type { SearchPool } from '../engine/pool.ts';
import type { BindFinding, FailureFinding, UnitFinding } from '../engine/search-messages.ts';
import { PlanError, type SearchPlan } from '../engine/search-plan.ts';
import type { Searcher } from '../engine/searcher.ts';
import { unitMaxOf } from '../engine/unit-max.ts';
import type { LiveShard } from './snapshot.ts';

const INLINE_NS = 4_000_000n;

export interface RunOptions {
  readonly shards: readonly LiveShard[];
  readonly plan: SearchPlan;
  /** Stop once more ranges than this are found; Infinity: count all. */
  readonly limit: number;
  /** 0: none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How long the search may stay on the thread that owns the sockets; default: 3 ms. */
  readonly inlineNs?: bigint;
}

/** Why a search ended before its end. */
export type RunStop = 'deadline' | 'aborted';

export interface RunOutcome {
  readonly bindings: readonly BindFinding[];
  /** Each unit at most once, in any order. */
  readonly units: readonly UnitFinding[];
  readonly failures: readonly FailureFinding[];
  readonly stop: RunStop | undefined;
  readonly bindNs: number;
  readonly searchNs: number;
  /** When the first unit began (process.hrtime), if any did. */
  readonly firstUnitNs: bigint | undefined;
}

/** Errors: PlanError. */
export async function runSearch(
  searcher: Searcher,
  pool: Pick<SearchPool, 'search' | 'size'>,
  options: RunOptions,
): Promise<RunOutcome> {
  const { shards, plan, limit, timeoutMs, signal } = options;
  const control = newControl(shards);
  const shardIds = shards.map(({ shardId }) => shardId);
  const drains: Findings[] = [];
  let stop: RunStop | undefined;
  let rerun: SearchControl | undefined;
  const end = (reason: RunStop): void => {
    stop ??= reason;
    control.stop();
    rerun?.stop();
  };
  const onAbort = (): void => end('aborted');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = timeoutMs > 0 ? setTimeout(() => end('deadline'), timeoutMs) : undefined;
  try {
    const inline = new Drain(searcher, plan, shardIds, limit, control);
    drains.push(inline);
    if (drainFor(inline, options.inlineNs ?? INLINE_NS)) {
      const unitMaxes = shards.map(unitMaxOf);
      const message = { plan, shardIds, limit, unitMaxes, control: control.buffer };
      const done = await pool.search(message);
      const failed = done.find(({ planError }) => planError !== undefined);
      if (failed?.planError !== undefined) throw new PlanError(failed.planError);
      drains.push(...done);
      // What stopped at the limit may have lost the units that exceeded it.
      if (stop === undefined && done.length < pool.size) {
        rerun = newControl(shards);
        drains.push(await runLost(searcher, options, drains, rerun));
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
  return { ...joinFindings(drains), stop };
}

type Findings = Omit<RunOutcome, 'stop'>;

/** Works for at most `budgetNs`; true if something is left. */
function drainFor(drain: Drain, budgetNs: bigint): boolean {
  const end = process.hrtime.bigint() + budgetNs;
  while (drain.step()) if (process.hrtime.bigint() > end) return true;
  return false;
}

/** How long a search that is run again may keep this thread at a time. */
const TURN_NS = 5_000_000n;

/** Runs the units that no thread left a finding for, letting other searches in between. */
async function runLost(
  searcher: Searcher,
  { shards, plan, limit }: RunOptions,
  drains: readonly Findings[],
  control: SearchControl,
): Promise<Findings> {
  for (const { shard, unit, matches } of drains.flatMap(({ units }) => units))
    control.finish(shard, unit, matches);
  // A shard that failed had its second chance.
  for (const { shard } of drains.flatMap(({ failures }) => failures)) {
    for (let unit = 0; unit < unitMaxOf(shards[shard]!); unit++) {
      if (control.matchesOf(shard, unit) === undefined) control.finish(shard, unit, 0);
    }
  }
  const shardIds = shards.map(({ shardId }) => shardId);
  const drain = new Drain(searcher, plan, shardIds, limit, control);
  while (drainFor(drain, TURN_NS)) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    drain.suspend();
  }
  return drain;
}

function newControl(shards: readonly LiveShard[]): SearchControl {
  return new SearchControl(shards.map(unitMaxOf));
}

function joinFindings(drains: readonly Findings[]): Findings {
  const bindings = new Map<number, BindFinding>();
  for (const drain of drains) {
    for (const binding of drain.bindings)
      if (!bindings.has(binding.shard)) bindings.set(binding.shard, binding);
  }
  const starts = drains.flatMap(({ firstUnitNs }) =>
    firstUnitNs === undefined ? [] : [firstUnitNs],
  );
  return {
    bindings: [...bindings.values()],
    units: drains.flatMap(({ units }) => units),
    failures: drains.flatMap(({ failures }) => failures),
    bindNs: drains.reduce((sum, { bindNs }) => sum + bindNs, 0),
    searchNs: drains.reduce((sum, { searchNs }) => sum + searchNs, 0),
    firstUnitNs: starts.length === 0 ? undefined : starts.reduce((a, b) => (a < b ? a : b)),
  };
}

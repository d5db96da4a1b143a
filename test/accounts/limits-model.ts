// A model of the limits without a store: for each user and day the number of counted requests, or its bounds after a
// crash. Random steps of users, limits, clocks, stops and crashes run on real ledgers and on the model.

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Decision } from '../../daemon/accounts/limits.ts';
import { DAY_MS, type Daemon, settle } from './limits-harness.ts';

/** What the ledgers stand on. */
export interface LimitsWorld {
  /** Daemons crash one by one; else they are parts of one process and crash together. */
  readonly isShared: boolean;
  /** Milliseconds by the clock of the ledgers. */
  nowMs(): number;
  open(): Daemon;
  advance(ms: number): Promise<void>;
  /** Makes the next exchange with the store fail. */
  fail(when: 'before' | 'after'): void;
  /** No exchange fails from here on. */
  heal(): void;
  read(userId: string, day: string): Promise<number>;
}

export type Step =
  | {
      readonly kind: 'take';
      readonly daemon: number;
      readonly user: string;
      readonly count: number;
      /** How many come before the next turn; those of later turns meet an exchange with the store under way. */
      readonly perTurn: number;
    }
  | { readonly kind: 'limit'; readonly user: string; readonly limit: number | null }
  | { readonly kind: 'wall'; readonly wallMs: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'stop' | 'crash'; readonly daemon: number }
  | { readonly kind: 'fail'; readonly when: 'before' | 'after' };

const MIDNIGHT_MS = Date.UTC(2026, 5, 2);
const USERS = ['ann', 'bob'];
/** A crash may forget what was admitted that long ago. */
const FORGOTTEN_MS = 5_000;

export function steps(hasFailures: boolean): fc.Arbitrary<Step[]> {
  const daemon = fc.nat(2);
  const user = fc.constantFrom('ann', 'ann', 'ann', ...USERS);
  // Few values, so that a limit comes back after another one.
  const limit = fc.constantFrom(0, 3, 10, 10, 25, 60, null);
  const wallMs = fc
    .record({ day: fc.integer({ min: -1, max: 1 }), offset: fc.constantFrom(-1, 0, 1, 43_200_000) })
    .map(({ day, offset }) => MIDNIGHT_MS + day * DAY_MS + offset);
  const ms = fc.constantFrom(1, 100, 900, 2_000, 5_000, 9_000);
  const when = fc.constantFrom('before' as const, 'after' as const);
  const one = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('take' as const),
        daemon,
        user,
        count: fc.integer({ min: 1, max: 20 }),
        perTurn: fc.constantFrom(1, 3, 20),
      }),
    },
    { weight: 7, arbitrary: fc.record({ kind: fc.constant('limit' as const), user, limit }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wall' as const), wallMs }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), daemon }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), daemon }) },
    {
      weight: hasFailures ? 3 : 0,
      arbitrary: fc.record({ kind: fc.constant('fail' as const), when }),
    },
  );
  return fc.array(one, { minLength: 1, maxLength: 60 });
}

interface Count {
  min: number;
  max: number;
  /** Requests that failed: the store may have counted them, and takes that back later. */
  doubt: number;
  /** Admitted ones, which their daemon may forget when it crashes. */
  readonly admitted: { readonly daemon: Daemon; readonly atMs: number; readonly count: number }[];
}

interface Player {
  readonly world: LimitsWorld;
  readonly daemons: Daemon[];
  readonly counts: Map<string, Count>;
  readonly limits: Map<string, number | null>;
  wallMs: number;
  /** No request failed, no daemon crashed, and there is only one. */
  isExact: boolean;
}

/** Plays the steps in a fresh world, and checks every answer. */
export async function play(
  world: LimitsWorld,
  daemonCount: number,
  script: readonly Step[],
): Promise<void> {
  const player: Player = {
    world,
    daemons: [],
    counts: new Map(),
    limits: new Map(USERS.map((user) => [user, 10])),
    wallMs: MIDNIGHT_MS - 1,
    isExact: daemonCount === 1,
  };
  for (let i = 0; i < daemonCount; i++) player.daemons.push(world.open());
  for (const step of script) await playStep(player, step);
  world.heal();
  for (const daemon of player.daemons) await settle(daemon.ledger.close());
  for (const [key, { min, max }] of player.counts) {
    const [day = '', user = ''] = key.split(' ');
    const used = await world.read(user, day);
    assert.ok(
      used >= min && used <= max,
      `${key}: ${used} in the store, ${min} to ${max} expected`,
    );
  }
}

async function playStep(player: Player, step: Step): Promise<void> {
  const { world } = player;
  if (step.kind === 'take') await playTakes(player, step);
  else if (step.kind === 'limit') player.limits.set(step.user, step.limit);
  else if (step.kind === 'wall') player.wallMs = step.wallMs;
  else if (step.kind === 'advance') await world.advance(step.ms);
  else if (step.kind === 'fail') {
    player.isExact = false;
    world.fail(step.when);
  } else await playEnd(player, step.kind, step.daemon % player.daemons.length);
}

async function playEnd(player: Player, kind: 'stop' | 'crash', index: number): Promise<void> {
  const { world, daemons } = player;
  const daemon = daemons[index];
  assert.ok(daemon !== undefined);
  if (kind === 'stop') {
    world.heal();
    await settle(daemon.ledger.close());
    daemons[index] = world.open();
    return;
  }
  const gone = world.isShared ? [daemon] : [...daemons];
  for (const one of gone) {
    one.crash();
    // Daemons that share a store have it count each request.
    if (world.isShared) continue;
    for (const count of player.counts.values()) forget(count, one, world.nowMs());
  }
  for (const [i, one] of daemons.entries()) if (gone.includes(one)) daemons[i] = world.open();
}

function forget(count: Count, daemon: Daemon, nowMs: number): void {
  for (const one of count.admitted) {
    const isForgotten = one.daemon === daemon && nowMs - one.atMs <= FORGOTTEN_MS;
    if (isForgotten) count.min = Math.max(0, count.min - one.count);
  }
}

async function playTakes(
  player: Player,
  { daemon: index, user, count, perTurn }: Step & { readonly kind: 'take' },
): Promise<void> {
  const { world, wallMs, counts } = player;
  const daemon = player.daemons[index % player.daemons.length];
  assert.ok(daemon !== undefined);
  const limit = player.limits.get(user) ?? null;
  const key = `${new Date(wallMs).toISOString().slice(0, 10)} ${user}`;
  const bounds = counts.get(key) ?? { min: 0, max: 0, doubt: 0, admitted: [] };
  counts.set(key, bounds);
  const all = Array.from({ length: count }, async (_, i) => {
    for (let turn = Math.floor(i / perTurn); turn > 0; turn--) await Promise.resolve();
    return daemon.ledger.take(user, limit, wallMs);
  });
  const outcomes = await settle(Promise.allSettled(all));
  const decisions = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const admitted = decisions.filter((one) => one.admitted).length;
  const failedCount = count - decisions.length;
  if (failedCount > 0) assert.ok(!player.isExact, 'a request failed');
  bounds.max += failedCount;
  bounds.doubt += failedCount;
  if (limit === null) assert.equal(admitted + failedCount, count);
  else narrow(bounds, limit, { count, admitted, failedCount }, key);
  bounds.min += admitted;
  bounds.max += admitted;
  bounds.admitted.push({ daemon, atMs: world.nowMs(), count: admitted });
  checkFigures(player, decisions, limit, bounds);
}

/** Checks the number of admitted ones, and learns from it what counts. */
function narrow(
  bounds: Count,
  limit: number,
  taken: { readonly count: number; readonly admitted: number; readonly failedCount: number },
  key: string,
): void {
  const { count, admitted, failedCount } = taken;
  const decided = count - failedCount;
  const least = Math.min(decided, Math.max(0, limit - bounds.max));
  const most = Math.min(decided, Math.max(0, limit - bounds.min));
  const range = `${least} to ${most} of ${count}, limit ${limit}, used ${bounds.min} to ${bounds.max}`;
  assert.ok(admitted >= least && admitted <= most, `${key}: ${admitted} admitted, not ${range}`);
  if (admitted < decided) bounds.min = Math.max(bounds.min, limit - admitted - bounds.doubt);
  if (admitted > 0) bounds.max = Math.min(bounds.max, limit - admitted + failedCount);
}

function checkFigures(
  player: Player,
  decisions: readonly Decision[],
  limit: number | null,
  bounds: Count,
): void {
  const resetAtMs = (Math.floor(player.wallMs / DAY_MS) + 1) * DAY_MS;
  for (const decision of decisions) {
    assert.equal(decision.limit, limit);
    assert.equal(decision.resetAtMs, resetAtMs);
    if (limit === null) assert.equal(decision.remaining, null);
    else if (!decision.admitted) assert.equal(decision.remaining, 0);
    else {
      const remaining = decision.remaining ?? -1;
      assert.ok(remaining >= Math.max(0, limit - bounds.max) && remaining < limit, `${remaining}`);
    }
  }
  if (!player.isExact || limit === null || bounds.min !== bounds.max) return;
  const remaining = decisions.filter((one) => one.admitted).map((one) => one.remaining);
  const expected = remaining.map((_, i) => limit - bounds.min + remaining.length - 1 - i);
  assert.deepEqual(remaining, expected);
}

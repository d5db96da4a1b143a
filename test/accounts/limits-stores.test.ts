// The ledger on real stores: random histories against the model on both engines, and on PostgreSQL several concurrent
// daemons, each with its own connections, whose ticks come ten times as fast.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { Store } from '../../daemon/store/store.ts';
import { onEmbedded, onPostgres, type Location } from '../store/harness.ts';
import { advance, Daemon, NOON_MS, settle, stopTime, TODAY } from './limits-harness.ts';
import { play, steps, type LimitsWorld } from './limits-model.ts';

const SPEED = 10;
const FAST = { tickMs: 2_000 / SPEED };

async function embeddedWorld(location: Location): Promise<LimitsWorld> {
  let nowMs = 0;
  const open = (): Promise<Store> => location.open({ now: () => NOON_MS + nowMs });
  let store = await open();
  return {
    isShared: false,
    nowMs: () => nowMs,
    open: () => Promise.resolve(new Daemon(store.usage)),
    reopen: async () => {
      await store.close();
      store = await open();
    },
    advance: (ms) => {
      nowMs += ms;
      return advance(ms);
    },
    settle,
    fail: () => {},
    heal: () => {},
    read: (userId, day) => store.usage.read(userId, day),
  };
}

/** A daemon with its own connections. */
async function openDaemon(location: Location): Promise<Daemon> {
  return new Daemon((await location.open()).usage, FAST);
}

async function postgresWorld(location: Location): Promise<LimitsWorld> {
  const reader = await location.open();
  // Each has its connections: daemons that have ended leave theirs to the next one.
  const stores = [await location.open(), await location.open()];
  let opened = 0;
  return {
    isShared: true,
    nowMs: () => performance.now() * SPEED,
    open: () => {
      const store = stores[opened++ % stores.length];
      assert.ok(store !== undefined);
      return Promise.resolve(new Daemon(store.usage, FAST));
    },
    reopen: () => Promise.resolve(),
    advance: (ms) => sleep(ms / SPEED),
    settle: (promise) => promise,
    fail: () => {},
    heal: () => {},
    read: (userId, day) => reader.usage.read(userId, day),
  };
}

async function admittedOf(all: Iterable<Promise<{ readonly admitted: boolean }>>): Promise<number> {
  const decisions = await Promise.all(all);
  return decisions.filter(({ admitted }) => admitted).length;
}

onEmbedded('limits', (world) => {
  beforeEach(stopTime);
  afterEach(() => mock.timers.reset());

  test('random histories match the model', async () => {
    await fc.assert(
      fc.asyncProperty(steps(), (script) =>
        world.within(async (location) => play(await embeddedWorld(location), 1, script)),
      ),
      { numRuns: 25 },
    );
  });
});

onPostgres('limits', (world) => {
  for (const daemonCount of [1, 3]) {
    test(`${daemonCount} at once, random histories match the model`, async () => {
      await fc.assert(
        fc.asyncProperty(steps(), (script) =>
          world.within(async (location) =>
            play(await postgresWorld(location), daemonCount, script),
          ),
        ),
        { numRuns: 4 },
      );
    });
  }

  test('concurrent daemons admit exactly the limit, and n more after it is raised by n', () =>
    world.within(async (location) => {
      const daemons = [
        await openDaemon(location),
        await openDaemon(location),
        await openDaemon(location),
      ];
      const users = Array.from({ length: 25 }, (_, i) => `u${i}`);
      const round = async (limit: number, perDaemon: number): Promise<number[]> => {
        const ofUser = (user: string): Promise<number> => {
          const all = daemons.flatMap(({ ledger }) =>
            Array.from({ length: perDaemon }, async (_, i) => {
              await sleep((i * 7) % 40);
              return ledger.take(user, limit, NOON_MS);
            }),
          );
          return admittedOf(all);
        };
        return await Promise.all(users.map(ofUser));
      };
      assert.deepEqual(await round(100, 60), Array(25).fill(100));
      assert.deepEqual(await round(117, 20), Array(25).fill(17));
      assert.deepEqual(await round(117, 3), Array(25).fill(0));
      for (const daemon of daemons) await daemon.ledger.close();
      const reader = await location.open();
      for (const user of users) assert.equal(await reader.usage.read(user, TODAY), 117);
    }));

  test('a restarting server: requests fail meanwhile, and all admitted ones count', () =>
    world.within(async (location) => {
      const daemon = await openDaemon(location);
      let admitted = 0;
      let failed = 0;
      const take = async (): Promise<void> => {
        try {
          if ((await daemon.ledger.take('u', null, NOON_MS)).admitted) admitted++;
        } catch (error) {
          assert.equal((error as { errorCode?: string }).errorCode, 'NOT_READY');
          failed++;
        }
      };
      for (let i = 0; i < 20; i++) await take();
      await world.server?.stop('fast');
      for (let i = 0; i < 3; i++) await take();
      assert.ok(failed > 0);
      await world.server?.start();
      for (let i = 0; i < 20; i++) await take();
      await daemon.ledger.close();
      const reader = await location.open();
      assert.equal(await reader.usage.read('u', TODAY), admitted);
    }));
});

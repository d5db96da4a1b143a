// Random histories against the model, on a store in memory: thousands of them, with crashes and failures at
// any step, as time passes only when the test says so.

import { test } from 'node:test';
import * as fc from 'fast-check';
import { Daemon } from './daemon.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryUsage } from './memory-usage.ts';
import { play, steps } from './model.ts';
import type { LimitsWorld } from './model.ts';

function memoryWorld(isShared: boolean): LimitsWorld {
  const clock = new FakeClock();
  const store = new MemoryUsage(isShared);
  return {
    isShared,
    nowMs: () => clock.nowMs(),
    open: () => Promise.resolve(new Daemon(store, clock)),
    reopen: () => Promise.resolve(),
    advance: (ms) => clock.advance(ms),
    settle: (promise) => clock.settle(promise),
    fail: (when) => void store.failures.push(when),
    heal: () => {
      store.failures = [];
    },
    read: (userId, day) => store.read(userId, day),
  };
}

const CASES: readonly (readonly [name: string, isShared: boolean, daemonCount: number])[] = [
  ['own store, one daemon', false, 1],
  ['shared store, one daemon', true, 1],
  ['shared store, two daemons', true, 2],
  ['shared store, three daemons', true, 3],
];

for (const [name, isShared, daemonCount] of CASES) {
  for (const hasFailures of [false, true]) {
    test(`${name}${hasFailures ? ', failures' : ''}: as the model says`, async () => {
      await fc.assert(
        fc.asyncProperty(steps({ hasFailures }), async (script) => {
          await play(memoryWorld(isShared), daemonCount, script);
        }),
        { numRuns: 300 },
      );
    });
  }
}

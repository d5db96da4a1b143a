// Tests of the bound on git processes: how many run, who is next, who is refused, who gives up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GitBusyError, Slots } from '../../daemon/repos/git-slots.ts';

const { signal } = new AbortController();

/** A piece of work that ends when it is told to. */
function work(): { run: () => Promise<void>; isRunning: boolean; end: () => void } {
  const state = {
    isRunning: false,
    end: () => {},
    run: () => {
      state.isRunning = true;
      return new Promise<void>((resolve) => (state.end = resolve));
    },
  };
  return state;
}

test('so many run, so many wait in order, the next is refused', async () => {
  const slots = new Slots({ runningMax: 2, waitingMax: 2 });
  const works = [work(), work(), work(), work()];
  const runs = works.map(({ run }) => slots.run(signal, run));
  await assert.rejects(slots.run(signal, work().run), GitBusyError);
  await Promise.resolve();
  assert.deepEqual(
    works.map(({ isRunning }) => isRunning),
    [true, true, false, false],
  );
  works[1]!.end();
  await runs[1];
  assert.deepEqual([works[2]!.isRunning, works[3]!.isRunning], [true, false]);
  works[0]!.end();
  await runs[0];
  assert.equal(works[3]!.isRunning, true);
  works[2]!.end();
  works[3]!.end();
  await Promise.all(runs);
  assert.deepEqual(slots.counts, { running: 0, waiting: 0 });
});

test('a failure gives the slot back; who gives up leaves the queue', async () => {
  const slots = new Slots({ runningMax: 1, waitingMax: 1 });
  const first = work();
  const running = slots.run(signal, first.run);
  const abort = new AbortController();
  const waiting = slots.run(abort.signal, work().run);
  abort.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
  const failing = slots.run(signal, () => Promise.reject(new Error('broken')));
  first.end();
  await running;
  await assert.rejects(failing, /broken/);
  await assert.rejects(
    slots.run(abort.signal, () => Promise.resolve()),
    /left/,
  );
  assert.deepEqual(slots.counts, { running: 0, waiting: 0 });
  assert.equal(await slots.run(signal, () => Promise.resolve(7)), 7);
});

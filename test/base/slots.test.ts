// The limit on concurrent work of one kind: how many run, who is next, who is refused, who gives up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from '../../daemon/base/slots.ts';

const { signal } = new AbortController();

class BusyError extends Error {}

const busyError = (): Error => new BusyError();

/** A task that ends when told to. */
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

test('a number run, a number wait in order, the next is refused', async () => {
  const slots = new Slots({ runningMax: 2, waitingMax: 2, busyError });
  const works = [work(), work(), work(), work()];
  const runs = works.map(({ run }) => slots.run('one', signal, run));
  await assert.rejects(slots.run('one', signal, work().run), BusyError);
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

test('a failure releases the slot; an aborted caller leaves the queue', async () => {
  const slots = new Slots({ runningMax: 1, waitingMax: 1, busyError });
  const first = work();
  const running = slots.run('one', signal, first.run);
  const abort = new AbortController();
  const waiting = slots.run('one', abort.signal, work().run);
  abort.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
  const failing = slots.run('one', signal, () => Promise.reject(new Error('broken')));
  first.end();
  await running;
  await assert.rejects(failing, /broken/);
  await assert.rejects(
    slots.run('one', abort.signal, () => Promise.resolve()),
    /left/,
  );
  assert.deepEqual(slots.counts, { running: 0, waiting: 0 });
  assert.equal(await slots.run('one', signal, () => Promise.resolve(7)), 7);
});

test('a slot goes to the client with the fewest running tasks, in order of arrival', async () => {
  const slots = new Slots({ runningMax: 2 });
  const [first, second, third, fourth, other] = Array.from({ length: 5 }, work);
  const own = [first!, second!, third!, fourth!].map(({ run }) => slots.run('one', signal, run));
  const others = slots.run('two', signal, other!.run);
  const areRunning = (): boolean[] => [third!, fourth!, other!].map(({ isRunning }) => isRunning);
  first!.end();
  await own[0];
  assert.deepEqual(areRunning(), [false, false, true]);
  other!.end();
  await others;
  assert.deepEqual(areRunning(), [true, false, true]);
  for (const [index, each] of [second!, third!, fourth!].entries()) {
    each.end();
    await own[index + 1];
  }
  assert.deepEqual(slots.counts, { running: 0, waiting: 0 });
});

test('one client gets neither all slots nor the whole queue', async () => {
  const slots = new Slots({
    runningMax: 4,
    waitingMax: 4,
    runningOfOneMax: 3,
    waitingOfOneMax: 3,
    busyError,
  });
  const tasks = Array.from({ length: 6 }, work);
  const runs = tasks.map(({ run }) => slots.run('one', signal, run));
  await assert.rejects(slots.run('one', signal, work().run), BusyError);
  const isRunning = (): boolean[] => tasks.map((each) => each.isRunning);
  assert.deepEqual(isRunning(), [true, true, true, false, false, false]);
  assert.equal(await slots.run('two', signal, () => Promise.resolve(2)), 2);
  const [second, third] = [work(), work()];
  const others = [slots.run('two', signal, second.run), slots.run('three', signal, third.run)];
  assert.deepEqual([second.isRunning, third.isRunning], [true, false]);
  second.end();
  await others[0];
  assert.equal(third.isRunning, true, 'it passes those whose client has its share');
  third.end();
  for (const each of tasks) {
    await new Promise(setImmediate);
    each.end();
  }
  await Promise.all([...runs, ...others]);
  assert.deepEqual(slots.counts, { running: 0, waiting: 0 });
});

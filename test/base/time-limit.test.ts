// Time limits apply whatever clients leave, with any number of listeners.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limitedSignal, TimeLimit } from '../../daemon/base/time-limit.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('the time limit works while garbage is collected', async () => {
  const client = new AbortController();
  const signal = limitedSignal(client.signal, 300, 'over');
  const over = once(signal, 'abort');
  // Why in another turn: what this one made is not collected before it ends.
  await sleep(1);
  collect();
  const clock = setInterval(() => {}, 1000);
  await over;
  clearInterval(clock);
  assert.equal((signal.reason as Error).name, 'TimeoutError');
});

test('a disconnected client ends the work, also before it starts', () => {
  const client = new AbortController();
  const signal = limitedSignal(client.signal, 60_000, 'over');
  client.abort(new Error('left'));
  assert.equal(signal.reason, client.signal.reason);
  assert.equal(limitedSignal(client.signal, 60_000, 'over').reason, client.signal.reason);
});

test('any number of listeners, without a warning', async () => {
  const warnings: unknown[] = [];
  const note = (warning: unknown): unknown => warnings.push(warning);
  process.on('warning', note);
  const time = new TimeLimit(60_000, new AbortController().signal);
  for (let i = 0; i < 100; i++) time.signal.addEventListener('abort', () => {});
  await sleep(1);
  time.end();
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

// The time that git has for a request, and the client that leaves before.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gitSignal } from '../../../../daemon/http/api/sources/git-calls.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('the time limit holds when garbage is collected meanwhile', { timeout: 240_000 }, async () => {
  const client = new AbortController();
  const signal = gitSignal({ signal: client.signal, settings: { gitTimeoutMs: 300 } });
  const over = once(signal, 'abort');
  // Why in another turn: what this one made is not collected before it ends.
  await sleep(1);
  collect();
  const clock = setInterval(() => {}, 1000);
  await over;
  clearInterval(clock);
  assert.equal((signal.reason as Error).name, 'TimeoutError');
});

test('a client that leaves ends the work, before it begins too', () => {
  const client = new AbortController();
  const settings = { gitTimeoutMs: 60_000 };
  const signal = gitSignal({ signal: client.signal, settings });
  client.abort(new Error('left'));
  assert.equal(signal.reason, client.signal.reason);
  assert.equal(gitSignal({ signal: client.signal, settings }).reason, client.signal.reason);
});

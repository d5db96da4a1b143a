// Answers buffered for slow readers: counted against the share of their caller, released when the reader disconnects,
// and dropped for a stalled reader.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf, resultOf } from './answers.ts';
import { adapters, onBothAdapters } from './adapters.ts';
import { closeWorlds, eventually, openWire, searchWith, startWorld } from './harness.ts';
import type { World, Wire } from './harness.ts';

const MIB = 1024 * 1024;
const ANSWER = answerOf([resultOf('x'.repeat(24 * MIB))]);
const SMALL = answerOf([resultOf('x'.repeat(MIB))]);
const BODY = { query: 'x', matches: 1 };

/** Asks, and reads nothing of what comes. */
function requestSlowly(world: World): Wire {
  const wire = openWire(world.server);
  wire.socket.removeAllListeners('data');
  wire.socket.pause();
  wire.post('/api/search', BODY);
  return wire;
}

onBothAdapters('buffered answers', (kind) => {
  test('above the share of a caller: 503; released when the reader disconnects', async () => {
    let answer = ANSWER;
    const world = await startWorld({
      kind,
      settings: { memory: 8 * 40 * MIB },
      search: () => Promise.resolve(answer),
    });
    const slow = requestSlowly(world);
    let refused = await world.call(searchWith(BODY));
    while (refused.status === 200) refused = await world.call(searchWith(BODY));
    assert.equal(refused.status, 503);
    assert.equal(refused.json()['errorCode'], 'SERVER_OVERLOADED');
    assert.equal(refused.headers['retry-after'], '1');
    answer = SMALL;
    assert.equal((await world.call(searchWith(BODY))).status, 200);
    answer = ANSWER;
    slow.socket.destroy();
    // The daemon learns of it soon.
    for (let status = 503; status === 503;) status = (await world.call(searchWith(BODY))).status;
  });

  test('the memory of an answer is released after it was sent, encoded, or its reader disconnected', async () => {
    let [searchCount, count] = [0, 0];
    let answer = SMALL;
    const world = await startWorld({
      kind,
      settings: { memory: 8 * 40 * MIB },
      search: () => {
        searchCount++;
        return Promise.resolve(answer);
      },
      onRelease: () => count++,
    });
    const send = (headers: Record<string, string>) => world.call(searchWith(BODY, headers));
    assert.equal((await send({})).status, 200);
    await eventually(() => count === 1);
    assert.equal((await send({ Accept: 'application/msgpack' })).status, 200);
    await eventually(() => count === 2);
    answer = ANSWER;
    const slow = requestSlowly(world);
    await eventually(() => searchCount === 3);
    await world.call({ path: '/api/version' });
    assert.equal(count, 2);
    slow.socket.destroy();
    await eventually(() => count === 3);
    // It did not get all of it.
    const lines = () => world.lines.filter(({ route }) => route === '/api/search');
    await eventually(() => lines().length === 3);
    assert.deepEqual(
      lines().map(({ status }) => status),
      [200, 200, 499],
    );
  });

  test('every answer reports its end', async () => {
    const sizes: number[] = [];
    const world = await startWorld({
      kind,
      search: ({ query }) => Promise.resolve(query === 'x' ? SMALL : answerOf()),
      onAnswerOver: (size) => void sizes.push(size),
    });
    for (const query of ['nothing', 'x', '(']) {
      const { length } = sizes;
      await world.call(searchWith({ query, matches: 1 }));
      await eventually(() => sizes.length === length + 1);
    }
    await world.call({ path: '/api/none' });
    await eventually(() => sizes.length === 4);
    assert.ok(sizes.some((size) => size >= MIB));
  });

  test('an answer that is too large alone is refused', async () => {
    const world = await startWorld({
      kind,
      settings: { memory: MIB },
      search: () => Promise.resolve(SMALL),
    });
    const reply = await world.call(searchWith(BODY));
    assert.equal(reply.json()['errorCode'], 'SERVER_OVERLOADED');
  });

  test('a reader that stalls too long is disconnected', async () => {
    const world = await startWorld({
      kind,
      settings: { memory: 8 * 40 * MIB },
      streamStallMs: 200,
      search: () => Promise.resolve(ANSWER),
    });
    const slow = requestSlowly(world);
    await eventually(() => world.lines.some(({ status }) => status === 499));
    // It never leaves: the daemon gives its share back all the same.
    for (let status = 503; status === 503;) status = (await world.call(searchWith(BODY))).status;
    slow.socket.destroy();
  });
});

// Both at once: it is the waiting that takes long.
test('a reader that pauses gets the whole answer', async (t) => {
  t.after(closeWorlds);
  const readLate = async (kind: 'uws' | 'node'): Promise<void> => {
    const world = await startWorld({ kind, search: () => Promise.resolve(ANSWER) });
    const slow = requestSlowly(world);
    // Longer than the time of a library.
    await sleep(15_000);
    let size = 0;
    slow.socket.on('data', (text: string) => (size += text.length));
    slow.socket.resume();
    await eventually(() => size > 24 * MIB || slow.socket.destroyed);
    assert.ok(size > 24 * MIB, `${size} bytes`);
    slow.socket.destroy();
  };
  await Promise.all(adapters().map(readLate));
});

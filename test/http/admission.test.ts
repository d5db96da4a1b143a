// Admission of searches: permits, shares, time slices. Searches are simulated by the test; that they alternate is
// asserted, not how soon.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../daemon/api/shapes/api-error.ts';
import { Admission, type Permit } from '../../daemon/http/admission.ts';
import { eventually } from './harness.ts';

const never = new AbortController().signal;

const NEVER_MS = 1e9;

/** @param quantumMs  0: whoever runs gives way at once */
function admissionOf(runningMax: number, waitingMax: number, quantumMs = NEVER_MS): Admission {
  return new Admission({ runningMax, waitingMax, quantumMs });
}

/** A search that counts how often it was paused. */
class Played {
  isPaused = false;
  pauseCount = 0;

  pause(): void {
    this.isPaused = true;
    this.pauseCount++;
  }

  resume(): void {
    this.isPaused = false;
  }
}

async function playedAt(
  admission: Admission,
  clientKey: string,
): Promise<{ permit: Permit; search: Played }> {
  const permit = await admission.acquire(clientKey, never);
  const search = new Played();
  permit.attach(search);
  return { permit, search };
}

function assertOverloaded(error: unknown): true {
  assert.ok(error instanceof ApiError);
  assert.equal(error.errorCode, 'SERVER_OVERLOADED');
  assert.equal(error.headers['Retry-After'], '1');
  return true;
}

describe('admission', () => {
  test('one client gets all permits, and returns half of them at once to others', async () => {
    const admission = admissionOf(4, 8);
    const own: Awaited<ReturnType<typeof playedAt>>[] = [];
    for (let i = 0; i < 4; i++) own.push(await playedAt(admission, 'a'));
    const waiting = admission.acquire('a', never);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [4, 1]);
    const others = [await playedAt(admission, 'b'), await playedAt(admission, 'c')];
    assert.deepEqual([admission.runningCount, admission.waitingCount], [4, 3]);
    assert.deepEqual(
      own.map(({ search }) => search.isPaused),
      [true, true, false, false],
    );
    const late = admission.acquire('d', never);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [4, 4], 'half is kept');
    for (const { permit } of [...others, ...own]) {
      permit.release();
      permit.release();
    }
    for (const permit of await Promise.all([waiting, late])) permit.release();
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('one client gets the whole queue, and gives way to others', async () => {
    const admission = admissionOf(1, 4);
    const running = await admission.acquire('a', never);
    const outcomes: string[] = [];
    const requested = ['a', 'a', 'a', 'a', 'b', 'c', 'd', 'e'].map(async (clientKey) => {
      try {
        (await admission.acquire(clientKey, never)).release();
        outcomes.push(clientKey);
      } catch (error) {
        assertOverloaded(error);
      }
    });
    assert.equal(admission.waitingCount, 4);
    running.release();
    await Promise.all(requested);
    assert.deepEqual(outcomes.toSorted(), ['a', 'b', 'c', 'd']);
  });

  test('a single permit can be taken, and can be waited for', async () => {
    const admission = admissionOf(1, 1);
    const first = await admission.acquire('a', never);
    const second = admission.acquire('b', never);
    await assert.rejects(admission.acquire('c', never), assertOverloaded);
    first.release();
    (await second).release();
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('a request that leaves the queue is forgotten', async () => {
    const admission = admissionOf(1, 8);
    const first = await admission.acquire('a', never);
    const leaving = new AbortController();
    const second = admission.acquire('a', leaving.signal);
    const third = admission.acquire('a', never);
    leaving.abort();
    await assert.rejects(second, { name: 'ClientGoneError' });
    assert.equal(admission.waitingCount, 1);
    first.release();
    (await third).release();
    await assert.rejects(admission.acquire('a', leaving.signal), { name: 'ClientGoneError' });
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('a free permit goes to the client with the fewest running searches', async () => {
    const admission = admissionOf(4, 40);
    const clients = ['a', 'a', 'b', 'b'];
    const running = await Promise.all(clients.map((one) => admission.acquire(one, never)));
    const order: string[] = [];
    const requested = ['a', 'a', 'c', 'b', 'd'].map(async (clientKey) => {
      const permit = await admission.acquire(clientKey, never);
      order.push(clientKey);
      permit.release();
    });
    running[0]?.release();
    await Promise.all(requested.slice(0, 1));
    for (const permit of running) permit.release();
    await Promise.all(requested);
    assert.deepEqual(order.slice(0, 2), ['c', 'd']);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('in a full queue the client with the most waiting searches gives way to another one', async () => {
    const admission = admissionOf(1, 8);
    const release = await admission.acquire('x', never);
    const outcomes: string[] = [];
    const request = async (clientKey: string): Promise<void> => {
      try {
        (await admission.acquire(clientKey, never)).release();
        outcomes.push(`${clientKey} ran`);
      } catch {
        outcomes.push(`${clientKey} refused`);
      }
    };
    const requested = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'e'].map(request);
    assert.equal(admission.waitingCount, 8);
    release.release();
    await Promise.all(requested);
    assert.equal(outcomes.filter((one) => one.endsWith('refused')).length, 2);
    assert.equal(outcomes.filter((one) => one === 'e refused').length, 1);
    assert.equal(outcomes.filter((one) => one.endsWith('ran')).length, 8);
  });

  test('long searches alternate with waiting ones, new ones first', async () => {
    const admission = admissionOf(2, 40, 0);
    const long = [await playedAt(admission, 'a'), await playedAt(admission, 'b')];
    const third = await playedAt(admission, 'c');
    assert.equal(admission.runningCount, 2);
    assert.equal(long.filter(({ search }) => search.isPaused).length, 1, 'one gave way');
    await eventually(() => long.every(({ search }) => search.pauseCount > 1));
    const guest = await playedAt(admission, 'guest');
    assert.equal(admission.runningCount, 2);
    guest.permit.release();
    for (const { permit, search } of [...long, third]) {
      permit.release();
      search.resume();
    }
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('a search of the same client gets time slices too', async () => {
    const admission = admissionOf(4, 40, 0);
    const long = [await playedAt(admission, 'a'), await playedAt(admission, 'a')];
    const short = await playedAt(admission, 'a');
    short.permit.release();
    await eventually(() => long.every(({ search }) => !search.isPaused));
    for (const { permit } of long) permit.release();
    assert.equal(admission.waitingCount, 0);
  });

  test('nobody gives way to a client that has its half', async () => {
    const admission = admissionOf(4, 40, 0);
    const own = [await playedAt(admission, 'b'), await playedAt(admission, 'b')];
    const others = [await playedAt(admission, 'a'), await playedAt(admission, 'a')];
    const more = admission.acquire('a', never);
    await eventually(() => others.some(({ search }) => search.pauseCount > 0));
    assert.deepEqual(
      own.map(({ search }) => search.pauseCount),
      [0, 0],
    );
    for (const { permit } of [...own, ...others]) permit.release();
    (await more).release();
  });

  test('a search with a stalled reader gives its permit to others', async () => {
    const admission = admissionOf(1, 8);
    const slow = await playedAt(admission, 'a');
    slow.permit.rest();
    assert.equal(slow.search.isPaused, true);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
    const other = await admission.acquire('b', never);
    slow.permit.want();
    assert.equal(slow.search.isPaused, true);
    other.release();
    assert.equal(slow.search.isPaused, false);
    assert.equal(slow.permit.whenRunning(), undefined);
    slow.permit.rest();
    slow.permit.release();
    slow.permit.want();
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('a search that is not ready when it loses its permit starts paused', async () => {
    const admission = admissionOf(1, 8, 0);
    const first = await admission.acquire('a', never);
    const second = await admission.acquire('b', never);
    assert.equal(second.whenRunning(), undefined);
    const search = new Played();
    first.attach(search);
    assert.equal(search.isPaused, true);
    const firstRunning = first.whenRunning();
    second.release();
    await firstRunning;
    assert.equal(search.isPaused, false);
    first.release();
  });

  test('at its deadline a waiting search ends', async () => {
    const admission = new Admission({
      runningMax: 1,
      waitingMax: 8,
      timeoutMs: 1,
      quantumMs: NEVER_MS,
    });
    const first = await admission.acquire('a', never);
    const second = await admission.acquire('a', never);
    assert.deepEqual(
      [second.whenRunning(), admission.runningCount, admission.waitingCount],
      [undefined, 1, 0],
    );
    second.release();
    first.release();
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });

  test('a paused search gets a time slice at its deadline, and a running one keeps its permit', async () => {
    const admission = new Admission({ runningMax: 1, waitingMax: 8, timeoutMs: 300, quantumMs: 0 });
    const first = await playedAt(admission, 'a');
    const second = await playedAt(admission, 'b');
    assert.equal(first.search.isPaused, true);
    const third = await playedAt(admission, 'c');
    await eventually(
      () => first.permit.isExpired && second.permit.isExpired && third.permit.isExpired,
    );
    for (const { permit } of [first, second, third]) assert.equal(permit.whenRunning(), undefined);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [1, 0]);
    const late = admission.acquire('d', never);
    assert.deepEqual([admission.runningCount, admission.waitingCount], [1, 1], 'nobody is moved');
    for (const { permit } of [first, second, third]) permit.release();
    (await late).release();
  });

  test('new searches do not starve an old one', async () => {
    for (const ageMs of [0, NEVER_MS]) {
      const admission = new Admission({ runningMax: 1, waitingMax: 8, quantumMs: NEVER_MS, ageMs });
      const long = await admission.acquire('long', never);
      long.rest();
      const short = await admission.acquire('a', never);
      long.want();
      const other = admission.acquire('b', never);
      short.release();
      assert.equal(long.whenRunning() === undefined, ageMs === 0);
      long.release();
      (await other).release();
      assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
    }
  });

  test('paused searches do not block others', async () => {
    const admission = admissionOf(1, 2);
    for (let i = 0; i < 2; i++) (await admission.acquire('slow', never)).rest();
    await assert.rejects(admission.acquire('slow', never), assertOverloaded);
    const other = await admission.acquire('b', never);
    const waiting = [admission.acquire('b', never), admission.acquire('c', never)];
    assert.equal(admission.waitingCount, 2);
    other.release();
    for (const one of waiting) (await one).release();
    assert.deepEqual([admission.runningCount, admission.waitingCount], [0, 0]);
  });
});

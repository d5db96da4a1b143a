// Jobs that wait for a code host that says nothing: the repos of other hosts do not wait with them, and one job at a time finds
// out whether it answers again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HostError } from '../../daemon/hosts/host.ts';
import { HostWaits } from '../../daemon/sync/jobs/host-waits.ts';
import { type Daemon, daemonOn, emptyRows, mockTimers, recordOf, turns } from './jobs-of.ts';

/** Repos below this id are at the host `still`, all others at `fine`. */
const FIRST_FINE = 10;

function hostOf(repoId: number): string {
  return repoId < FIRST_FINE ? 'still' : 'fine';
}

function daemonOfHosts(): Promise<Daemon> {
  const fetchHostOf = ({ repoId }: { readonly repoId: number }): string => hostOf(repoId);
  return daemonOn(emptyRows(), { fetchHostOf, timeoutMs: 600_000 });
}

const begunIn = ({ attempts }: Daemon): number[] => attempts.map(({ repoId }) => repoId);

/** The attempts from this one on ask their hosts. */
function requestAll({ attempts }: Daemon, from = 0): void {
  for (const { repoId, context } of attempts.slice(from)) context.onHost(hostOf(repoId), 'asked');
}

function unavailable(): HostError {
  return new HostError('HOST_UNAVAILABLE', 'still: the host does not answer');
}

test('repos of other hosts do not wait for a host that says nothing', async (t) => {
  const move = mockTimers(t);
  const daemon = await daemonOfHosts();
  const { jobs, attempts } = daemon;
  for (const repoId of [1, 2, 3, 5, 11, 12, 13]) jobs.request(recordOf(repoId));
  requestAll(daemon);
  await move(9_999);
  assert.deepEqual(begunIn(daemon), [1, 2]);
  await move(1);
  assert.deepEqual(begunIn(daemon), [1, 2, 11, 12]);
  await attempts[2]!.end();
  assert.deepEqual(begunIn(daemon), [1, 2, 11, 12, 13]);
  await attempts[3]!.end();
  await attempts[4]!.end();
  // One at a time finds out whether it answers.
  await attempts[0]!.end(unavailable());
  assert.equal(attempts.length, 5);
  await attempts[1]!.end(unavailable());
  assert.deepEqual(begunIn(daemon).slice(5), [3]);
  requestAll(daemon, 5);
  await move(1_000);
  assert.equal(attempts.length, 6);
  attempts[5]!.context.onHost('still', 'heard');
  assert.deepEqual(begunIn(daemon).slice(5), [3, 5]);
  await jobs.close();
});

test('a host that answers, however long it takes, takes its places', async (t) => {
  const move = mockTimers(t);
  const daemon = await daemonOfHosts();
  const { jobs, attempts } = daemon;
  for (const repoId of [1, 2, 11]) jobs.request(recordOf(repoId));
  requestAll(daemon);
  for (let second = 0; second < 60; second += 6) {
    await move(6_000);
    for (const { repoId, context } of attempts) context.onHost(hostOf(repoId), 'heard');
  }
  assert.deepEqual(begunIn(daemon), [1, 2]);
  for (const { context } of attempts) context.onFetched();
  await move(60_000);
  assert.deepEqual(begunIn(daemon), [1, 2], 'what is built is no wait');
  await jobs.close();
});

test('a host that cannot be reached is asked by one job at a time; one that says no by all', async (t) => {
  mockTimers(t);
  const daemon = await daemonOfHosts();
  const { jobs, attempts } = daemon;
  for (const repoId of [1, 2, 3, 5, 6, 11, 12]) jobs.request(recordOf(repoId));
  requestAll(daemon);
  await attempts[0]!.end(new HostError('NOT_FOUND', 'still: there is nothing'));
  assert.deepEqual(begunIn(daemon), [1, 2, 3]);
  requestAll(daemon, 2);
  await attempts[1]!.end(unavailable());
  assert.deepEqual(begunIn(daemon), [1, 2, 3, 11, 12]);
  await attempts[2]!.end(unavailable());
  await attempts[3]!.end();
  assert.deepEqual(begunIn(daemon).slice(5), [5], 'although there is a place');
  requestAll(daemon, 5);
  attempts[5]!.context.onFetched();
  assert.equal(attempts.length, 6, 'there is none any more');
  await attempts[4]!.end();
  assert.deepEqual(begunIn(daemon).slice(6), [6]);
  await jobs.close();
});

test('jobs that wait for several hosts are bounded', async (t) => {
  const move = mockTimers(t);
  const fetchHostOf = ({ repoId }: { readonly repoId: number }): string => `host ${repoId}`;
  const daemon = await daemonOn(emptyRows(), { fetchHostOf, timeoutMs: 600_000 });
  const { jobs, attempts } = daemon;
  for (let repoId = 11; repoId <= 30; repoId++) jobs.request(recordOf(repoId));
  for (let round = 0; round < 10; round++) {
    for (const { repoId, context } of attempts.slice(2 * round))
      context.onHost(`host ${repoId}`, 'asked');
    await move(10_000);
  }
  assert.equal(attempts.length, 8);
  await jobs.close();
});

test('what is done while no job works does not wait for a host that says nothing', async (t) => {
  const move = mockTimers(t);
  const daemon = await daemonOfHosts();
  const { jobs, attempts } = daemon;
  for (const repoId of [1, 2, 3, 11]) jobs.request(recordOf(repoId));
  requestAll(daemon);
  let isQuiet = false;
  void jobs.whenQuiet().then(() => (isQuiet = true));
  await move(10_000);
  assert.deepEqual([begunIn(daemon), isQuiet], [[1, 2, 11], false]);
  await attempts[2]!.end();
  assert.equal(isQuiet, true);
  attempts[0]!.context.onHost('still', 'heard');
  const quiet = jobs.whenQuiet().then(() => 'quiet');
  assert.equal(await Promise.race([quiet, turns().then(() => 'busy')]), 'busy');
  await jobs.close();
});

test('whoever looks at the waits hears of each change of them', async (t) => {
  const move = mockTimers(t);
  let changes = 0;
  const waits = new HostWaits(() => changes++);
  const changed = (): number => {
    const now = changes;
    changes = 0;
    return now;
  };
  const still = (): string => 'still';
  waits.begin(1, still);
  waits.note(1, 'still', 'asked');
  waits.note(2, 'still', 'asked');
  assert.equal(changed(), 0);
  await move(10_000);
  assert.ok(changed() > 0);
  assert.deepEqual([waits.isIdle(1), waits.isBlocked(still)], [true, true]);
  waits.note(1, 'still', 'heard');
  assert.ok(changed() > 0);
  // One that stands still by itself goes on to take no place.
  assert.deepEqual(
    [waits.isIdle(1), waits.isIdle(2), waits.isBlocked(still)],
    [false, true, false],
  );
  waits.fail(2, unavailable());
  waits.end(1);
  assert.ok(changed() > 0);
  waits.fail(3, unavailable());
  waits.note(4, 'still', 'asked');
  await move(10_000);
  changed();
  waits.fail(4, unavailable());
  waits.begin(5, still);
  assert.deepEqual([changed(), waits.isIdle(5), waits.isBlocked(still)], [1, true, true]);
  waits.end(5);
  assert.deepEqual([changed(), waits.isBlocked(still)], [1, false]);
});

// The health series of the daemon: points of an hour and of a day, with gaps while the machine slept; only for
// owners.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { HealthSeries } from '../../daemon/app/health-series.ts';
import { closeWorlds, OWNER_KEY, startWorld } from './harness.ts';

after(closeWorlds);

const START = Date.parse('2026-01-02T00:00:00.000Z');
const STEP_MS = 15_000;

function clocked(t: { readonly after: (run: () => void) => void }) {
  const clock = { ms: START };
  const measured = { waiting: 0, privateBytes: 100, shards: 3 };
  const health = new HealthSeries(
    () => measured,
    () => clock.ms,
  );
  t.after(() => health.close());
  const step = (ms = STEP_MS): void => {
    clock.ms += ms;
    health.step();
  };
  return { clock, measured, health, step };
}

test('a point has the number of searches, their durations, and the maximum waiting', (t) => {
  const { health, measured, step } = clocked(t);
  assert.deepEqual(health.series(3600), []);
  for (let i = 1; i <= 150; i++) health.noteSearch(i === 150 ? 1000 : 2);
  measured.waiting = 4;
  step();
  measured.waiting = 0;
  step();
  const [first, second] = health.series(3600);
  assert.equal(first!.searchesPerSecond, 10);
  assert.equal(first!.at, START + STEP_MS);
  for (const [found, ms] of [
    [first!.p50Ms!, 2],
    [first!.p99Ms!, 2],
  ] as const)
    assert.ok(found >= ms && found <= ms * 1.1, `${found}`);
  assert.deepEqual([first!.waiting, first!.privateBytes, first!.shards], [4, 100, 3]);
  assert.deepEqual(
    [second!.searchesPerSecond, second!.p50Ms, second!.p99Ms, second!.waiting],
    [0, null, null, 0],
  );
  health.noteSearch(0);
  health.noteSearch(1e9);
  step();
  const { p50Ms, p99Ms } = health.series(3600)[2]!;
  assert.ok(p50Ms! < 0.02 && p99Ms! > 100_000);
});

test('240 points of each at most; none for the time of a suspended machine', (t) => {
  const { clock, health, step } = clocked(t);
  for (let i = 0; i < 5000; i++) step();
  for (const [window, stepMs] of [
    [3600, STEP_MS],
    [86_400, 24 * STEP_MS],
  ] as const) {
    const times = health.series(window).map(({ at }) => at);
    assert.ok(times.length <= 240 && times.length > 200, `${times.length}`);
    assert.ok(times[0]! > clock.ms - window * 1000);
    assert.ok(times.slice(1, -1).every((at, index) => stepMs === at - times[index]!));
  }
  step(7_200_000);
  assert.deepEqual(
    health.series(3600).map(({ at }) => at),
    [clock.ms],
  );
  clock.ms += 2000;
  health.noteSearch(1);
  const last = health.series(3600).at(-1)!;
  assert.deepEqual([last.at, last.searchesPerSecond], [clock.ms, 0.5]);
});

test('series are only for owners', async () => {
  const world = await startWorld({
    env: {
      TRAWL_ANONYMOUS_ACCESS: 'true',
      TRAWL_OWNER_EMAIL: 'owner@example.com',
      TRAWL_OWNER_API_KEY: OWNER_KEY,
    },
  });
  const headers = { Authorization: `Bearer ${OWNER_KEY}` };
  const path = '/api/health/series';
  assert.equal((await world.call({ path })).status, 401);
  for (const [query, at] of [
    ['', '1970-01-01T00:00:03.600Z'],
    ['?window=86400', '1970-01-01T00:01:26.400Z'],
  ] as const) {
    const { points } = (await world.call({ path: path + query, headers })).json() as {
      points: { at: string }[];
    };
    assert.deepEqual(
      points.map((point) => point.at),
      [at],
    );
  }
  assert.equal((await world.call({ path: `${path}?window=60`, headers })).status, 400);
});

// The two views of indexing progress, on a recording stream.

import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import test from 'node:test';
import { formatBytes, formatDuration } from '../../daemon/cli/format.ts';
import { describeRound, describeStatus } from '../../daemon/cli/commands/status.ts';
import { createProgress, describeProgress, remainingMs } from '../../daemon/cli/progress.ts';
import type { IndexProgress } from '../../daemon/cli/progress.ts';
import type { StatusReport } from '../../daemon/api/shapes/status-report.ts';

/** Records output. */
class Memory extends Writable {
  text = '';
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.text += data.toString();
    done();
  }
}

const PROGRESS: IndexProgress = {
  phase: 'reading',
  repo: 'local/x',
  filesDone: 1234,
  filesTotal: 2000,
  bytesDone: 50e6,
  bytesTotal: 150e6,
  bytesPerSecond: 40e6,
  skipped: 3,
};

const FETCH: StatusReport['jobs']['running'][number] = {
  queue: 'repo-index',
  target: 'host/acme/linux',
  phase: 'receiving',
  done: 45,
  total: 100,
  unit: 'objects',
  receivedSize: 230e6,
  remainingMs: 90_000,
  startedAt: new Date(10_000).toISOString(),
};
const REPORT: StatusReport = {
  url: 'http://x',
  version: '1',
  startedAt: new Date(0).toISOString(),
  repos: { served: 3, indexed: 1, failed: 0 },
  remainingMs: null,
  jobs: {
    running: [{ ...FETCH, phase: null, receivedSize: null, remainingMs: null }, FETCH],
    waiting: 1,
  },
  symbols: null,
  connections: [],
  problems: ['bad'],
  warnings: ['odd'],
};

void test('status: how far a fetch is', () => {
  const step = 'host/acme/linux: receiving 45%, 230 MB received, 1 min 30 s left';
  assert.equal(describeRound(REPORT), `1 of 3 repositories indexed; 3 jobs to do; ${step}`);
  assert.ok(
    describeStatus(REPORT, 20_000).endsWith(`  ${step}, for 10.0 s\n\nbad\nwarning: odd\n`),
  );
});

void test('status: no, one and many repositories; working, waiting, unresponsive and failing ones', () => {
  const connection = { type: 'gitea', repos: 1, indexed: 1, syncedAt: null, failure: null };
  const status = (more: Partial<StatusReport>): string[] =>
    describeStatus({ ...REPORT, problems: [], warnings: [], ...more }, 5_000)
      .trim()
      .split('\n');
  const idle = { running: [], waiting: 0 };
  assert.deepEqual(status({ repos: { served: 0, indexed: 0, failed: 0 }, jobs: idle }), [
    'trawl 1 at http://x, up 5.0 s',
    'no repositories yet',
    'no jobs',
  ]);
  assert.match(status({ url: null })[0]!, /^trawl 1 on its control socket only, up/);
  const symbols = 'symbols of 1 repository are missing: 1 waiting';
  const one = status({
    repos: { served: 1, indexed: 1, failed: 1 },
    jobs: { ...idle, waiting: 2 },
    symbols,
  });
  assert.deepEqual(one.slice(1), [
    '1 repository: 1 indexed, the last job of 1 failed',
    '0 jobs running, 2 waiting',
    symbols,
  ]);
  // Once, where it is a problem.
  assert.equal(status({ symbols, problems: [symbols] }).filter((one) => one === symbols).length, 1);
  const listing = { ...FETCH, queue: 'connection-sync', target: 'acme', phase: null, total: 0 };
  const many = status({
    remainingMs: 90_000,
    jobs: { running: [{ ...listing, receivedSize: null, remainingMs: null }], waiting: 0 },
    connections: [
      { ...connection, name: 'acme', state: 'unanswered', failure: 'host has not answered' },
      { ...connection, name: 'b', state: 'failed', failure: 'why b' },
    ],
    problems: ['host has not answered', 'connection b could not be listed: why b'],
  });
  assert.deepEqual(many.slice(1), [
    '3 repositories: 1 indexed, about 1 min 30 s left',
    '1 job running',
    '  acme: being listed, for -5000 ms',
    '',
    'name  type   repos  indexed  synced at  state',
    'acme  gitea      1        1  -          unanswered',
    'b     gitea      1        1  -          failed',
    '',
    'host has not answered',
    'connection b could not be listed: why b',
  ]);
});

void test('progress: one line has files, bytes, speed, remaining time and exclusions', () => {
  assert.equal(
    describeProgress(PROGRESS),
    'reading local/x: 1,234/2,000 files, 50.0 MB/150 MB, 40.0 MB/s ETA 2.5 s (3 left out)',
  );
  const listing = {
    ...PROGRESS,
    phase: 'listing' as const,
    filesTotal: 0,
    bytesTotal: 0,
    skipped: 0,
  };
  assert.equal(describeProgress(listing), 'listing local/x: 1,234 files, 50.0 MB, 40.0 MB/s');
  assert.equal(remainingMs({ ...PROGRESS, bytesPerSecond: 0 }), undefined);
});

void test('progress: plain lines are printed at changes and every few seconds', () => {
  const stream = new Memory();
  let nowMs = 0;
  const view = createProgress(stream, false, () => nowMs);
  view.update(PROGRESS);
  nowMs = 2000;
  view.update(PROGRESS);
  assert.equal(stream.text.split('\n').length, 2, 'same phase, too early');
  view.update({ ...PROGRESS, phase: 'merging' });
  assert.equal(stream.text.split('\n').length, 3, 'another phase');
  nowMs = 5500;
  view.update({ ...PROGRESS, phase: 'merging' });
  assert.equal(stream.text.split('\n').length, 4, 'time passed');
  view.stop();
  assert.ok(!stream.text.includes('\u001b'));
});

void test('progress: a silent phase is reported repeatedly until it ends', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const stream = new Memory();
  let nowMs = 0;
  const view = createProgress(stream, false, () => nowMs);
  view.update({ ...PROGRESS, phase: 'merging' });
  for (let tick = 0; tick < 4; tick++) {
    nowMs += 1500;
    t.mock.timers.tick(1500);
  }
  const lines = stream.text.trimEnd().split('\n');
  assert.equal(lines.length, 3);
  assert.match(lines[2]!, /^merging local\/x: .*, 6\.0 s so far$/);
  view.stop();
  t.mock.timers.tick(60_000);
  assert.equal(stream.text.trimEnd().split('\n').length, 3);
});

void test('progress: nothing is printed after the end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  for (const isTerminal of [false, true]) {
    const stream = new Memory();
    const view = createProgress(stream, isTerminal, () => 0);
    view.update(PROGRESS);
    view.end();
    const { text } = stream;
    view.update({ ...PROGRESS, repo: 'local/next' });
    t.mock.timers.tick(60_000);
    assert.equal(stream.text, text);
  }
});

void test('progress: the bar can restart after a stop', () => {
  const stream = Object.assign(new Memory(), { isTTY: false });
  const view = createProgress(stream, true);
  view.update(PROGRESS);
  view.stop();
  view.update(PROGRESS);
  view.stop();
  view.stop();
});

void test('progress: the bar leaves the terminal as it was at any moment', () => {
  const stream = Object.assign(new Memory(), { isTTY: true, columns: 40 });
  const view = createProgress(stream, true);
  view.update(PROGRESS);
  for (const hidden of ['?25l', '?7l']) assert.ok(!stream.text.includes(hidden));
  assert.match(stream.text, /reading/);
  // A longer line would be wrapped, and not be overwritten.
  assert.doesNotMatch(stream.text, /ETA/);
  view.stop();
});

void test('progress: numbers are formatted for people', () => {
  assert.deepEqual([0, 999, 1000, 12_345, 99_960, 999_499, 999_600, 1.3e9].map(formatBytes), [
    '0 B',
    '999 B',
    '1.00 kB',
    '12.3 kB',
    '100 kB',
    '999 kB',
    '1.00 MB',
    '1.30 GB',
  ]);
  assert.deepEqual([0, 850, 999.6, 12_340, 59_960, 245_000].map(formatDuration), [
    '0 ms',
    '850 ms',
    '1.0 s',
    '12.3 s',
    '1 min 00 s',
    '4 min 05 s',
  ]);
});

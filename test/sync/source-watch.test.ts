// The watches and the jobs together, as in a daemon: retries of a repo whose job fails, and repos that are added.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createLog } from '../../daemon/base/log.ts';
import { RefPoller } from '../../daemon/sources/git/ref-poller.ts';
import { FileTracker } from '../../daemon/sync/watch/file-tracker.ts';
import { WatchedFiles } from '../../daemon/sync/watch/watched-files.ts';
import { watchSources } from '../../daemon/sync/source-watch.ts';
import { FileList } from '../../daemon/sources/docs/file-list.ts';
import { FileStates } from '../../daemon/sources/docs/file-states.ts';
import { eventually } from '../e2e/daemon.ts';
import { git, makeRepo } from '../sources/git/fixture.ts';
import { daemonOn, newRows, recordOf } from './jobs-of.ts';

void test('a failed job is retried at the documented times, and soon after refs moved', async (t) => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const record = { ...recordOf(1), source: { kind: 'commits', path: repo } as const };
  await using daemon = await daemonOn(await newRows());
  const { jobs, attempts, calm } = daemon;
  let second = 0;
  t.mock.method(performance, 'now', () => second * 1000);
  t.mock.method(Math, 'random', () => 0);
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  const { mock: probes } = t.mock.method(RefPoller.prototype, 'poll');
  const stop = new AbortController();
  const watch = watchSources({
    catalog: { repo: () => undefined, isMirror: () => false },
    served: { records: [record], publish: () => {} },
    indexer: {
      jobs,
      fileTracker: new FileTracker(),
      sources: { openCount: 0, findNew: () => Promise.resolve([]) },
    },
    probed: Promise.resolve(),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    signal: stop.signal,
  });
  let isValid = false;
  let endedCount = 0;
  /** Lets time pass, and waits in each second for the thread that looks at refs; returns when attempts began and ended. */
  const pass = async (seconds: number): Promise<number[]> => {
    const startedIds: number[] = [];
    for (const until = second + seconds; second < until;) {
      await probes.calls.at(-1)?.result;
      await calm();
      second++;
      t.mock.timers.tick(1000);
      await calm();
      if (attempts.length === endedCount) continue;
      startedIds.push(second);
      await attempts[endedCount++]!.end(isValid ? {} : new Error('no'));
      assert.equal(attempts.length, endedCount, 'at once again');
    }
    return startedIds;
  };
  jobs.request(record);
  await calm();
  assert.deepEqual(await pass(700), [1, 31, 91, 211, 451]);
  isValid = true;
  // A look in the middle of a commit sees one state, and the next look another one.
  await probes.calls.at(-1)!.result;
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'more');
  // Long before it would be tried by itself.
  assert.equal((await pass(100)).length, 1);
  assert.deepEqual(await pass(100), []);
  stop.abort();
  await watch.close();
});

void test('a repo whose last job noted no state of its refs is indexed once when it is first seen', async () => {
  const source = { kind: 'commits', path: makeRepo({ 'a.txt': 'plum\n' }) } as const;
  const record = { ...recordOf(1), indexedAt: new Date(0).toISOString(), source };
  await using daemon = await daemonOn(await newRows());
  const { jobs, attempts } = daemon;
  const watch = watchSources({
    catalog: { repo: () => ({ record, shards: [], skipped: {} }), isMirror: () => false },
    served: { records: [record], publish: () => {} },
    indexer: {
      jobs,
      fileTracker: new FileTracker(),
      sources: { openCount: 0, findNew: () => Promise.resolve([]) },
    },
    probed: Promise.resolve(),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    signal: new AbortController().signal,
  });
  await eventually(() => Promise.resolve(attempts.length === 1));
  await attempts[0]!.end();
  await watch.close();
});

void test('a repo whose folders take long to list delays no watch of others, and no end', async (t) => {
  await using daemon = await daemonOn(await newRows());
  const { mock: opened } = t.mock.method(WatchedFiles.prototype, 'open');
  opened.mockImplementationOnce(function open(this: WatchedFiles) {
    return new Promise<void>((resolve) => {
      t.mock.method(this, 'close', async () => resolve());
    });
  });
  const records = [1, 2].map((repoId) => {
    const source = { kind: 'folder', path: makeRepo({ 'a.txt': 'plum\n' }) } as const;
    return { ...recordOf(repoId), source };
  });
  const fileTracker = new FileTracker();
  const watch = watchSources({
    catalog: { repo: () => undefined, isMirror: () => false },
    served: { records, publish: () => {} },
    indexer: {
      jobs: daemon.jobs,
      fileTracker,
      sources: { openCount: 0, findNew: () => Promise.resolve([]) },
    },
    probed: Promise.resolve(),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    signal: new AbortController().signal,
  });
  await daemon.calm();
  assert.equal(opened.callCount(), 2);
  await watch.close();
});

void test('the long job of a removed repo delays no watch of an added one, but the end of all watches', async () => {
  await using daemon = await daemonOn(await newRows());
  const { jobs, attempts, calm } = daemon;
  const fileTracker = new FileTracker();
  const [removed, added] = [1, 2].map((repoId) => {
    // As if files had changed since their last job.
    fileTracker.remember(repoId, '', FileStates.of(FileList.of([]), [], ''), []);
    const source = { kind: 'folder', path: makeRepo({ 'a.txt': 'plum\n' }) } as const;
    return { ...recordOf(repoId), source };
  });
  const served = { records: [removed!], publish: () => {} };
  const watch = watchSources({
    catalog: { repo: () => undefined, isMirror: () => false },
    served,
    indexer: {
      jobs,
      fileTracker,
      sources: { openCount: 0, findNew: () => Promise.resolve([]) },
    },
    probed: Promise.resolve(),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    signal: new AbortController().signal,
  });
  const startedIds = (): number[] => attempts.map(({ repoId }) => repoId);
  await eventually(() => Promise.resolve(startedIds().includes(1)));
  served.records = [added!];
  await eventually(() => Promise.resolve(startedIds().includes(2)));
  assert.deepEqual(startedIds(), [1, 2]);
  await attempts[1]!.end();
  let isClosed = false;
  const closing = watch.close().then(() => void (isClosed = true));
  await calm();
  assert.equal(isClosed, false);
  await attempts[0]!.end();
  await closing;
});

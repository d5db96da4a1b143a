// All threads of the pool are in a core call that lasts until its search is stopped: other searches are answered
// meanwhile, on the second searchers of the threads, with the same results as on idle threads.
// tier: ci (long)

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { SearchControl } from '../../../daemon/engine/host/control.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import { StartThreads } from '../../../daemon/engine/search/start-threads.ts';
import { compileEntry } from '../../core/driver.ts';
import { Engine, environmentOf, REPO, requestOf, streamEvents, timeless } from './harness.ts';

/** Units of a shard of so many docs last until they are stopped (test/core/assembly/faulty.ts). */
const ENDLESS_DOCS = 1779;
const THREADS = 2;

/** Expressions that look back by letters have ever new states on it. */
const LONG_LINE = Array.from({ length: 60_000 }, (_, i) =>
  ((i * i * 7919) % 1009) % 2 === 0 ? 'x' : 'z',
).join('');

/** Docs that hold `common`, and `plum` or a long line where the shard is not that of units that last. */
function shardOf(engine: Engine, docCount: number) {
  const isEndless = docCount === ENDLESS_DOCS;
  const docs = Array.from({ length: docCount }, (_, doc) => {
    const rest = isEndless ? '' : `plum ${doc % 7}\n${doc % 700 === 0 ? LONG_LINE : 'x'}`;
    return { path: `d${doc}.txt`, bytes: Buffer.from(`common ${doc}\n${rest}\n`) };
  });
  return engine.shardOf(REPO, docs);
}

const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
const engine = new Engine(module, { workers: THREADS, inlineNs: 0n });
engine.publish(
  [ENDLESS_DOCS, 600, 1500].map((docCount) => shardOf(engine, docCount)),
  [REPO],
);
after(() => engine.close());

/** Words of units that are claimed and not finished (daemon/engine/host/control.ts). */
const CLAIMED = -1;

/** Lets a search take all threads for as long as `work` takes. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  const clientKey = new AbortController();
  let control: SearchControl | undefined;
  const searchAll = engine.pool.search.bind(engine.pool);
  engine.pool.search = (message, onFindings) => {
    control ??= new SearchControl(message.unitMaxes, message.control);
    return searchAll(message, onFindings);
  };
  const claimCount = (): number =>
    control === undefined
      ? 0
      : new Int32Array(control.share()).filter((word) => word === CLAIMED).length;
  const request = requestOf('common -content:plum');
  const environment = environmentOf({ signal: clientKey.signal });
  const holding = search({ ...engine.parts, timeoutMs: 0 }, request, environment);
  const aborted = assert.rejects(holding, { name: 'AbortError' });
  while (claimCount() < THREADS) await new Promise((resolve) => void setTimeout(resolve, 1));
  try {
    return await work();
  } finally {
    engine.pool.search = searchAll;
    assert.equal(claimCount(), THREADS, 'no thread has left its call');
    clientKey.abort();
    await aborted;
  }
}

void test('a rare word is answered while all threads are busy, whole and cut', async () => {
  for (const matches of [1_000_000, 20]) {
    const expected = timeless(await engine.search('plum', { matches }));
    const answer = await whileBusy(() => engine.search('plum', { matches }));
    assert.deepEqual(timeless(answer), expected, `${matches} matches`);
  }
});

void test('searches that start on threads are answered while these are busy', async () => {
  const searchThree = async (): Promise<unknown> => {
    const parts = { ...engine.parts, startThreads: new StartThreads(engine.pool) };
    const request = requestOf('plum', { matches: 30 });
    const answers = await Promise.all([1, 2, 3].map(() => search(parts, request, environmentOf())));
    return answers.length;
  };
  assert.equal(await whileBusy(searchThree), 3);
});

void test('a stream ends while all threads are busy', async () => {
  const events = await whileBusy(() => streamEvents(engine.parts, requestOf('plum')));
  assert.ok(JSON.stringify(events.at(-1)).includes('"isSearchExhaustive":true'));
});

void test('a deadline is met while another search keeps all threads busy', async () => {
  await whileBusy(async () => {
    // At 1 ms before, at 300 ms after its units have proved too long for a second searcher.
    for (const timeoutMs of [1, 20, 50, 300]) {
      engine.timeoutMs = timeoutMs;
      const answer = await engine.search('common');
      assert.deepEqual(answer.incompleteReasons, ['deadline']);
    }
  });
  engine.timeoutMs = 0;
});

void test('a unit too long for a second searcher is left to the first, and found once', async () => {
  const query = 'x[xz]{900}y|plum';
  const request = { isRegexEnabled: true };
  const expected = timeless(await engine.search(query, request));
  const answering = await whileBusy(async () => {
    const found = engine.search(query, request);
    // It may run on the second searchers meanwhile.
    for (let whenRunning = 0; whenRunning < 50; whenRunning++)
      await new Promise((resolve) => void setTimeout(resolve, 2));
    return { found };
  });
  assert.deepEqual(timeless(await answering.found), expected);
});

// Streams of real searches over real sockets, on both adapters: they return what the blocking search returns, stay
// within their limit, and stop, pause and fail correctly. The state of the engine is read from its control words, not
// from clocks.
// tier: ci (long)

import { signalOf } from '../../daemon/base/cancellation.ts';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { SearchControl } from '../../daemon/engine/host/control.ts';
import type { SearchMessage } from '../../daemon/engine/host/search-messages.ts';
import type { EngineParts } from '../../daemon/engine/search/prepare.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { startStream } from '../../daemon/engine/search/stream.ts';
import { compileEntry } from '../core/driver.ts';
import { buildShard, coreModule, Engine, REPO, temporaryFolder } from '../engine/host/harness.ts';
import type { EngineOptions, FileResult } from '../engine/host/harness.ts';
import { checkInvariants, rangeCountOf } from '../engine/host/invariants.ts';
import { onBothAdapters } from './adapters.ts';
import { eventually, openWire, searchWith, startWorld, type World } from './harness.ts';

const SLOW_DOCS = 1778;
const TRAPPING_DOCS = 1777;

const folder = temporaryFolder();
const built = new Map<string, LiveShard>();

/** A shard for all tests that ask for it. */
function makeShard(
  module: WebAssembly.Module,
  number: number,
  docCount: number,
  size = 600,
): LiveShard {
  const key = `${number} ${docCount} ${size}`;
  const cached = built.get(key);
  if (cached !== undefined) return cached;
  const docs = Array.from({ length: docCount }, (_, doc) => {
    const rare = doc % 97 === number ? 'needle ' : '';
    const line = `common ${number} doc ${doc} ${rare}${'some text '.repeat(size / 100)}\n`;
    const text = line.repeat(Math.ceil(size / line.length));
    return { path: `s${number}/d${doc}.txt`, bytes: Buffer.from(text) };
  });
  const shard = buildShard(module, folder, REPO, docs);
  built.set(key, shard);
  return shard;
}

interface StreamEvent {
  readonly type: string;
  readonly stats?: Record<string, number>;
  readonly files?: readonly FileResult[];
  readonly repositoryInfo?: readonly { readonly id: number }[];
  readonly progress?: { readonly shardsDone: number; readonly shardsEligible: number };
  readonly accumulatedStats?: Record<string, number>;
  readonly isSearchExhaustive?: boolean;
  readonly incompleteReasons?: readonly string[];
  readonly error?: { readonly errorCode: string };
}

/** An engine behind a server, and what the control words of its first search say. */
interface Observed {
  readonly world: World;
  readonly engine: Engine;
  /** Units of the first search of the pool that are finished. */
  readonly finishedCount: () => number;
  /** Is the first search of the pool stopped or paused? */
  readonly isHalted: () => boolean;
}

const engines: Engine[] = [];
after(() => Promise.all(engines.map((engine) => engine.close())));

async function observe(
  kind: 'uws' | 'node',
  module: WebAssembly.Module,
  shards: readonly LiveShard[],
  options: EngineOptions & { readonly eventSizeMax?: number },
): Promise<Observed> {
  const engine = new Engine(module, options);
  engines.push(engine);
  engine.publish(shards, [REPO]);
  let first: Omit<SearchMessage, 'kind' | 'id'> | undefined;
  const search = engine.pool.search.bind(engine.pool);
  engine.pool.search = (message, onFindings) => {
    first ??= message;
    return search(message, onFindings);
  };
  const parts: EngineParts = engine.parts;
  const world = await startWorld({
    kind,
    settings: { maxConcurrentSearches: 50, maxQueuedSearches: 200 },
    search: (call, { signal }) => {
      assert.ok(typeof call.query === 'string');
      return engine.search(call.query, call, signalOf(signal));
    },
    stream: (call, context) =>
      startStream(parts, call, {
        ...context,
        baseUrl: 'http://localhost',
        eventSizeMax: options.eventSizeMax ?? context.eventSizeMax,
      }),
  });
  const controlOf = ({ unitMaxes, control }: NonNullable<typeof first>): SearchControl =>
    new SearchControl(unitMaxes, control);
  return {
    world,
    engine,
    finishedCount() {
      if (first === undefined) return 0;
      const control = controlOf(first);
      return first.unitMaxes.reduce((sum, unitMax, shard) => {
        const units = Array.from({ length: unitMax }, (_, unit) => control.matchesOf(shard, unit));
        return sum + units.filter((matches) => matches !== undefined).length;
      }, 0);
    },
    isHalted: () => first !== undefined && controlOf(first).isHalted,
  };
}

function streamOf(body: object, headers: Record<string, string> = {}) {
  return { ...searchWith({ matches: 100_000, ...body }, headers), path: '/api/stream_search' };
}

/** The events of a stream, whose framing is checked. */
async function eventsOf(world: World, body: object): Promise<StreamEvent[]> {
  const reply = await world.call(streamOf(body));
  assert.equal(reply.status, 200, reply.body.toString());
  const frames = reply.body.toString().split('\n\n');
  assert.equal(frames.pop(), '');
  assert.equal(frames.pop(), 'data: [DONE]');
  return frames.map((frame) => {
    assert.match(frame, /^data: \{.*\}$/);
    return JSON.parse(frame.slice(6)) as StreamEvent;
  });
}

const DURATIONS = new Set(['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch']);

/** Checks what holds for every stream that came to its end; its files and its final event. */
function checkStream(events: readonly StreamEvent[], matches: number, shardCount: number) {
  const final = events.at(-1)!;
  const chunks = events.slice(0, -1);
  assert.equal(final.type, 'final');
  assert.ok(chunks.every(({ type }) => type === 'chunk'));
  const files = chunks.flatMap((chunk) => chunk.files!);
  const total = final.accumulatedStats!;
  let doneBefore = 0;
  for (const chunk of chunks) {
    const { shardsDone, shardsEligible } = chunk.progress!;
    assert.equal(shardsEligible, shardCount);
    assert.ok(shardsDone >= doneBefore && shardsDone <= shardsEligible);
    doneBefore = shardsDone;
    assert.equal(chunk.stats!['actualMatchCount'], rangeCountOf(chunk.files!));
    const repoIds = chunk.repositoryInfo!.map(({ id }) => id);
    // One that only tells statistics has no files.
    assert.deepEqual(repoIds, chunk.files!.length === 0 ? [] : [1]);
    assert.match(String(chunk.stats!['flushReason']), /^FLUSH_REASON_(TIMER|MAX|FINAL)/);
  }
  for (const [name, value] of Object.entries(total)) {
    if (name === 'flushReason') continue;
    const sum = chunks.reduce((so, { stats }) => so + stats![name]!, 0);
    assert.ok(sum <= value, `${name}: ${sum} in chunks, ${value} in all`);
    assert.ok(
      chunks.every(({ stats }) => stats![name]! >= 0),
      name,
    );
  }
  const { isSearchExhaustive = false, incompleteReasons } = final;
  checkInvariants(
    {
      stats: total,
      files,
      isSearchExhaustive,
      ...(incompleteReasons === undefined ? {} : { incompleteReasons }),
    },
    { matches, shardCount },
  );
  const names = files.map(({ fileName }) => fileName.text);
  assert.equal(new Set(names).size, names.length, 'a doc occurs once');
  return { files, names, final, total, chunks };
}

const QUERIES = ['common', 'needle', 'doc -(needle)', 'file:d77', '(absent needle) or 17', 'zzz'];

onBothAdapters('streamed searches', (kind) => {
  /** What the adapter has no part in is tested with one of them. */
  const skip = kind === 'node' ? false : 'as with node:http';

  test('a whole stream has the results of a blocking search', { skip }, async () => {
    const module = await coreModule('release');
    const shards = [0, 1, 2].map((number) => makeShard(module, number, 400));
    for (const inlineNs of [0n, 10n ** 12n]) {
      const { world, engine } = await observe(kind, module, shards, { workers: 2, inlineNs });
      for (const query of QUERIES) {
        for (const more of [{}, { whole: true, contextLines: 2 }]) {
          const answer = await engine.search(query, { matches: 100_000, ...more });
          const stream = checkStream(
            await eventsOf(world, { query, ...more }),
            100_000,
            shards.length,
          );
          assert.equal(stream.final.isSearchExhaustive, true, query);
          const rank = new Map(answer.files.map((file, i) => [file.fileName.text, { file, i }]));
          assert.equal(stream.files.length, rank.size, query);
          for (const file of stream.files)
            assert.deepEqual(file, rank.get(file.fileName.text)?.file);
          for (const chunk of stream.chunks) {
            const locations = chunk.files!.map(({ fileName }) => rank.get(fileName.text)!.i);
            assert.deepEqual(
              locations,
              locations.toSorted((a, b) => a - b),
              'best first in a chunk',
            );
          }
          for (const [name, value] of Object.entries(answer.stats))
            if (!DURATIONS.has(name) && name !== 'flushReason')
              assert.equal(stream.total[name], value, `${query}: ${name}`);
        }
      }
    }
  });

  test('`matches` limits the whole stream, and the flags are correct', { skip }, async () => {
    const module = await coreModule('release');
    const shards = [0, 1, 2].map((number) => makeShard(module, number, 400));
    for (const inlineNs of [0n, 1_000_000n]) {
      const { world } = await observe(kind, module, shards, { workers: 2, inlineNs });
      for (const matches of [1, 7, 150, 2999, 5000]) {
        const { final, total } = checkStream(
          await eventsOf(world, { query: 'common', matches }),
          matches,
          shards.length,
        );
        assert.equal(total['actualMatchCount'], matches);
        assert.deepEqual(final.incompleteReasons, ['match_limit']);
      }
      const all = await eventsOf(world, { query: 'common', contextLines: 0 });
      const { total } = checkStream(all, 100_000, shards.length);
      const exact = await eventsOf(world, { query: 'common', matches: total['totalMatchCount']! });
      assert.equal(exact.at(-1)?.isSearchExhaustive, true);
    }
  });

  test('a client that disconnects in the middle stops the units', { skip }, async () => {
    const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
    const shards = [0, 1, 2, 3].map((number) => makeShard(module, number, SLOW_DOCS));
    const observed = await observe(kind, module, shards, { workers: 2, inlineNs: 0n });
    const { world, engine, finishedCount } = observed;
    const wire = openWire(world.server);
    wire.post('/api/stream_search', { query: 'common', matches: 100_000 });
    await wire.until('"type":"chunk"');
    wire.socket.destroy();
    await eventually(() => world.lines.some((line) => line['status'] === 499));
    const atEnd = finishedCount();
    // The pool answers the next search when its threads have left the one before.
    const next = await engine.search('zzz');
    assert.equal(next.isSearchExhaustive, true);
    const later = finishedCount();
    assert.ok(later <= atEnd + 2, `${atEnd} units, then ${later}`);
    assert.ok(later < 16, 'units were left');
  });

  test('a stalled reader pauses the search', { skip }, async () => {
    const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
    const shards = [0, 1].map((number) => makeShard(module, number, SLOW_DOCS, 5000));
    const observed = await observe(kind, module, shards, { workers: 2, inlineNs: 0n });
    const { world, finishedCount, isHalted } = observed;
    const wire = openWire(world.server);
    wire.socket.removeAllListeners('data');
    wire.socket.pause();
    const body = { query: 'common', matches: 1_000_000 };
    wire.post('/api/stream_search', body, 'Connection: close\r\n');
    // It goes on now and then until the buffers of the system are full.
    let halts = 0;
    while (halts < 40) {
      await new Promise((resolve) => void setTimeout(resolve, 10));
      halts = isHalted() ? halts + 1 : 0;
    }
    const paused = finishedCount();
    const other = await world.call(searchWith({ query: 'zzz', matches: 1 }));
    assert.equal(other.status, 200);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    assert.ok(isHalted());
    assert.ok(finishedCount() <= paused + 2, 'no new units while nobody reads');
    let text = '';
    wire.socket.on('data', (data) => {
      text += data.toString();
    });
    wire.socket.resume();
    await wire.closed();
    text = text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
    const paths = [...text.matchAll(/"fileName":\{"text":"(s\d\/d\d+\.txt)"/g)].map(([, p]) => p);
    assert.ok(finishedCount() > paused + 2, 'units were left when it paused');
    assert.ok(text.includes('"isSearchExhaustive":true'));
    assert.ok(text.includes('data: [DONE]'));
    assert.equal(new Set(paths).size, 2 * SLOW_DOCS);
  });

  test('a deadline: partial results, the reason, [DONE]', { skip }, async () => {
    const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
    const shards = [0, 1, 2, 3].map((number) => makeShard(module, number, SLOW_DOCS));
    const options = { workers: 2, inlineNs: 0n, timeoutMs: 20 };
    const { world } = await observe(kind, module, shards, options);
    const { final, total } = checkStream(await eventsOf(world, { query: 'common' }), 100_000, 4);
    assert.deepEqual(final.incompleteReasons, ['deadline']);
    assert.ok(total['shardsSkipped']! > 0 && total['filesSkipped']! > 0);
  });

  test('a crashing shard: the others continue, and the end says so', { skip }, async () => {
    const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
    const shards = [600, TRAPPING_DOCS, 600].map((count, i) => makeShard(module, i, count));
    for (const inlineNs of [0n, 10n ** 12n]) {
      const observed = await observe(kind, module, shards, { workers: 2, inlineNs });
      const stream = checkStream(await eventsOf(observed.world, { query: 'common' }), 100_000, 3);
      assert.deepEqual(stream.final.incompleteReasons, ['shard_crashed']);
      assert.equal(stream.total['crashes'], 1);
      for (const shard of ['s0/', 's2/'])
        assert.equal(stream.names.filter((name) => name.startsWith(shard)).length, 600);
      assert.equal(observed.engine.failures.length, 1);
    }
  });

  test('a thread that dies in the middle: nothing is missing or duplicated', { skip }, async () => {
    const module = await coreModule('release');
    const shards = [0, 1, 2].map((number) => makeShard(module, number, 1000, 2000));
    const threads: Worker[] = [];
    const onWorker = (worker: Worker): void => void threads.push(worker);
    process.on('worker', onWorker);
    const { world, engine } = await observe(kind, module, shards, { workers: 2, inlineNs: 0n });
    for (let round = 0; round < 3; round++) {
      await engine.pool.ready();
      const streaming = eventsOf(world, { query: 'common', matches: 1_000_000 });
      await eventually(() => world.calls.length > round);
      for (let whenRunning = 0; whenRunning < round * 3; whenRunning++)
        await new Promise((resolve) => void setImmediate(resolve));
      await threads.filter(({ threadId }) => threadId !== -1)[round % 2]!.terminate();
      const { final, names } = checkStream(await streaming, 1_000_000, 3);
      assert.equal(final.isSearchExhaustive, true);
      assert.equal(names.length, 3000);
    }
    process.off('worker', onWorker);
  });

  test('a batch that cannot be built: error, no later batch, final, [DONE]', { skip }, async () => {
    const module = await coreModule('release');
    const shards = [makeShard(module, 0, 400)];
    const options = { workers: 2, inlineNs: 0n, eventSizeMax: 65_600 };
    const { world, engine } = await observe(kind, module, shards, options);
    const all = await eventsOf(world, { query: 'common' });
    // A search that takes a second reports its progress, in chunks without files.
    const events = all.filter(({ type, files = [] }) => type !== 'chunk' || files.length > 0);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['error', 'final'],
    );
    assert.equal(events[0]!.error!.errorCode, 'UNEXPECTED_ERROR');
    const final = events.at(-1);
    assert.equal(final?.isSearchExhaustive, false);
    assert.deepEqual(final.incompleteReasons, ['internal_error']);
    assert.equal(final.accumulatedStats!['actualMatchCount'], 0);
    assert.equal((await engine.search('common')).files.length, 400);
  });
});

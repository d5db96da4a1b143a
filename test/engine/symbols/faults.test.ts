// Engines that hang, die, print garbage or use too much memory: the content that caused it fails with the reason, the
// next one has its symbols, and nothing keeps running.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { watchTime } from '../../../daemon/engine/symbols/confine.ts';
import { openCtagsEngine } from '../../../daemon/engine/symbols/ctags.ts';
import type { Engine } from '../../../daemon/engine/symbols/found.ts';
import { failureOf, NO_CTAGS, openTestExtractor, symbolsIn } from './harness.ts';
import { childrenOf, until, untilGone } from './processes.ts';

const FAKE = path.resolve('test/engine/symbols/fake-ctags.sh');
const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const GOOD = Buffer.from('good');
const isLinux = process.platform === 'linux';

test('a process that has not started yet has used no time', { skip: !isLinux }, async () => {
  const sleeper = spawn('sleep', ['60']);
  const child: { pid: number | undefined } = { pid: undefined };
  let isOver = false;
  const endWatch = watchTime(child, 100, () => (isOver = true));
  await sleep(20);
  child.pid = sleeper.pid;
  await sleep(500);
  endWatch();
  sleeper.kill();
  assert.equal(isOver, false);
});

describe('a misbehaving ctags', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-ctags-'));
  const mark = path.join(folder, 'mark');
  const program = { command: ['sh', FAKE, mark], version: '', parsers: ['C'] };
  const limits = { concurrency: 1, timeoutMs: 1000, memoryMax: 1 << 30 };
  const engine = openCtagsEngine(program, limits);
  const patient = openCtagsEngine(program, { ...limits, timeoutMs: 60_000 });
  after(async () => {
    await Promise.all([engine.close(), patient.close()]);
    rmSync(folder, { recursive: true });
  });

  const failure = async (engine: Engine, content: string): Promise<string> => {
    const outcome = await engine.extract('C', Buffer.from(content));
    const next = await engine.extract('C', GOOD);
    assert.ok('symbols' in next && next.symbols.length === 1, 'the next one');
    return 'failure' in outcome ? outcome.failure : `${outcome.symbols.length} symbols`;
  };

  test('a hanging ctags', async () => {
    assert.equal(await failure(engine, 'hang'), 'timeout');
    if (isLinux) await until(() => (childrenOf(process.pid, FAKE).length <= 1 ? true : undefined));
  });

  test('a ctags waiting for a processor has time', { skip: !isLinux }, async () => {
    assert.equal(await failure(engine, 'nap good'), '1 symbols');
  });

  test('a dying ctags', async () => {
    assert.equal(await failure(patient, 'crash'), 'crash');
    assert.equal(await failure(patient, 'leave'), 'crash');
    assert.equal(await failure(patient, 'memory'), 'memory');
  });

  test('a ctags that dies once is retried', async () => {
    writeFileSync(mark, '');
    assert.equal(await failure(patient, 'once good'), '1 symbols');
  });

  test('a ctags with endless output', async () => {
    assert.equal(await failure(patient, 'flood'), 'output');
    assert.equal(await failure(patient, 'long'), 'output');
  });

  test('a ctags with invalid output', async () => {
    assert.equal(await failure(patient, 'garbage good'), '1 symbols');
  });

  test('a missing ctags', async () => {
    const none = openCtagsEngine(
      { command: ['/nowhere/ctags'], version: '', parsers: ['C'] },
      limits,
    );
    const outcome = await none.extract('C', GOOD);
    assert.ok('failure' in outcome && outcome.failure === 'crash');
    await none.close();
  });
});

describe('ctags', { skip: NO_CTAGS }, () => {
  test('ctags: a content beyond its memory', async () => {
    const extractor = await openTestExtractor('ctags', { fileMemoryMax: 48 << 20 });
    const large = Buffer.alloc(64 << 20, 'int a;\n');
    assert.match((await failureOf(extractor, 'C', large)).failure, /^(?:memory|crash)$/);
    assert.equal((await symbolsIn(extractor, 'C', Buffer.from('int a;\n'))).length, 1);
    await extractor.close();
  });
});

test('a file that the better engine fails on says so', { skip: NO_CTAGS }, async (t) => {
  const { execPath } = process;
  process.execPath = '/nowhere/node';
  t.after(() => (process.execPath = execPath));
  const extractor = await openTestExtractor(['ctags', 'tree-sitter']);
  const extraction = await extractor.extract('Go', Buffer.from('package p\nfunc a() {}\n'));
  await extractor.close();
  assert.ok('symbols' in extraction);
  assert.equal(extraction.symbols.length, 2);
  assert.match(extraction.failedEngine ?? '', /^tree-sitter failed: /);
});

/** What the command line of an engine's process holds. */
const MARKS = { ctags: '--_interactive=sandbox', 'tree-sitter': 'tree-program' } as const;

for (const engine of ['ctags', 'tree-sitter'] as const) {
  const mark = MARKS[engine];
  const skip = !isLinux || (engine === 'ctags' && NO_CTAGS);

  test(`${engine}: processes end with a killed parent, busy or not`, { skip }, async () => {
    const child = fork(CHILD, [engine], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    const running = await until(() => {
      const found = childrenOf(pid, mark);
      return found.length === 2 ? found : undefined;
    });
    child.kill('SIGKILL');
    await untilGone(running);
  });

  test(`${engine}: processes end with a terminated thread`, { skip }, async () => {
    const before = childrenOf(process.pid, mark);
    const worker = new Worker(CHILD, { argv: [engine] });
    const running = await until(() => {
      const found = childrenOf(process.pid, mark);
      return found.length === before.length + 2 ? found : undefined;
    });
    await worker.terminate();
    await untilGone(running.filter((pid) => !before.includes(pid)));
  });

  test(`${engine}: a killed process is replaced`, { skip }, async () => {
    const extractor = await openTestExtractor(engine, { concurrency: 1 });
    const before = childrenOf(process.pid, mark);
    await symbolsIn(extractor, 'C', Buffer.from('int a;\n'));
    const [pid] = childrenOf(process.pid, mark).filter((pid) => !before.includes(pid));
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGKILL');
    assert.equal((await symbolsIn(extractor, 'C', Buffer.from('int a;\n'))).length, 1);
    await extractor.close();
    assert.deepEqual(childrenOf(process.pid, mark), before);
  });
}

describe('tree-sitter', () => {
  test('a content that takes too long', async () => {
    const extractor = await openTestExtractor('tree-sitter', {
      fileTimeoutMs: 5000,
      concurrency: 1,
    });
    const line =
      'auto f = [](int a, int b) -> decltype(a) { return a < b ? f<a>(b) : x<y>(z); };\n';
    const large = Buffer.alloc(15 << 20, line);
    const outcome = await extractor.extract('C++', large);
    assert.ok('failure' in outcome && /^(?:timeout|memory)$/.test(outcome.failure));
    assert.equal((await symbolsIn(extractor, 'C', Buffer.from('int a;\n'))).length, 1);
    await extractor.close();
  });

  test('tree-sitter: a content beyond its memory', async () => {
    const extractor = await openTestExtractor('tree-sitter', { fileMemoryMax: 64 << 20 });
    const large = Buffer.alloc(4 << 20, 'int a; ');
    assert.equal((await failureOf(extractor, 'C', large)).failure, 'memory');
    const huge = Buffer.alloc(32 << 20, 'int a;\n');
    assert.equal((await failureOf(extractor, 'C', huge)).failure, 'memory');
    assert.equal((await symbolsIn(extractor, 'C', Buffer.from('int a;\n'))).length, 1);
    await extractor.close();
  });
});

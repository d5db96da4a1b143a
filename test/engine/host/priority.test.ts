// Search threads have a lower priority than the main thread, and background work a lower one still; other
// threads stay unchanged.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { coreModule, Engine } from './harness.ts';

const isLinux = process.platform === 'linux';

/** Nice values of all threads of this process, by thread. */
function niceValues(): Map<string, number> {
  const folder = '/proc/self/task';
  return new Map(
    readdirSync(folder).map((thread) => {
      const [, fields = ''] =
        readFileSync(`${folder}/${thread}/stat`, 'utf8').split(/\) (?=\S \d)/) ?? [];
      return [thread, Number(fields.split(' ')[16])];
    }),
  );
}

/** The nice values of threads that were not there before. */
function newValues(before: ReadonlyMap<string, number>): number[] {
  return [...niceValues()].filter(([thread]) => !before.has(thread)).map(([, value]) => value);
}

void test(
  'search threads have a lower priority than the main one',
  { skip: !isLinux },
  async () => {
    const before = niceValues();
    const own = before.get(String(process.pid))!;
    await using engine = new Engine(await coreModule('release'), { workers: 2 });
    await engine.pool.ready();
    const lowered = newValues(before).filter((value) => value !== own);
    assert.deepEqual(lowered, [own + 5, own + 5]);
    assert.equal(niceValues().get(String(process.pid)), own);
  },
);

void test('background work has a lower priority than searches', { skip: !isLinux }, async () => {
  const before = niceValues();
  const own = before.get(String(process.pid))!;
  const module = new URL('../../../daemon/base/priority.js', import.meta.url).href;
  const code = `import(${JSON.stringify(module)}).then(({ lowerPriority }) => {
    lowerPriority('background');
    require('node:worker_threads').parentPort.on('message', () => process.exit());
    require('node:worker_threads').parentPort.postMessage('lowered');
  })`;
  const worker = new Worker(code, { eval: true });
  await new Promise((resolve) => worker.once('message', resolve));
  const values = newValues(before);
  worker.postMessage('end');
  await new Promise((resolve) => worker.once('exit', resolve));
  assert.deepEqual(
    values.filter((value) => value !== own),
    [own + 10],
  );
});

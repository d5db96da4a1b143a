// Memory goes back to the system after large answers, and only after those: of the C heap, and what is to be collected.

import assert from 'node:assert/strict';
import test from 'node:test';
import { collectGarbage, HeapTrimmer } from '../../daemon/engine/heap.ts';
import { findHeapTrim } from '../../daemon/engine/mapping.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));

void test('the heap is trimmed after a large answer, also when more of them follow', async () => {
  const trimmer = new HeapTrimmer();
  trimmer.noteFreed(1000);
  assert.equal(trimmer.isWaiting, false);
  // Under a row of large answers the trimming is put off, but not for ever.
  while (trimmer.trimCount === 0) {
    trimmer.noteFreed(30_000_000);
    assert.equal(trimmer.isWaiting, true);
    await turn();
  }
  trimmer.noteFreed(30_000_000);
  while (trimmer.trimCount < 2) await turn();
  assert.equal(trimmer.isWaiting, false);
  trimmer.close();
});

void test('trimming leaves what is in use', () => {
  const kept = Buffer.alloc(5_000_000, 7);
  // Freed memory between what is kept is what there is to give back.
  for (let i = 0; i < 50; i++) Buffer.alloc(1_000_000, i);
  findHeapTrim()?.();
  assert.ok(kept.every((byte) => byte === 7));
});

/** Works for most of the time until `isDone`. */
async function workUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    for (const endMs = performance.now() + 5; performance.now() < endMs;);
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

for (const size of [30_000_000, 100])
  void test(`what answers of ${size} bytes leave behind is collected once, in quiet`, async () => {
    // What other tests have left.
    collectGarbage();
    await turn();
    const trimmer = new HeapTrimmer(20);
    let target: object | undefined = { kept: true };
    const reference = new WeakRef(target);
    trimmer.noteFreed(size);
    const left: string[][] = [];
    for (let i = 0; i < 100; i++) left.push(Array.from({ length: 10_000 }, (_, k) => `${i} ${k}`));
    const sizeMax = process.memoryUsage().heapTotal;
    trimmer.noteFreed(size);
    const endMs = performance.now() + 300;
    await workUntil(() => performance.now() > endMs);
    assert.equal(trimmer.collectCount, 0);
    // V8 is not about to collect by itself.
    collectGarbage();
    left.length = 0;
    target = undefined;
    while (trimmer.collectCount === 0) await turn();
    await turn();
    assert.equal(reference.deref(), undefined);
    assert.ok(process.memoryUsage().heapTotal < sizeMax);
    // Nothing has grown since.
    trimmer.noteFreed(size);
    for (let i = 0; i < 10; i++) await turn();
    assert.equal(trimmer.collectCount, 1);
    trimmer.close();
  });

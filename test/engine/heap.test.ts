// Memory of the C heap goes back to the system after large answers, and only after those.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HeapTrimmer } from '../../daemon/engine/heap.ts';
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

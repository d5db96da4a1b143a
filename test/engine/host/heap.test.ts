// Memory returns to the system after large answers, and only then: the C heap and garbage.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { HeapTrimmer, realProbe } from '../../../daemon/engine/host/heap.ts';
import { findHeapTrim } from '../../../daemon/engine/host/mapping.ts';

const whenRunning = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));

void test('the heap is trimmed after a large answer, also between several of them', async () => {
  const trimmer = new HeapTrimmer();
  trimmer.noteFreed(1000);
  assert.equal(trimmer.isWaiting, false);
  // Under a row of large answers the trimming is put off, but not for ever.
  while (trimmer.trimCount === 0) {
    trimmer.noteFreed(30_000_000);
    assert.equal(trimmer.isWaiting, true);
    await whenRunning();
  }
  trimmer.noteFreed(30_000_000);
  while (trimmer.trimCount < 2) await whenRunning();
  assert.equal(trimmer.isWaiting, false);
  trimmer.close();
});

void test('trimming keeps memory in use', () => {
  const kept = Buffer.alloc(5_000_000, 7);
  // Freed memory between kept memory can be released.
  for (let i = 0; i < 50; i++) Buffer.alloc(1_000_000, i);
  findHeapTrim()?.();
  assert.ok(kept.every((byte) => byte === 7));
});

void test('garbage is collected when there is much of it, while idle', async () => {
  const measured = { size: 40 << 20, privateSize: 200 << 20, share: 0, probeCount: 0 };
  const probes = {
    oldSize: () => measured.size,
    privateSize: () => measured.privateSize,
    busyShare: () => {
      measured.probeCount++;
      return measured.share;
    },
  };
  const trimmer = new HeapTrimmer(probes, 5);
  const probe = async (count: number): Promise<void> => {
    for (const end = measured.probeCount + count; measured.probeCount < end;) {
      trimmer.noteFreed(100);
      await whenRunning();
    }
  };
  // What a start has left behind, whatever it is.
  while (trimmer.collectCount === 0) await probe(1);
  let target: object | undefined = { kept: true };
  const reference = new WeakRef(target);
  target = undefined;
  // Little of it, or the thread at work.
  measured.size += 10 << 20;
  await probe(10);
  measured.size += 10 << 20;
  measured.share = 0.2;
  await probe(10);
  measured.size += 40 << 20;
  measured.share = 0.5;
  await probe(10);
  measured.size -= 40 << 20;
  assert.equal(trimmer.collectCount, 1);
  measured.share = 0.01;
  trimmer.noteFreed(100);
  while (trimmer.collectCount === 1) await whenRunning();
  await whenRunning();
  assert.equal(reference.deref(), undefined);
  // Nothing has grown since.
  await probe(10);
  assert.equal(trimmer.collectCount, 2);
  // So much that a thread with something to do is quiet enough.
  measured.size += 50 << 20;
  measured.share = 0.2;
  while (trimmer.collectCount === 2) await probe(1);
  // What the process has, and this thread has not, is in the C heap: trimmed, once.
  while (trimmer.isWaiting) await whenRunning();
  const { trimCount } = trimmer;
  measured.privateSize += 10 << 20;
  measured.share = 0.01;
  await probe(10);
  assert.equal(trimmer.trimCount, trimCount);
  measured.privateSize += 50 << 20;
  measured.share = 0.5;
  await probe(10);
  assert.equal(trimmer.trimCount, trimCount);
  measured.share = 0.2;
  while (trimmer.trimCount === trimCount) await probe(1);
  await probe(10);
  while (trimmer.isWaiting) await whenRunning();
  assert.equal(trimmer.trimCount, trimCount + 1);
  trimmer.close();
});

void test('the real probes measure kept memory and a busy thread', async () => {
  const probes = realProbe();
  const before = probes.oldSize();
  const kept = Buffer.alloc(50 << 20, 1);
  assert.ok(probes.oldSize() - before > 40 << 20);
  assert.ok(process.platform !== 'linux' || probes.privateSize() > 50 << 20);
  probes.busyShare();
  // Between event loop ticks a thread only works.
  assert.equal(probes.busyShare(), 1);
  do await whenRunning();
  while (probes.busyShare() === 1);
  assert.equal(kept[0], 1);
});

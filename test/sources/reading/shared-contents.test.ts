// Contents shared by several readers: loaded once, and counted once, for an active reader.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MemoryBusyError,
  type ReaderMemory,
  SharedContents,
} from '../../../daemon/sources/reading/shared-contents.ts';

const NEVER = new AbortController().signal;

/** A reader with room for so many bytes. */
class Reader implements ReaderMemory {
  used = 0;
  readonly #capacity: number;
  readonly #ends: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  tryTake(size: number): { release(): void } | undefined {
    if (this.used + size > this.#capacity) return undefined;
    this.used += size;
    return { release: () => void (this.used -= size) };
  }

  onOver(end: () => void): void {
    this.#ends.push(end);
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}

function loadOf(size: number): () => Promise<{ bytes: Uint8Array }> {
  return () => Promise.resolve({ bytes: new Uint8Array(size) });
}

test('a content is loaded once and counted for its first reader', async () => {
  const contents = new SharedContents();
  const readers = [new Reader(100), new Reader(0), new Reader(0)];
  let loadCount = 0;
  const load = (): Promise<{ bytes: Uint8Array }> => {
    loadCount++;
    return loadOf(80)();
  };
  const found = await Promise.all(
    readers.map((reader) => contents.open('a', 80, reader, NEVER, load)),
  );
  assert.equal(loadCount, 1);
  assert.ok(found.every((one) => one === found[0]));
  assert.deepEqual(
    readers.map(({ used }) => used),
    [80, 0, 0],
  );
  for (const reader of readers) reader.end();
  assert.equal(contents.count, 0);
  assert.equal(readers[0]?.used, 0);
});

test('when the first reader leaves it counts for another one within its share, otherwise stays', async () => {
  const contents = new SharedContents();
  const [first, poor, rich] = [new Reader(100), new Reader(10), new Reader(100)];
  for (const reader of [first, poor, rich]) await contents.open('a', 80, reader, NEVER, loadOf(80));
  first.end();
  assert.deepEqual([first.used, poor.used, rich.used], [0, 0, 80]);
  rich.end();
  assert.deepEqual([first.used, poor.used, rich.used], [0, 0, 80], 'nobody has room for it');
  poor.end();
  assert.deepEqual([first.used, poor.used, rich.used], [0, 0, 0]);
  assert.equal(contents.count, 0);
});

test('over the limit: refused before loading, or when it turns out larger', async () => {
  const contents = new SharedContents();
  const reader = new Reader(50);
  const never = (): Promise<never> => assert.fail('loaded');
  await assert.rejects(contents.open('a', 51, reader, NEVER, never), MemoryBusyError);
  await assert.rejects(contents.open('a', 10, reader, NEVER, loadOf(51)), MemoryBusyError);
  reader.end();
  assert.deepEqual([contents.count, reader.used], [0, 0]);
  await contents.open('a', 50, reader, NEVER, loadOf(20));
  assert.equal(reader.used, 20);
});

test('a reader that leaves before the content is loaded, or was over before, takes no memory', async () => {
  const contents = new SharedContents();
  const reader = new Reader(50);
  const opened = contents.open('a', 40, reader, NEVER, loadOf(20));
  reader.end();
  await opened;
  const over = new Reader(50);
  over.onOver = (end) => end();
  await contents.open('a', 40, over, NEVER, loadOf(40));
  assert.deepEqual([contents.count, reader.used, over.used], [0, 0, 0]);
});

test('a failed load is retried, and takes no memory without readers', async () => {
  const contents = new SharedContents();
  const reader = new Reader(50);
  const failing = (): Promise<never> => Promise.reject(new Error('unreadable'));
  await assert.rejects(contents.open('a', 40, reader, NEVER, failing), /unreadable/);
  await contents.open('a', 40, reader, NEVER, loadOf(40));
  reader.end();
  assert.deepEqual([contents.count, reader.used], [0, 0]);
});

test('a load without readers is aborted, and restarted for new ones', async () => {
  const contents = new SharedContents();
  const readers = [new Reader(100), new Reader(100)];
  const leaving = readers.map(() => new AbortController());
  const ends: AbortSignal[] = [];
  const load = (end: AbortSignal): Promise<never> => {
    ends.push(end);
    return new Promise((_, reject) => {
      end.addEventListener('abort', () => reject(new Error('given up')));
    });
  };
  const requested = readers.map((reader, i) =>
    assert.rejects(contents.open('a', 80, reader, leaving[i]!.signal, load), /gone/),
  );
  leaving[0]!.abort(new Error('gone'));
  await requested[0];
  assert.deepEqual(
    ends.map(({ aborted }) => aborted),
    [false],
    'one still waits',
  );
  leaving[1]!.abort(new Error('gone'));
  await requested[1];
  assert.equal(ends[0]?.aborted, true);
  const late = new Reader(0);
  assert.equal((await contents.open('a', 80, late, NEVER, loadOf(80))).bytes.length, 80);
  for (const reader of [...readers, late]) reader.end();
  assert.deepEqual([contents.count, ...readers.map(({ used }) => used)], [0, 0, 0]);
});

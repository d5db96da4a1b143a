// Messages over a pipe: complete in any chunks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  frameOf,
  FrameReader,
  type TreeAnswer,
  type TreeRequest,
} from '../../../daemon/engine/symbols/tree-messages.ts';
import { seededRandom } from '../../../bench/samples.ts';

const REQUESTS: readonly TreeRequest[] = [0, 1, 3, 70_000].map((size) => ({
  language: 'C++',
  grammar: 'cpp',
  content: new Uint8Array(size).fill(0xff),
}));

/** Cuts bytes into pieces of these sizes, in turn. */
function* cut(bytes: Buffer, sizes: () => number): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const size = sizes();
    yield bytes.subarray(start, start + size);
    start += size;
  }
}

function readAll(bytes: Buffer, sizes: () => number): TreeRequest[] {
  const reader = new FrameReader<TreeRequest>();
  return [...cut(bytes, sizes)].flatMap((chunk) => [...reader.take(chunk)]);
}

test('requests stay whole in any chunks', () => {
  const bytes = Buffer.concat(REQUESTS.map(frameOf));
  const random = seededRandom(1);
  const anySize = (): number => 1 + Math.floor(random() * 9);
  for (const sizes of [() => bytes.length, () => 1, () => 4, () => 5, () => 65_536, anySize]) {
    const found = readAll(bytes, sizes);
    assert.equal(found.length, REQUESTS.length);
    for (const [index, { language, grammar, content }] of found.entries()) {
      assert.deepEqual([language, grammar], ['C++', 'cpp']);
      assert.ok(Buffer.from(REQUESTS[index]!.content).equals(content));
    }
  }
  assert.deepEqual(
    readAll(bytes.subarray(0, 3), () => 3),
    [],
  );
});

test('an answer with symbols and parents', () => {
  const parent = { name: 'P', kind: 3 };
  const symbols = [{ start: 1, size: 2, kind: 4, parent }];
  const answer: TreeAnswer = { outcome: { symbols }, isSpent: true };
  assert.deepEqual([...new FrameReader<TreeAnswer>().take(frameOf(answer))], [answer]);
});

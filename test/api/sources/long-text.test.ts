// Long texts that are escaped while they are sent, against JSON.stringify of the whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { allBytes } from '../../../daemon/base/lazy-bytes.ts';
import { longTextJson } from '../../../daemon/api/sources/long-text.ts';
import { utf8Text } from '../../../daemon/base/utf8-text.ts';

const WINDOW_SIZE = 64 * 1024;
const FOR_ONE = { signal: new AbortController().signal, clientKey: '' };

async function check(bytes: Buffer): Promise<void> {
  const lazy = await longTextJson('source', bytes, { language: '"', size: 1 }, FOR_ONE);
  const whole = { source: utf8Text(bytes), language: '"', size: 1 };
  const expected = Buffer.from(JSON.stringify(whole));
  assert.equal(lazy.byteLength, expected.length);
  assert.ok(Buffer.from(allBytes(lazy)).equals(expected));
  for (const offset of [0, 5, lazy.byteLength - 1, lazy.byteLength >>> 1]) {
    const chunk = Buffer.from(lazy.from(offset));
    assert.ok(chunk.length > 0 && chunk.equals(expected.subarray(offset, offset + chunk.length)));
  }
}

test('sizes around the windows', async () => {
  for (const size of [0, 1, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, 3 * WINDOW_SIZE])
    await check(Buffer.alloc(size, 'a\n'));
});

test('characters and bad bytes around the end of a window', async () => {
  const chunks = ['é', '日', '\u{1F600}', '\uFEFF', '"\\\0\u2028'].map((text) => Buffer.from(text));
  const bad = [
    '\xff',
    '\xc3',
    '\xf0\x9f',
    '\xf0\x9f\x98',
    '\x80',
    '\x80\x80\x80\x80\x80',
    '\xed\xa0\x80',
    '\xe6\xbc',
    '\xf0\x9f\x98\xe6\xbc',
  ];
  chunks.push(...bad.map((text) => Buffer.from(text, 'latin1')));
  for (const chunk of chunks) {
    for (let before = WINDOW_SIZE - 6; before <= WINDOW_SIZE + 1; before++)
      await check(Buffer.concat([Buffer.alloc(before, 'x'), chunk, Buffer.from('tail')]));
  }
});

test('random bytes around the end of a window', async () => {
  const byte = fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0xff, 0x9f, 0x22);
  await fc.assert(
    fc.asyncProperty(
      fc.array(byte, { maxLength: 16 }),
      fc.integer({ min: 0, max: 8 }),
      (bytes, shift) =>
        check(Buffer.concat([Buffer.alloc(WINDOW_SIZE - shift, 'x'), Buffer.from(bytes)])),
    ),
    { numRuns: 200 },
  );
});

/** Turns of the event loop until `promise` has settled. */
async function timeSlicesOf(promise: Promise<unknown>): Promise<number> {
  let count = 0;
  const tick = async (): Promise<'tick'> => {
    await setImmediate();
    return 'tick';
  };
  const ended = promise.then(
    () => 'end',
    () => 'end',
  );
  while ((await Promise.race([tick(), ended])) === 'tick') count++;
  return count;
}

test('a text is measured once for all its readers, one window a time slice', async () => {
  const windowCount = 40;
  const bytes = Buffer.alloc(windowCount * WINDOW_SIZE, 'a\n');
  // Each request has its own signal.
  const all = Array.from({ length: 20 }, () =>
    longTextJson(
      'source',
      bytes,
      { size: 1 },
      { ...FOR_ONE, signal: new AbortController().signal },
    ),
  );
  const timeSliceCount = await timeSlicesOf(Promise.all(all));
  assert.ok(timeSliceCount >= windowCount, `${timeSliceCount} turns`);
  assert.ok(timeSliceCount < 2 * windowCount, `${timeSliceCount} turns`);
  assert.ok((await timeSlicesOf(longTextJson('source', bytes, {}, FOR_ONE))) < 3);
});

test('measuring stops when nobody waits for it', async () => {
  const windowCount = 40;
  const bytes = Buffer.alloc(windowCount * WINDOW_SIZE, 'a\n');
  const leaving = new AbortController();
  const requested = longTextJson(
    'source',
    bytes,
    { size: 1 },
    { ...FOR_ONE, signal: leaving.signal },
  );
  await setImmediate();
  leaving.abort(new Error('gone'));
  assert.ok((await timeSlicesOf(assert.rejects(requested, /gone/))) < 3);
  for (let i = 0; i < 2 * windowCount; i++) await setImmediate();
  const timeSliceCount = await timeSlicesOf(longTextJson('source', bytes, { size: 1 }, FOR_ONE));
  assert.ok(timeSliceCount >= windowCount, `measured anew in ${timeSliceCount} turns`);
});

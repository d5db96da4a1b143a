// Tests of long texts that are escaped while they are sent, against JSON.stringify of the whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { allBytes } from '../../daemon/api/lazy-bytes.ts';
import { longTextJson } from '../../daemon/api/long-text.ts';

const WINDOW_SIZE = 64 * 1024;

async function check(bytes: Buffer): Promise<void> {
  const lazy = await longTextJson('source', bytes, { language: '"', size: 1 });
  const whole = { source: bytes.toString('utf8'), language: '"', size: 1 };
  const expected = Buffer.from(JSON.stringify(whole));
  assert.equal(lazy.byteLength, expected.length);
  assert.ok(Buffer.from(allBytes(lazy)).equals(expected));
  for (const offset of [0, 5, lazy.byteLength - 1, lazy.byteLength >>> 1]) {
    const piece = Buffer.from(lazy.from(offset));
    assert.ok(piece.length > 0 && piece.equals(expected.subarray(offset, offset + piece.length)));
  }
}

test('sizes around the windows', async () => {
  for (const size of [0, 1, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, 3 * WINDOW_SIZE])
    await check(Buffer.alloc(size, 'a\n'));
});

test('characters and bad bytes around the end of a window', async () => {
  const pieces = ['é', '日', '\u{1F600}', '\uFEFF', '"\\\0\u2028'].map((text) => Buffer.from(text));
  const bad = [
    '\xff',
    '\xc3',
    '\xf0\x9f',
    '\xf0\x9f\x98',
    '\x80',
    '\x80\x80\x80\x80\x80',
    '\xed\xa0\x80',
  ];
  pieces.push(...bad.map((text) => Buffer.from(text, 'latin1')));
  for (const piece of pieces) {
    for (let before = WINDOW_SIZE - 6; before <= WINDOW_SIZE + 1; before++)
      await check(Buffer.concat([Buffer.alloc(before, 'x'), piece, Buffer.from('tail')]));
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

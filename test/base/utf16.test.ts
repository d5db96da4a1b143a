// Text in UTF-16 against the encoder of Node.js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { utf8Of } from '../../daemon/base/utf16.ts';

function inUtf16(text: string, isBig: boolean): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
}

test('UTF-16 with a byte order mark becomes UTF-8 without one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isBig) => {
      assert.equal(
        Buffer.from(utf8Of(inUtf16(text, isBig))).toString(),
        Buffer.from(text).toString(),
      );
    }),
  );
});

test('characters cut between chunks stay whole', () => {
  // A mark, then pairs: each piece of 2^20 bytes ends within a surrogate pair.
  const text = '\u{1F600}'.repeat(600_000);
  assert.ok(Buffer.from(text).equals(utf8Of(inUtf16(text, true))));
});

test('invalid text, half units, and text that is not UTF-16', () => {
  const cases: [number[], string][] = [
    [[0xff, 0xfe], ''],
    [[0xff, 0xfe, 0x61], '\uFFFD'],
    [[0xfe, 0xff, 0xd8, 0, 0, 0x61], '\uFFFDa'],
    [[0xff, 0xfe, 0, 0], '\0'],
  ];
  for (const [bytes, expected] of cases)
    assert.equal(Buffer.from(utf8Of(Uint8Array.from(bytes))).toString(), expected);
  for (const bytes of [Buffer.from('a\0b\0'), Buffer.from('\uFEFFa'), Buffer.of(), Buffer.of(0xff)])
    assert.equal(utf8Of(bytes), bytes);
});

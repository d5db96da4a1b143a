// Bytes as text: each invalid byte is one U+FFFD, as in searches.

import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { diffsOf } from '../../daemon/sources/history/diff.ts';
import { utf8Text } from '../../daemon/base/utf8-text.ts';

/** Takes the shortest well-formed character, else one bad byte. */
function slowText(bytes: Buffer): string {
  let text = '';
  for (let offset = 0; offset < bytes.length;) {
    const size = [1, 2, 3, 4].find((count) => isUtf8(bytes.subarray(offset, offset + count)));
    text += size === undefined ? '\uFFFD' : bytes.toString('utf8', offset, offset + size);
    offset += size ?? 1;
  }
  return text;
}

test('characters that are cut off', () => {
  const texts: [latin1: string, text: string][] = [
    ['trunc \xe6\xbc\n', 'trunc \uFFFD\uFFFD\n'],
    ['\xf0\x9f\x98', '\uFFFD\uFFFD\uFFFD'],
    ['\xf0\x9f\xe6\xbc\xa2', '\uFFFD\uFFFD\u6F22'],
    ['\xed\xa0\x80', '\uFFFD\uFFFD\uFFFD'],
    ['\xef\xbb\xbfa', '\uFEFFa'],
  ];
  for (const [latin1, text] of texts)
    assert.equal(utf8Text(Buffer.from(latin1, 'latin1')), text, JSON.stringify(latin1));
});

test('any bytes', () => {
  const edges = [
    0x0a, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
    0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
  ];
  const byte = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 12 }), (bytes) => {
      assert.equal(utf8Text(Uint8Array.from(bytes)), slowText(Buffer.from(bytes)));
    }),
    { numRuns: 20_000 },
  );
});

test('lines of a diff', () => {
  const patch =
    `:100644 100644 ${'1'.repeat(40)} ${'2'.repeat(40)} M\ta\n\n` +
    'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@ \xe6\xbc\n-\xe6\xbc\n+\xe6\xbc\xa2\n';
  const [file] = diffsOf(patch);
  assert.equal(file?.hunks[0]?.heading, '\uFFFD\uFFFD');
  assert.equal(file?.hunks[0]?.body, '-\uFFFD\uFFFD\n+\u6F22');
});

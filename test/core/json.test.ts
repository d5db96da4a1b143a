// Writing JSON: strings and numbers against JSON.stringify, at each vector border, with bad UTF-8.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';
import { decodeText, textArbitrary } from './oracle.ts';

interface JsonExports {
  writeJsonString(out: number, start: number, end: number): number;
  writeDecimal(out: number, value: number): number;
}

const OUTPUT_OFFSET = 1 << 16;
const GUARD = 0xee;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The inside of the JSON string that the contract asks for. */
function stringify(bytes: Uint8Array): string {
  const text = decodeText(bytes).map(({ point }) => String.fromCodePoint(point));
  return JSON.stringify(text.join('')).slice(1, -1);
}

for (const build of BUILDS) {
  test(`json (${build})`, async (t) => {
    const { exports, bytes, base } = await instantiateCore<JsonExports>(
      'test/core/assembly/kernels.ts',
      build,
    );
    const out = base + OUTPUT_OFFSET;

    /** What writeJsonString makes of `text` at `base + shift`, with `around` behind it. */
    function write(text: Uint8Array, shift = 0, around = 0x61): string {
      const start = base + shift;
      bytes.fill(around, base, base + shift + text.length + 64);
      bytes.set(text, start);
      const capacity = 6 * text.length + 16;
      bytes.fill(GUARD, out - 1, out + capacity + 16);
      const end = exports.writeJsonString(out, start, start + text.length);
      assert.equal(bytes[out - 1], GUARD);
      assert.ok(
        bytes.subarray(out + capacity, out + capacity + 16).every((byte) => byte === GUARD),
      );
      return decoder.decode(bytes.slice(out, end));
    }

    await t.test('escapes exactly what JSON requires', () => {
      assert.equal(write(Uint8Array.of()), '');
      for (let byte = 0; byte < 0x80; byte++) {
        const expected = stringify(Uint8Array.of(byte));
        assert.equal(write(Uint8Array.of(byte)), expected);
        assert.equal(write(Uint8Array.of(0x78, byte, byte, 0x79)), `x${expected}${expected}y`);
      }
      assert.equal(
        write(new TextEncoder().encode('\b\t\n\f\r"\\/\u0000\u001f\u007f')),
        '\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\u007f',
      );
    });

    await t.test('escapes at each border', () => {
      for (let size = 1; size <= 50; size++) {
        for (let index = 0; index < size; index++) {
          const text = new Uint8Array(size).fill(0x61);
          for (const byte of [0x0a, 0x01, 0x22, 0x5c, 0x80, 0xff]) {
            text[index] = byte;
            assert.equal(write(text, index % 17, 0x22), stringify(text));
          }
        }
      }
    });

    await t.test('fits its buffer when everything is escaped', () => {
      for (const byte of [0x01, 0x22, 0x80, 0xf4]) {
        for (const size of [1, 15, 16, 17, 100]) {
          const text = new Uint8Array(size).fill(byte);
          assert.equal(write(text, 0, byte), stringify(text));
        }
      }
    });

    await t.test('replaces each invalid byte, and sequences cut by the end', () => {
      const text = Uint8Array.of(0xe6, 0x97, 0xa5, 0xf0, 0x9f, 0x98, 0x80);
      assert.equal(write(text), '日😀');
      assert.equal(write(text.subarray(0, 6), 0, 0x80), '日\ufffd\ufffd\ufffd');
      assert.equal(write(text.subarray(1, 3)), '\ufffd\ufffd');
      assert.equal(write(Uint8Array.of(0xef, 0xbf, 0xbd, 0xff)), '\ufffd\ufffd');
    });

    await t.test('agrees with the oracle on random texts', () => {
      const byte = fc.constantFrom(0x61, 0x22, 0x5c, 0x0a, 0x1b, 0x7f, 0x80, 0xc3, 0xa9, 0xf0);
      const raw = fc.uint8Array({ maxLength: 40 });
      const few = fc.array(byte, { maxLength: 40 }).map((list) => Uint8Array.from(list));
      const text = fc.oneof(textArbitrary(60), raw, few);
      const around = fc.constantFrom(0x61, 0x22, 0x80, 0xbf);
      fc.assert(
        fc.property(text, fc.nat(16), around, (input, shift, behind) => {
          assert.equal(write(input, shift, behind), stringify(input));
        }),
        { numRuns: 2000 },
      );
    });

    await t.test('writes numbers', () => {
      const powers = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
      const edges = [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
      for (const value of [...edges, ...powers.flatMap((power) => [power - 1, power, power + 1])]) {
        bytes.fill(GUARD, out, out + 16);
        const end = exports.writeDecimal(out, value);
        assert.equal(decoder.decode(bytes.slice(out, end)), String(value));
        assert.equal(bytes[end], GUARD);
      }
    });
  });
}

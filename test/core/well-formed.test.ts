// Finding invalid UTF-8, against the decoder of JavaScript: every kind of sequence at every offset of a step.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore } from './driver.ts';
import { decodeText, REPLACEMENT } from './oracle.ts';

interface Exports {
  findIllFormed(start: number, end: number): number;
}

/** Offset of the first bad byte, or the size. A U+FFFD that stands there has three bytes. */
function firstBad(bytes: Uint8Array): number {
  const bad = decodeText(bytes).find(({ point, size }) => point === REPLACEMENT && size === 1);
  return bad?.offset ?? bytes.length;
}

const POINTS = [0x61, 0x80, 0xe9, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff];
const SEQUENCES = POINTS.map((point) => [...new TextEncoder().encode(String.fromCodePoint(point))]);

for (const build of BUILDS) {
  test(`well-formed (${build})`, async (t) => {
    const core = await instantiateCore<Exports>('test/core/assembly/kernels.ts', build);
    const start = core.base + 64;
    const find = (bytes: Uint8Array, around = 0xbf): number => {
      core.bytes.fill(around, start - 64, start + bytes.length + 64);
      core.bytes.set(bytes, start);
      return core.exports.findIllFormed(start, start + bytes.length) - start;
    };

    await t.test('all pairs of bytes, and leads with two continuations, at any offset', () => {
      const bytes = Array.from({ length: 256 }, (_, byte) => byte);
      const edges = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
      const pairs = bytes.slice(0x7e).flatMap((a) => bytes.map((b) => [a, b]));
      const longer = bytes.slice(0xbf).flatMap((a) =>
        edges.flatMap((b) =>
          edges.flatMap((c) => [
            [a, b, c],
            [a, b, c, 0x80],
          ]),
        ),
      );
      [...pairs, ...longer].forEach((sequence, index) => {
        const text = new Uint8Array(150).fill(0x61);
        const at = (index * 7) % 140;
        text.set(sequence, at);
        const own = firstBad(Uint8Array.from([...sequence, 0x61]));
        const expected = own > sequence.length ? text.length : at + own;
        assert.equal(find(text), expected, `${sequence.join()} at ${at}`);
      });
    });

    await t.test('random texts, some of them damaged', () => {
      const input = fc.record({
        sequences: fc.array(fc.constantFrom(...SEQUENCES), { maxLength: 120 }),
        damage: fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 2 }),
        around: fc.constantFrom(0x61, 0x80, 0xf0),
      });
      fc.assert(
        fc.property(input, ({ sequences, damage, around }) => {
          const text = Uint8Array.from(sequences.flat());
          for (const [at, byte] of damage) if (at < text.length) text[at] = byte;
          assert.equal(find(text, around), firstBad(text));
        }),
        { numRuns: 300 },
      );
    });
  });
}

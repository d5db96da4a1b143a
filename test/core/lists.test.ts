// Frames of posting lists, and searches in the gram dictionary, against plain JavaScript: frames of random ids, frames of
// random bytes, which may be damaged, and keys in front of, between, and behind those of a dictionary. The order of names
// against its scalar twin.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  FRAME_CODE_SHIFT,
  FRAME_GOLOMB,
  FRAME_ORDER_SHIFT,
  FRAME_SIZE_MASK,
} from '../../core/shared/format.ts';
import { STATUS_FRAME, STATUS_OK } from '../../core/shared/status.ts';
import { BUILDS, type CoreInstance, instantiateCore } from './driver.ts';
import { textArbitrary } from './oracle.ts';

interface ListExports {
  encodeFrame(ids: number, count: number, out: number): number;
  decodeFrame(head: number, ptr: number, bitmap: number): number;
  makeView(ptr: number, keys: number, count: number): number;
  lowerGram(view: number, key: number): number;
  lowerGrams(view: number, keys: number, count: number, out: number): void;
  compareFolded: Compare;
  compareFoldedScalar: Compare;
}

type Compare = (a: number, aSize: number, b: number, bSize: number, isPrefix: number) => number;

const ENTRY = 'test/core/assembly/lists.ts';
const SEGMENT = 8192;
const BITMAP_SIZE = 1024;

interface Decoded {
  readonly status: number;
  readonly ids: readonly number[];
}

/** Decodes one frame at a time. */
class FrameReader {
  readonly #core: CoreInstance<ListExports>;
  readonly #frame: number;

  constructor(core: CoreInstance<ListExports>) {
    this.#core = core;
    this.#frame = core.base + BITMAP_SIZE;
  }

  decode(head: number, frame: Uint8Array): Decoded {
    const { bytes, exports, base } = this.#core;
    bytes.fill(0, base, base + BITMAP_SIZE);
    bytes.set(frame, this.#frame);
    const status = exports.decodeFrame(head, this.#frame, base);
    const ids: number[] = [];
    for (let id = 0; id < SEGMENT; id++)
      if (((bytes[base + (id >> 3)]! >> (id & 7)) & 1) === 1) ids.push(id);
    return { status, ids };
  }

  /** The head of the frame of `ids`, and its bytes with 16 more. */
  encode(ids: readonly number[]): { head: number; frame: Uint8Array } {
    const { bytes, exports, base } = this.#core;
    const list = base + 65536;
    new Uint16Array(bytes.buffer, list, ids.length).set(ids);
    const head = exports.encodeFrame(list, ids.length, base);
    return { head, frame: bytes.slice(base, base + (head & FRAME_SIZE_MASK) + 16) };
  }
}

/** The Golomb code of FORMAT.md, bit by bit. A damaged frame gives the ids in front of the damage. */
function decodeSlowly(frame: Uint8Array, size: number, order: number): Decoded {
  if (size < 2) return { status: STATUS_FRAME, ids: [] };
  const isLong = frame[0]! > 127;
  const count = isLong ? (frame[0]! & 127) | (frame[1]! << 7) : frame[0]!;
  let bit = isLong ? 16 : 8;
  const next = (): number => {
    const value = ((frame[bit >> 3] ?? 0) >> (bit & 7)) & 1;
    bit++;
    return value;
  };
  const ids: number[] = [];
  let id = -1;
  for (let i = 0; i < count; i++) {
    let zeros = 0;
    while (zeros <= 13 && next() === 0) zeros++;
    if (zeros > 13) return { status: STATUS_FRAME, ids };
    let value = 1;
    for (let k = 0, low = 0; k < zeros + order; k++) {
      low += next() * 2 ** k;
      if (k === zeros + order - 1) value = 2 ** (k + 1) + low;
    }
    id += value - (2 ** order - 1);
    if (id >= SEGMENT) return { status: STATUS_FRAME, ids };
    ids.push(id);
  }
  return { status: bit <= size * 8 ? STATUS_OK : STATUS_FRAME, ids };
}

for (const build of BUILDS) {
  void test(`frames give their ids back (${build})`, async () => {
    const reader = new FrameReader(await instantiateCore<ListExports>(ENTRY, build));
    const gap = fc.oneof(
      fc.constant(1),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: SEGMENT }),
    );
    const property = fc.property(fc.array(gap, { minLength: 1, maxLength: 600 }), (gaps) => {
      const ids: number[] = [];
      for (let i = 0, id = -1; i < gaps.length; i++) {
        id += gaps[i]!;
        if (id < SEGMENT) ids.push(id);
      }
      if (ids.length === 0) return;
      const { head, frame } = reader.encode(ids);
      assert.deepEqual(reader.decode(head, frame), { status: STATUS_OK, ids });
    });
    fc.assert(property, { numRuns: 300 });
  });

  void test(`frames of random bytes are read as by the slow decoder (${build})`, async () => {
    const reader = new FrameReader(await instantiateCore<ListExports>(ENTRY, build));
    // Bytes with few bits give long codes, those with many bits many codes.
    const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 2, 128, 255));
    const bytes = fc.array(byte, { minLength: 1, maxLength: 80 });
    const property = fc.property(
      fc.nat({ max: 200 }),
      bytes,
      fc.nat({ max: 7 }),
      fc.nat({ max: 90 }),
      (count, rest, order, size) => {
        // Room for what a wrong count reads.
        const frame = new Uint8Array(40_000);
        frame.set([count, ...rest]);
        const head = (FRAME_GOLOMB << FRAME_CODE_SHIFT) | (order << FRAME_ORDER_SHIFT) | size;
        assert.deepEqual(reader.decode(head, frame), decodeSlowly(frame, size, order));
      },
    );
    fc.assert(property, { numRuns: 1000 });
  });

  void test(`several grams are found as one by one (${build})`, async () => {
    const core = await instantiateCore<ListExports>(ENTRY, build);
    const { bytes, exports, base } = core;
    const key = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 2 ** 21 - 1 }));
    const property = fc.property(fc.uniqueArray(key), fc.array(key), (dictionary, keys) => {
      const sorted = dictionary.sort((a, b) => a - b);
      new Uint32Array(bytes.buffer, base + 1024, sorted.length).set(sorted);
      new Uint32Array(bytes.buffer, base + 8192, keys.length).set(keys);
      const view = exports.makeView(base, base + 1024, sorted.length);
      exports.lowerGrams(view, base + 8192, keys.length, base + 16384);
      const found = [...new Uint32Array(bytes.buffer, base + 16384, keys.length)];
      const expected = keys.map((one) => sorted.filter((other) => other < one).length);
      assert.deepEqual(found, expected);
      assert.deepEqual(
        keys.map((one) => exports.lowerGram(view, one)),
        expected,
      );
    });
    fc.assert(property, { numRuns: 300 });
  });

  void test(`names are compared as byte by byte (${build})`, async () => {
    const { bytes, exports, base } = await instantiateCore<ListExports>(ENTRY, build);
    // Any ASCII bytes, and letters next to those that fold.
    const ascii = fc.oneof(fc.nat({ max: 127 }), fc.constantFrom(...Buffer.from('@AZ[`az{_')));
    const text = fc.oneof(fc.uint8Array({ maxLength: 20 }), textArbitrary(8));
    const property = fc.property(
      fc.array(ascii, { maxLength: 40 }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      text,
      text,
      (common, flips, aRest, bRest) => {
        // The other case of a letter; of another byte, another byte.
        const other = common.map((byte, index) => (flips[index] === true ? byte ^ 32 : byte));
        const a = [...common, ...aRest];
        const b = [...other, ...bRest];
        bytes.set(a, base);
        bytes.set(b, base + 512);
        for (const isPrefix of [0, 1]) {
          const texts = [base, a.length, base + 512, b.length, isPrefix] as const;
          assert.equal(exports.compareFolded(...texts), exports.compareFoldedScalar(...texts));
        }
      },
    );
    fc.assert(property, { numRuns: 3000 });
  });
}

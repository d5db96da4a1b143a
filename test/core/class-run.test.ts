// The search for runs of a class against its scalar twin and JavaScript: random classes and texts, every run size
// around the step borders, ends.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore, type CoreInstance } from './driver.ts';

interface ClassRunExports {
  CLASS_RUN_SIZE: { value: number };
  compileClassRun(set: number, runSizeMin: number, out: number): void;
  findClassRun(classRun: number, start: number, end: number): number;
  findClassRunScalar(set: number, runSizeMin: number, start: number, end: number): number;
}

type IsMember = (byte: number) => boolean;

const SIZES = [1, 2, 3, 5, 6, 7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64, 100, 300];

const CLASSES: Record<string, IsMember> = {
  digit: (byte) => byte >= 0x30 && byte <= 0x39,
  hex: (byte) => /[0-9a-f]/.test(String.fromCharCode(byte)),
  word: (byte) => byte < 0x80 && /\w/.test(String.fromCharCode(byte)),
  greekLead: (byte) => byte >= 0xcd && byte <= 0xcf,
  notNewline: (byte) => byte !== 10,
  any: () => true,
  none: () => false,
  zero: (byte) => byte === 0,
  last: (byte) => byte === 255,
  // Sixteen rows that all differ: more than the tables can tell apart.
  scattered: (byte) => ((byte & 15) * 7 + (byte >> 4) * 5) % 16 === 3 || byte % 17 === 0,
};

/** One class at a time on one instance. */
class RunSearcher {
  private readonly core: CoreInstance<ClassRunExports>;
  private readonly set: number;
  private readonly compiled: number;
  private readonly text: number;
  private size = 1;

  constructor(core: CoreInstance<ClassRunExports>) {
    this.core = core;
    this.set = core.base;
    this.compiled = core.base + 64;
    this.text = core.base + 1024;
  }

  compile(isMember: IsMember, size: number): void {
    const { exports, bytes } = this.core;
    bytes.fill(0, this.set, this.set + 32);
    for (let byte = 0; byte < 256; byte++) {
      const index = this.set + (byte >> 3);
      bytes[index] = (bytes[index] ?? 0) | (+isMember(byte) << (byte & 7));
    }
    bytes.fill(0xee, this.compiled, this.text);
    exports.compileClassRun(this.set, size, this.compiled);
    const behind = bytes.subarray(this.compiled + exports.CLASS_RUN_SIZE.value, this.text);
    assert.ok(behind.every((byte) => byte === 0xee));
    this.size = size;
  }

  /** Start of the first run at or behind `from`, -1 if none; the twin must say the same. */
  find(text: Uint8Array, from: number, shift: number, around: number): number {
    const { exports, bytes } = this.core;
    const start = this.text + 64 + shift;
    const end = start + text.length;
    bytes.fill(around, start - 64, end + 320);
    bytes.set(text, start);
    const found = exports.findClassRun(this.compiled, start + from, end);
    assert.equal(found, exports.findClassRunScalar(this.set, this.size, start + from, end));
    return found === end ? -1 : found - start;
  }
}

/** The same in plain JavaScript. */
function firstRun(text: Uint8Array, isMember: IsMember, size: number, from: number): number {
  for (let start = from; start + size <= text.length; start++) {
    if (text.subarray(start, start + size).every((byte) => isMember(byte))) return start;
  }
  return -1;
}

/** A byte inside or outside of the class; any byte if there is none. */
function byteOf(isMember: IsMember, inClass: boolean, seed: number): number {
  for (let i = 0; i < 256; i++) {
    const byte = (seed * 31 + i) & 255;
    if (isMember(byte) === inClass) return byte;
  }
  return seed & 255;
}

for (const build of BUILDS) {
  test(`class run (${build})`, async (t) => {
    const core = await instantiateCore<ClassRunExports>('test/core/assembly/kernels.ts', build);
    const searcher = new RunSearcher(core);

    await t.test('finds a run of each size at each border, and none that is cut', () => {
      for (const [name, isMember] of Object.entries(CLASSES)) {
        if (name === 'any' || name === 'none') continue;
        const inside = byteOf(isMember, true, 5);
        const outside = byteOf(isMember, false, 9);
        for (const size of SIZES) {
          searcher.compile(isMember, size);
          for (let before = 0; before <= 66; before++) {
            const text = new Uint8Array(before + size).fill(outside);
            text.fill(inside, before);
            const label = `${name} ${size} ${before}`;
            assert.equal(searcher.find(text, 0, before % 64, inside), before, label);
            assert.equal(searcher.find(text.subarray(0, -1), 0, 1, inside), -1, label);
            const longer = Uint8Array.of(
              ...text,
              outside,
              ...text.fill(outside, before, before + 1),
            );
            assert.equal(searcher.find(longer, 0, 3, inside), before, label);
            assert.equal(searcher.find(longer, before + 1, 3, inside), -1, label);
          }
        }
      }
    });

    await t.test('agrees with plain JavaScript on random runs', () => {
      const input = fc.record({
        name: fc.constantFrom(...Object.keys(CLASSES)),
        bits: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 })),
        size: fc.constantFrom(...SIZES),
        runs: fc.array(fc.tuple(fc.nat(1000), fc.nat(6), fc.integer({ min: -40, max: 6 })), {
          maxLength: 12,
        }),
        shift: fc.nat(64),
        from: fc.nat(50),
      });
      fc.assert(
        fc.property(input, ({ name, bits, size, runs, shift, from }) => {
          const isInClass = CLASSES[name] ?? (() => true);
          const isMember: IsMember =
            bits === null
              ? isInClass
              : (byte) => (((bits[byte >> 3] ?? 0) >> (byte & 7)) & 1) === 1;
          // Runs of about the requested size, with a few bytes outside between them.
          const text = Uint8Array.from(
            runs.flatMap(([seed, gap, more]) => [
              ...Array.from({ length: gap }, (_, i) => byteOf(isMember, false, seed + i)),
              ...Array.from({ length: Math.max(0, size + more) }, (_, i) =>
                byteOf(isMember, true, seed + i * 3),
              ),
            ]),
          );
          searcher.compile(isMember, size);
          const start = Math.min(from, text.length);
          const expected = firstRun(text, isMember, size, start);
          assert.equal(searcher.find(text, start, shift, byteOf(isMember, true, 1)), expected);
        }),
        { numRuns: 1500 },
      );
    });
  });
}

// The searcher for sets of literals against its scalar twin and plain JavaScript: small worlds, random sets,
// vector borders, ends, many literals.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { BUILDS, instantiateCore, type CoreInstance } from './driver.ts';
import { decodeText, findPoints, flagsOf, FOLDS_INTO_ASCII, textArbitrary } from './oracle.ts';

interface SetExports {
  literalSetSizeMax(count: number, size: number): number;
  compileLiteralSet(
    rows: number,
    count: number,
    bytes: number,
    caseSensitive: number,
    out: number,
    capacity: number,
  ): number;
  findInSet(set: number, start: number, end: number, flags: number): number;
  foundSetEnd(): number;
  foundSetIndex(): number;
  findInSetScalar(
    rows: number,
    count: number,
    bytes: number,
    start: number,
    end: number,
    isFolding: number,
  ): number;
  foundSetEndScalar(): number;
  foundSetIndexScalar(): number;
}

/** Start and end in bytes, number of the literal. */
type Match = [start: number, end: number, index: number];

const ENTRY = 'test/core/assembly/kernels.ts';
const CAPACITY = 1 << 17;
const encoder = new TextEncoder();

/** One set at a time on one instance. */
class SetSearcher {
  private readonly core: CoreInstance<SetExports>;
  private readonly rows: number;
  private readonly text: number;
  private readonly set: number;
  private readonly haystack: number;
  private count = 0;
  private isFolding = 0;

  constructor(core: CoreInstance<SetExports>) {
    this.core = core;
    this.rows = core.base;
    this.text = core.base + 1024;
    this.set = core.base + CAPACITY;
    this.haystack = this.set + 8 * CAPACITY;
  }

  /** Writes rows and bytes; behind the rows of one set may stand those of another one. */
  private write(literals: readonly Uint8Array[]): number {
    const view = new DataView(this.core.bytes.buffer);
    let offset = 0;
    for (const [index, literal] of literals.entries()) {
      view.setUint32(this.rows + index * 8, offset, true);
      view.setUint32(this.rows + index * 8 + 4, literal.length, true);
      this.core.bytes.set(literal, this.text + offset);
      offset += literal.length;
    }
    return offset;
  }

  status(literals: readonly Uint8Array[], missing = 0, count = literals.length): number {
    const { exports } = this.core;
    const capacity = exports.literalSetSizeMax(literals.length, this.write(literals)) - missing;
    return exports.compileLiteralSet(this.rows, count, this.text, 1, this.set, capacity);
  }

  compile(literals: readonly Uint8Array[], isCaseSensitive: boolean): void {
    const { exports, bytes } = this.core;
    const size = this.write(literals);
    this.count = literals.length;
    this.isFolding = +!isCaseSensitive;
    const capacity = exports.literalSetSizeMax(literals.length, size);
    bytes.fill(0xee, this.set, this.set + capacity + 64);
    const used = exports.compileLiteralSet(
      this.rows,
      literals.length,
      this.text,
      +isCaseSensitive,
      this.set,
      capacity,
    );
    assert.ok(used > 0 && used <= capacity && used % 16 === 0);
    assert.ok(
      bytes.subarray(this.set + capacity, this.set + capacity + 64).every((b) => b === 0xee),
    );
    // The compiled form may be copied.
    bytes.copyWithin(this.set + 4 * CAPACITY, this.set, this.set + used);
    bytes.fill(0xcc, this.set, this.set + capacity);
    bytes.copyWithin(this.set + 16, this.set + 4 * CAPACITY, this.set + 4 * CAPACITY + used);
  }

  /**
   * All matches in `haystack`, each looked for from the end of the one before, `shift` bytes from a multiple
   * of 64 between bytes `around`. Checks that the scalar twin finds the same.
   */
  find(haystack: Uint8Array, flags: number, shift = 0, around = 0x61): Match[] {
    const { exports, bytes } = this.core;
    const start = this.haystack + 64 + shift;
    const end = start + haystack.length;
    bytes.fill(around, start - 64, end + 64);
    bytes.set(haystack, start);
    const { count, isFolding } = this;
    const matches: Match[] = [];
    for (let ptr = start; ;) {
      const found = exports.findInSet(this.set + 16, ptr, end, flags);
      const twin = exports.findInSetScalar(this.rows, count, this.text, ptr, end, isFolding);
      assert.equal(found - start, twin - start);
      if (found === end) return matches;
      assert.equal(exports.foundSetIndex(), exports.foundSetIndexScalar());
      assert.equal(exports.foundSetEnd(), exports.foundSetEndScalar());
      ptr = exports.foundSetEnd();
      matches.push([found - start, ptr - start, exports.foundSetIndex()]);
    }
  }
}

/** The matches, from code points in JavaScript. */
function findAllOf(
  haystack: Uint8Array,
  literals: readonly Uint8Array[],
  isCaseSensitive: boolean,
): Match[] {
  const points = decodeText(haystack);
  const expected = literals.map((literal) => decodeText(literal).map(({ point }) => point));
  const matches: Match[] = [];
  for (let from = 0; ;) {
    const [best] = expected
      .map((needle, index) => ({
        index,
        size: needle.length,
        first: findPoints(points, needle, from, isCaseSensitive),
      }))
      .filter(({ first }) => first >= 0)
      .toSorted((a, b) => a.first - b.first || a.index - b.index);
    if (best === undefined) return matches;
    const first = points[best.first];
    const last = points[best.first + best.size - 1];
    assert.ok(first !== undefined && last !== undefined);
    matches.push([first.offset, last.offset + last.size, best.index]);
    from = best.first + best.size;
  }
}

const texts = (list: readonly string[]): Uint8Array[] => list.map((text) => encoder.encode(text));

for (const build of BUILDS) {
  test(`literal set (${build})`, async (t) => {
    const core = await instantiateCore<SetExports>(ENTRY, build);
    const searcher = new SetSearcher(core);

    await t.test('refuses invalid input', () => {
      assert.equal(searcher.status(texts(['ab', 'cd']), 1), -2);
      assert.equal(searcher.status(texts(['ab', ''])), -1);
      assert.equal(searcher.status([]), -4);
      const many = Array.from({ length: 65 }, (_, i) => `name${i}`);
      assert.equal(searcher.status(texts(many)), -4);
      assert.ok(searcher.status(texts(many.slice(0, 64))) > 0);
      const large = encoder.encode('x'.repeat(65537));
      assert.equal(searcher.status([large]), -3);
    });

    await t.test('finds literals at each border', () => {
      for (const count of [2, 9, 40]) {
        const literals = Array.from({ length: count }, (_, i) => `Q${i}_bc(${'y'.repeat(i)}Z`);
        const encoded = texts(literals);
        for (const isCaseSensitive of [true, false]) {
          searcher.compile(encoded, isCaseSensitive);
          for (const [index, literal] of encoded.entries()) {
            const size = literal.length;
            for (const before of [0, 1, 2, 3, 14, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65]) {
              const haystack = new Uint8Array(before + size).fill(0x2e);
              haystack.set(literal, before);
              const shift = (size * 7 + before) % 65;
              const expected: Match[] = [[before, before + size, index]];
              assert.deepEqual(searcher.find(haystack, 0, shift), expected);
              assert.deepEqual(searcher.find(haystack.subarray(0, -1), 0, shift, 0x5a), []);
              assert.deepEqual(searcher.find(haystack.subarray(before + 1), 0, shift, 0x51), []);
            }
          }
        }
      }
    });

    await t.test('agrees with the oracle on all small texts', () => {
      const alphabet = [...texts(['k', 'K', '\u212a', 'é', '\ufffd']), Uint8Array.of(0xc3)].map(
        (bytes) => [...bytes],
      );
      const pairs = alphabet.flatMap((a) => alphabet.map((b) => Uint8Array.of(...a, ...b)));
      const haystacks = pairs.flatMap((a) => alphabet.map((b) => Uint8Array.of(...a, ...b, ...a)));
      for (const [index, first] of pairs.entries()) {
        const literals = [first, pairs[(index * 7 + 3) % pairs.length] ?? first];
        for (const isCaseSensitive of [true, false]) {
          searcher.compile(literals, isCaseSensitive);
          for (const haystack of haystacks) {
            const expected = findAllOf(haystack, literals, isCaseSensitive);
            assert.deepEqual(searcher.find(haystack, flagsOf(haystack)), expected);
          }
        }
      }
    });

    await t.test('agrees with the oracle on random sets and texts', () => {
      const literal = textArbitrary(5).filter((bytes) => bytes.length > 0);
      const input = fc.record({
        literals: fc.oneof(
          fc.array(literal, { minLength: 1, maxLength: 5 }),
          fc.array(literal, { minLength: 6, maxLength: 64, size: 'max' }),
        ),
        haystack: textArbitrary(80),
        isCaseSensitive: fc.boolean(),
        shift: fc.nat(64),
        around: fc.constantFrom(0x61, 0x80, 0x84, 0xaa, 0xbf, 0x6b, 0xc3),
      });
      fc.assert(
        fc.property(input, ({ literals, haystack, isCaseSensitive, shift, around }) => {
          searcher.compile(literals, isCaseSensitive);
          const expected = findAllOf(haystack, literals, isCaseSensitive);
          const flags = flagsOf(haystack);
          assert.deepEqual(searcher.find(haystack, flags, shift, around), expected);
          assert.deepEqual(searcher.find(haystack, FOLDS_INTO_ASCII, shift, around), expected);
        }),
        { numRuns: 500 },
      );
    });
  });
}

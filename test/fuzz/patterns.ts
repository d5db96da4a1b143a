// Patterns and texts for fuzzing: ordinary and extreme expressions, mutations of these, random ones, garbage; source
// code of this checkout, and random text with invalid bytes.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { patternArbitrary } from '../engine/regex/patterns.ts';

const raw = String.raw;

/** Patterns that once were slow or wrong somewhere, or are like those that users write. */
export const REAL_PATTERNS: readonly string[] = [
  raw`err(no)?\s*=\s*-E[A-Z]+;`,
  raw`^\s*#\s*include\s+[<"]([^>"]+)[>"]`,
  raw`\b(kmalloc|kfree|vmalloc)\s*\(`,
  raw`func \(\w+ \*?(\w+)\) (\w+)\(`,
  raw`(?i)copyright.*\b(\d{4})\b`,
  raw`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
  raw`\b(?:\d{1,3}\.){3}\d{1,3}\b`,
  raw`"(?:[^"\\]|\\.)*"`,
  raw`/\*(?s:.*?)\*/`,
  raw`//[^\n]*\n\s*//`,
  raw`TODO|FIXME|XXX`,
  raw`import\s+\{[^}]*\}\s+from`,
  raw`0[xX][0-9a-fA-F]{8,16}`,
  raw`(?:public|private)\s+static\s+(\w+(?:<[^>]*>)?)\s+(\w+)\s*\(`,
  raw`\p{Greek}+|\p{Lu}\p{Ll}*`,
  raw`[^\x00-\x7F]{2,}`,
  raw`[\s\S]{3,9}?;`,
  raw`(?m)^(\w+):\s*$`,
  raw`(?U)<.+>`,
  raw`\Qa.b[c]\E+`,
  raw`[[:^alnum:]_]{2}[[:space:]]?`,
  raw`(?P<year>\d{4})-(?<month>\d\d)`,
  raw`z(?:.*q)?`,
  raw`(?:$|\n)+`,
  raw`(|a)*b`,
  raw`(a|b)*a(a|b){11}c?`,
  raw`(?:a?){20}a{20}`,
  raw`(.{40})`,
  raw`(x+x+)+y`,
  raw`((a*)*)*|b`,
  raw`\x{10ffff}|\x{d800}|[\x{d7ff}-\x{e000}]`,
  raw`(?i)[k-s]\x{212a}?[^\x{17f}]`,
  raw`\A\w|\w\z|\B.\B`,
  raw`\pL{2}[^\PN\d]?`,
  raw`(?:ab|cb|ab|cb|db){3}`,
  raw`()|(?:)+|a{0}`,
];

/** Pieces of which garbage is made. */
const TOKENS = [
  [
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '*',
    '+',
    '?',
    '|',
    '^',
    '$',
    '.',
    '\\',
    '-',
    ',',
    ':',
    '!',
    '=',
    '<',
  ],
  [
    '(?',
    '(?i)',
    '(?-s:',
    '(?P<a>',
    '[^',
    '[:',
    ':]',
    '[[:alpha:]]',
    '{2,',
    '{1000}',
    '{1001}',
    '{,3}',
  ],
  [raw`\p`, raw`\p{`, raw`\P{^Lu}`, raw`\pN`, raw`\x`, raw`\x{`, raw`\x{110000}`, raw`\Q`, raw`\E`],
  [
    raw`\1`,
    raw`\08`,
    raw`\777`,
    raw`\b`,
    raw`\B`,
    raw`\A`,
    raw`\z`,
    raw`\C`,
    raw`\d`,
    raw`\n`,
    raw`\u`,
  ],
  [
    'a',
    'B',
    '7',
    '_',
    ' ',
    '\n',
    '\0',
    '\u{e9}',
    '\u{17f}',
    '\u{1f600}',
    '\ud800',
    'file:',
    ' or ',
    '"',
  ],
].flat();

const garbage = fc
  .array(fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 2, unit: 'binary' })), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));

/** A pattern with pieces of it, or of others, taken out, doubled, or put in elsewhere. */
const mutated = fc
  .record({
    pattern: fc.oneof(fc.constantFrom(...REAL_PATTERNS), patternArbitrary),
    edits: fc.array(
      fc.record({
        at: fc.nat(100),
        size: fc.nat(6),
        put: fc.oneof(
          fc.constant(''),
          fc.constantFrom(...TOKENS),
          fc.constantFrom(...REAL_PATTERNS),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ pattern, edits }) =>
    edits.reduce((text, { at, size, put }) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + put + text.slice(start + size);
    }, pattern),
  );

/** Mostly no pattern at all. */
export const garbageArbitrary: fc.Arbitrary<string> = fc.oneof(garbage, mutated);

const FLAGS = ['', '', '(?i)', '(?s)', '(?U)', '(?is)', '(?-m)'];
const CLASSES = [
  [
    '[^a]',
    raw`\s`,
    raw`[\n-a]`,
    raw`[^\w\n]`,
    raw`\pL`,
    raw`\p{Lu}`,
    raw`\P{Ll}`,
    raw`[\p{Greek}a]`,
  ],
  [
    raw`[\x{80}-\x{ffff}]`,
    raw`[^\x{100}-\x{10ffff}]`,
    '\u{fffd}',
    raw`[\x{fff0}-\x{10000}]`,
    '(?s:.)',
  ],
].flat();
const COUNTS = ['{2}', '{3,}', '{0,5}', '{2,9}', '{7}?', '{1,12}', '*', '+?'];

const wide = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...CLASSES), patternArbitrary),
      fc.constantFrom('', ...COUNTS),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) =>
    parts.map(([part, count]) => (count === '' ? part : `(?:${part})${count}`)).join(''),
  );

/** Mostly valid patterns. */
export const validPatternArbitrary: fc.Arbitrary<string> = fc.oneof(
  patternArbitrary,
  fc.tuple(fc.constantFrom(...FLAGS), wide).map((parts) => parts.join('')),
  fc.array(wide, { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
  fc.constantFrom(...REAL_PATTERNS),
  mutated,
);

/** The checkout: this file lies three folders below it once it is compiled. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCES = [
  'core/regex/regex.ts',
  'core/README.md',
  'daemon/engine/search/run.ts',
  'package.json',
];
const source = Buffer.concat(SOURCES.map((name) => readFileSync(path.join(root, name))));

const slices = fc
  .tuple(fc.nat(source.length - 200), fc.nat(200))
  .map(([start, size]) => source.subarray(start, start + size));
const alphabet = fc
  .array(
    fc.constantFrom(
      ...Array.from('aaabbcAK1_-. \n\n\u{e9}\u{3b1}\u{17f}\u{212a}\u{fffd}\u{65e5}\u{1f600}'),
    ),
    { maxLength: 80 },
  )
  .map((characters) => Buffer.from(characters.join('')));
const runs = fc
  .tuple(
    fc.constantFrom('a', 'ab', 'z', 'x\n', ' ', '\u{e9}a'),
    fc.nat(60),
    fc.constantFrom('', 'q', 'b', '\n'),
  )
  .map(([part, count, end]) => Buffer.from(part.repeat(count) + end));
const BAD = [
  [0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xff],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xc0, 0xaf],
];

/** Up to some hundred bytes. */
export const textArbitrary: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.array(fc.oneof(slices, alphabet, runs), { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(300), fc.constantFrom(...BAD)), { maxLength: 3 }),
    fc.boolean(),
  )
  .map(([parts, bad, isBad]) => {
    let text = Buffer.concat(parts);
    for (const [at, bytes] of isBad ? bad : []) {
      const position = at % (text.length + 1);
      text = Buffer.concat([
        text.subarray(0, position),
        Buffer.from(bytes),
        text.subarray(position),
      ]);
    }
    return Uint8Array.from(text);
  });

// Random patterns that mean the same in RE2 syntax and in JavaScript (flags `m` and `u`), over few letters
// so that random texts match them.

import * as fc from 'fast-check';

const raw = String.raw;

const LEAVES = [
  ['a', 'b', 'c', 'A', '1', '-', ' ', '\u{e9}', '\u{1f600}', raw`\.`, raw`\n`, raw`\x61`],
  ['.', raw`\d`, raw`\w`, raw`\W`, raw`[\s]`, '[ab]', '[^a]', '[a-c]', raw`[\w.]`, raw`[^\d-]`],
  ['^', '$', raw`\b`, raw`\B`, raw`\p{L}`, raw`\P{Lu}`, raw`[\p{Lu}1]`, '()', '(?:)'],
].flat();

/** Repeat operators; a group around the operand keeps assertions repeatable in JavaScript. */
const repeats = fc.constantFrom(
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{0,2}',
  '{1,}',
  '{0}',
  '{1,3}?',
);

export const patternArbitrary: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
    tie('pattern').map((part) => `(${part})`),
    fc.tuple(tie('pattern'), repeats).map(([part, repeat]) => `(?:${part})${repeat}`),
  ),
})).pattern;

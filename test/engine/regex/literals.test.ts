// Reduction of expressions to literals: a table of what reduces to what, and the property that the literals
// accept exactly the texts in which the expression of JavaScript finds a match.

import test from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  ALTERNATIVE_COUNT_MAX,
  type LiteralAlternative,
  reduceToLiterals,
  type Subject,
} from '../../../daemon/engine/regex/literals.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import { patternArbitrary } from './patterns.ts';

const raw = String.raw;

/** `^text$` with the anchors that hold, joined by spaces, ` /i` if folded; `none`: not reduced. */
function formOf(pattern: string, subject: Subject, isFolded = false): string {
  const choice = reduceToLiterals(parseRegex(pattern, { isFolded }), subject);
  if (choice === undefined) return 'none';
  const forms = choice.alternatives.map(
    ({ text, anchoredStart, anchoredEnd }) =>
      `${anchoredStart ? '^' : ''}'${text}'${anchoredEnd ? '$' : ''}`,
  );
  return forms.join(' ') + (choice.letterCase === 'folded' ? ' /i' : '');
}

const NAMES: readonly (readonly [pattern: string, form: string])[] = [
  ['README', "'README'"],
  [raw`\.ts$`, "'.ts'$"],
  [raw`\.tsx?$`, "'.tsx'$ '.ts'$"],
  ['(test|spec)$', "'test'$ 'spec'$"],
  [raw`^github\.com/acme/web$`, "^'github.com/acme/web'$"],
  [raw`\Agithub\.com\z`, "^'github.com'$"],
  ['(?-m)^a$', "^'a'$"],
  ['(^|/)src/', "^'src/' '/src/'"],
  ['a(/|$)', "'a/' 'a'$"],
  [raw`\Qa.b\E`, "'a.b'"],
  [raw`[.]go`, "'.go'"],
  ['[a-c]x', "'ax' 'bx' 'cx'"],
  [raw`\d`, "'0' '1' '2' '3' '4' '5' '6' '7' '8' '9'"],
  ['a{3}', "'aaa'"],
  ['(a|b){2}', "'aa' 'ab' 'ba' 'bb'"],
  ['(a|b){0,2}c', "'aac' 'abc' 'ac' 'bac' 'bbc' 'bc' 'c'"],
  ['ab??', "'a' 'ab'"],
  ['a{0}b', "'b'"],
  ['a|a|b', "'a' 'b'"],
  ['(?i)1-2', "'1-2'"],
  ['(?i)Ab1', "'ab1' /i"],
  ['(?i)[aA]B|K', "'ab' 'k' /i"],
  ['(?i)a|A', "'a' /i"],
  ['(?i)a(?-i)1', "'a1' /i"],
  ['(?i)a(?-i)b', 'none'],
  ['a(?i)b', 'none'],
  ['(?i:1)a', "'1a'"],
  ['(?i)\u{17f}', "'s' /i"],
  ['(?U)ab?', "'a' 'ab'"],
  ['', "''"],
  ['^', "^''"],
  ['^$', "^''$"],
  ['a|', "'a' ''"],
  ['.*', "''"],
  ['a*(b|c+)?', "''"],
  ['a.b', 'none'],
  ['(?s).', 'none'],
  ['.*a', 'none'],
  ['a+', 'none'],
  ['^.*$', 'none'],
  ['[^a]', 'none'],
  [raw`\bmain\b`, 'none'],
  [raw`\p{L}`, 'none'],
  [raw`\w\d`, 'none'],
  ['a^b', 'none'],
  ['a$b', 'none'],
  ['$a', 'none'],
  ['(a|b){7}', 'none'],
  ['a{0,64}b', 'none'],
  [raw`\x{d83d}\x{de00}`, 'none'],
  [raw`[\x{d800}]`, 'none'],
];

for (const [pattern, form] of NAMES) {
  test(`in a name, ${JSON.stringify(pattern)} is ${form}`, () => {
    assert.equal(formOf(pattern, 'name'), form);
  });
}

const CONTENTS: readonly (readonly [pattern: string, form: string])[] = [
  [raw`logger\.debug`, "'logger.debug'"],
  ['^import', "^'import'"],
  [';$', "';'$"],
  [raw`a\nb`, "'a\nb'"],
  [raw`\Aimport`, 'none'],
  [raw`a\z`, 'none'],
  ['(?-m)^a', 'none'],
  ['.*', 'none'],
  ['a?', 'none'],
  ['^$', 'none'],
  ['a{0,64}', 'none'],
];

for (const [pattern, form] of CONTENTS) {
  test(`in content, ${JSON.stringify(pattern)} is ${form}`, () => {
    assert.equal(formOf(pattern, 'content'), form);
  });
}

test('case-insensitive from the start', () => {
  assert.equal(formOf('Foo|BAR', 'content', true), "'foo' 'bar' /i");
  assert.equal(formOf('(?-i)Foo', 'content', true), "'Foo'");
  assert.equal(formOf('1', 'content', true), "'1'");
});

test('alternatives are counted and sized', () => {
  assert.equal(
    reduceToLiterals(parseRegex('(a|b){6}'))?.alternatives.length,
    ALTERNATIVE_COUNT_MAX,
  );
  assert.equal(
    reduceToLiterals(parseRegex('a{1000}'.repeat(65)))?.alternatives[0]?.text.length,
    65_000,
  );
  assert.equal(reduceToLiterals(parseRegex('a{1000}'.repeat(66))), undefined);
});

/** Whether the text, one line of a name or lines of content, holds the alternative. */
function contains(text: string, alternative: LiteralAlternative): boolean {
  const starts = Array.from({ length: text.length + 1 }, (_, index) => index);
  return starts.some((start) => {
    const end = start + alternative.text.length;
    if (text.slice(start, end) !== alternative.text || end > text.length) return false;
    const isAtStart = start === 0 || text[start - 1] === '\n';
    const isAtEnd = end === text.length || text[end] === '\n';
    return (isAtStart || !alternative.anchoredStart) && (isAtEnd || !alternative.anchoredEnd);
  });
}

const literalPattern = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', 'b', 'ab', raw`\.`, '[ab]', 'a?', '(?:ab){1,2}', '^', '$', ''),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join('|')})`),
  ),
})).pattern;

for (const subject of ['name', 'content'] as const) {
  test(`the literals accept exactly what the expression accepts, in a ${subject}`, () => {
    const sampleFormat = subject === 'name' ? /^[ab.]{0,6}$/ : /^[ab.\n]{0,8}$/;
    const texts = fc.array(fc.stringMatching(sampleFormat), { minLength: 8, maxLength: 8 });
    let reducedCount = 0;
    fc.assert(
      fc.property(fc.oneof(literalPattern, patternArbitrary), texts, (pattern, samples) => {
        const choice = reduceToLiterals(parseRegex(pattern), subject);
        if (choice === undefined) return;
        reducedCount++;
        const expression = new RegExp(pattern, 'mu');
        for (const text of samples) {
          const isAccepted = choice.alternatives.some((alternative) => contains(text, alternative));
          assert.equal(isAccepted, expression.test(text), `${pattern} in ${JSON.stringify(text)}`);
        }
      }),
      { numRuns: 5000 },
    );
    assert.ok(reducedCount > 500, `only ${reducedCount} patterns reduced`);
  });
}

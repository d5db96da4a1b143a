// Programs, run by their slow twin, against the regular expressions of JavaScript: random patterns of the
// syntax that both share, in four modes, on random texts. Repeats of what may be empty mean something else
// there and are left out; program.test.ts has them.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { compileRegex } from '../../../daemon/engine/regex/compile.ts';
import { simplify } from '../../../daemon/engine/regex/simplify.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import { checkMatch } from './check-match.ts';
import { hasEmptyRounds, rangesInJavaScript } from './javascript.ts';
import { patternArbitrary } from './patterns.ts';
import { matchesOf, readTwin, startOf } from './twin.ts';

const runCount = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 1000);

const texts = fc.array(fc.stringMatching(/^[abcA1_.\n \u{e9}\u{c9}\u{1f600}-]{0,12}$/u), {
  minLength: 4,
  maxLength: 4,
});

for (const flags of ['', 'i', 's', 'is']) {
  test(`programs find what JavaScript finds, flags ${flags === '' ? 'none' : flags}`, () => {
    const isFolded = flags.includes('i');
    let matchCount = 0;
    fc.assert(
      fc.property(patternArbitrary, texts, (pattern, samples) => {
        // Why: in JavaScript a negated property and its opposite overlap without regard to case.
        fc.pre(!isFolded || !pattern.includes(String.raw`\P`));
        const whole = flags.includes('s') ? `(?s)${pattern}` : pattern;
        const tree = parseRegex(whole, { isFolded });
        fc.pre(!hasEmptyRounds(simplify(tree)));
        const compiled = compileRegex(tree);
        const twin = readTwin(compiled.program);
        const expression = new RegExp(pattern, `gmu${flags}`);
        for (const text of samples) {
          const bytes = Buffer.from(text);
          const context = `${pattern} on ${JSON.stringify(text)}`;
          const found = matchesOf(twin, bytes);
          const ranges = found.map(({ start, end }) => ({ start, end }));
          assert.deepEqual(ranges, rangesInJavaScript(expression, text), context);
          for (const { start, end, from } of found) {
            assert.equal(startOf(twin, bytes, from, end), start, context);
            checkMatch(compiled, twin, bytes.toString('utf8', start, end), context);
          }
          matchCount += found.length;
        }
      }),
      { numRuns: runCount },
    );
    assert.ok(matchCount > runCount / 2);
  });
}

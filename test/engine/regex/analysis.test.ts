// Analysis of expressions without a text: needles and condition (in their canonical text), and refusals for size.

import assert from 'node:assert/strict';
import test from 'node:test';
import { PROGRAM_COUNT_MAX } from '../../../daemon/engine/regex/compile.ts';
import { printCondition } from '../../../daemon/engine/regex/condition.ts';
import { simplify } from '../../../daemon/engine/regex/simplify.ts';
import { parseRegex, PATTERN_SIZE_MAX } from '../../../daemon/engine/regex/syntax.ts';
import { compileTree } from '../../../daemon/engine/regex/thompson.ts';
import { describeRegex, printAutomaton, printNeedles, printSimple } from './printed.ts';
import { treesOf } from './small-trees.ts';
import { compileRegex } from '../query/at-once.ts';

const raw = String.raw;

const FACTS: readonly (readonly [pattern: string, needles: string, condition: string])[] = [
  ['foo', 'prefix("foo")', '"foo"'],
  ['[A-Z]+_SUSPEND', 'inner("_SUSPEND")', '"_suspend"'],
  ['foo.*bar', 'prefix("foo")', 'and("foo", "bar")'],
  ['(?i)copyright.*torvalds', 'prefix("copyright")/i', 'and("copyright", "torvalds")'],
  [raw`\d{9,}`, 'run(9 bytes of 10)', 'ALL'],
  [
    'kmalloc|kfree|vmalloc',
    'prefix("kmalloc", "kfree", "vmalloc")',
    'or("kmalloc", "kfree", "vmalloc")',
  ],
  [
    'PM_(RESUME|SUSPEND)_[A-Z]+',
    'prefix("PM_RESUME_", "PM_SUSPEND_")',
    'or("pm_resume_", "pm_suspend_")',
  ],
  [raw`\bfoo\b`, 'prefix("foo")', '"foo"'],
  [raw`\Qa.b\E`, 'prefix("a.b")', '"a.b"'],
  ['[AB]xy', 'prefix("Axy", "Bxy")', 'or("axy", "bxy")'],
  ['foo[0-9]', 'prefix("foo")', '"foo"'],
  ['fo[12]', 'prefix("fo1", "fo2")', 'or("fo1", "fo2")'],
  ['foo(bar)?', 'prefix("foo")', '"foo"'],
  ['foo(bar)?baz', 'prefix("foobarbaz", "foobaz")', 'or("foobarbaz", "foobaz")'],
  ['(foo.*)?', 'prefix("foo")', '"foo"; can be empty'],
  ['(abc){2,}', 'prefix("abcabc")', '"abcabc"'],
  ['(foo)+bar', 'inner("foobar")', '"foobar"'],
  ['a.c', 'none', 'ALL'],
  ['if', 'prefix("if")', 'ALL'],
  ['[a-z]*', 'none', 'ALL; can be empty'],
  ['if .*set_bit', 'inner("set_bit")', 'and("if ", "set_bit")'],
  [raw`\x{d800}`, 'none', 'NONE'],
  [raw`a\x{d800}|foo`, 'prefix("foo")', '"foo"'],
  ['[sK]trcmp', 'prefix("Ktrcmp", "strcmp")', 'or("ktrcmp", "strcmp")'],
  ['\u{17f}trcmp', 'prefix("\u{17f}trcmp")', '"strcmp"'],
  ['foo.*(bar|baz)', 'prefix("foo")', 'and("foo", or("bar", "baz"))'],
  ['foo|bar.*', 'prefix("foo", "bar")', 'or("foo", "bar")'],
  ['foo|.', 'none', 'ALL'],
  [raw`foo\n`, 'prefix("foo")', '"foo"'],
  ['.(foo|bar)|.*(foo|baz)', 'inner("bar", "foo", "baz")', 'or("bar", "foo", "baz")'],
  ['.*foo.*bar.*|.*bar.*', 'inner("bar")', '"bar"'],
];

for (const [pattern, needles, condition] of FACTS) {
  test(`facts of ${JSON.stringify(pattern)}: ${needles}, ${condition}`, () => {
    const description = describeRegex(compileRegex(parseRegex(pattern)));
    assert.equal(description, `needles ${needles}; holds ${condition}`);
  });
}

/** As above; matches may hold something behind a newline. The last is where they begin. */
const SPANNING: readonly (readonly [
  pattern: string,
  needles: string,
  condition: string,
  matchStart: string,
])[] = [
  [
    raw`^\s*#include`,
    'inner("#include")',
    '"#include"',
    'ALL near "#include" over 13 kinds of bytes',
  ],
  [raw`struct.+_ops\s+=\s*f`, 'prefix("struct")', 'and("struct", "_ops")', 'and("struct", "_ops")'],
  [
    raw`foo\nbar`,
    'prefix("foo")',
    'and("foo", "bar")',
    raw`"foo" near and("bar", "foo\n", "\nbar") over 6 kinds of bytes`,
  ],
  [
    raw`foo\s*.*bar.*\s*quux`,
    'prefix("foo")',
    'and("foo", "bar", "quux")',
    '"foo" near "bar" over 7 kinds of bytes',
  ],
  [
    raw`a[;\n]*(foo|bar)`,
    'inner("foo", "bar")',
    'or("foo", "bar")',
    raw`ALL near and(or("foo", "bar"), or("a;fo", "a;ba", "\nfo", "\nba", "\n;fo", "\n;ba", ";;fo", ";;ba", "afo", "aba")) over 7 kinds of bytes`,
  ],
  [raw`\n\n`, 'run(2 bytes of 1)', 'ALL', 'ALL'],
  ['(?s)if .*set_bit', 'prefix("if ")', 'and("if ", "set_bit")', '"if "'],
  ['(?s)foo.*bar|baz', 'prefix("foo", "baz")', 'or(and("foo", "bar"), "baz")', 'or("foo", "baz")'],
  [
    raw`foo[\n]bar.*|\n*baz`,
    'inner("foo", "baz")',
    'or(and("foo", "bar"), "baz")',
    raw`ALL near or(and("bar", "foo\n", "\nbar"), "baz") over 7 kinds of bytes`,
  ],
];

for (const [pattern, needles, condition, matchStart] of SPANNING) {
  test(`facts of ${JSON.stringify(pattern)}, over several lines: ${needles}, ${condition}`, () => {
    const description = describeRegex(compileRegex(parseRegex(pattern)));
    const expected = `needles ${needles}; holds ${condition}; spans lines, begins in ${matchStart}`;
    assert.equal(description, expected);
  });
}

test('text on both sides of whitespace is required', () => {
  const { matchStart } = compileRegex(parseRegex(raw`err(no)?\s*=\s*-E[A-Z]+;`));
  assert.ok(matchStart && matchStart.near.kind === 'and');
  assert.equal(printCondition(matchStart.start), '"err"');
  const sides = matchStart.near.children.map((child) =>
    child.kind === 'or' ? child.children.map(printCondition) : [],
  );
  assert.equal(sides.length, 2);
  for (const text of ['"rr="', '"no="', '"rr ="', raw`"no\t="`, raw`"rr \t"`, raw`"rr\n"`]) {
    assert.ok(sides[0]?.includes(text), text);
  }
  for (const text of ['" = -e"', raw`"\n-e"`, '"  -e"', '"r=-e"']) {
    assert.ok(sides[1]?.includes(text), text);
  }
});

const SIMPLE: readonly (readonly [pattern: string, tree: string])[] = [
  ['abc|abd|aef', 'seq([61], or(seq([62], [63-64]), seq([65], [66])))'],
  ['a|b|c', '[61-63]'],
  ['a|bc|b', 'or([61], seq([62], or([63], seq())))'],
  ['(a|b)|c', '[61-63]'],
  ['a*b|a*c', 'or(seq(repeat(0,, [61]), [62]), seq(repeat(0,, [61]), [63]))'],
  ['(a*)*', 'repeat(0,, [61])'],
  ['(a*?)*', 'repeat(0,, lazy(0,, [61]))'],
  ['(a{2}){2}', 'repeat(2,2, repeat(2,2, [61]))'],
  ['a{1}b{0}', '[61]'],
  ['(^)*a', '[61]'],
  ['(^)+a', 'seq(lineStart, [61])'],
  ['(?i)k', '[4b 6b 212a]'],
  [raw`a\x{d800}|b`, '[62]'],
  [raw`(\x{d800})?a`, '[61]'],
  ['a|a', '[61]'],
];

for (const [pattern, tree] of SIMPLE) {
  test(`${JSON.stringify(pattern)} is ${tree}`, () => {
    assert.equal(printSimple(simplify(parseRegex(pattern))), tree);
  });
}

const AUTOMATA: readonly (readonly [pattern: string, forward: string, reverse: string])[] = [
  ['ab*', 'start 3; 0 match; 1 2|0; 2 [62]1; 3 [61]1', 'start 2; 0 match; 1 [61]0; 2 3|1; 3 [62]2'],
  [
    '^[a-c\u{e4}]$',
    'start 4; 0 match; 1 lineEnd 0; 2 [a4]1; 3 [61-63]1 [c3]2; 4 lineStart 3',
    'start 4; 0 match; 1 lineStart 0; 2 [c3]1; 3 [61-63]1 [a4]2; 4 lineEnd 3',
  ],
  [raw`\x{d800}`, 'start 1; 0 match; 1 fails', 'start 1; 0 match; 1 fails'],
];

for (const [pattern, forward, reverse] of AUTOMATA) {
  test(`${JSON.stringify(pattern)} is run by ${forward}`, () => {
    const tree = simplify(parseRegex(pattern));
    assert.equal(printAutomaton(compileTree(tree, false, 100, 400)), forward);
    assert.equal(printAutomaton(compileTree(tree, true, 100, 400)), reverse);
  });
}

test('a set used in many places is called', () => {
  const automaton = compileTree(simplify(parseRegex('[a\u{e4}]{3}')), false, 100, 400, 0);
  assert.equal(
    printAutomaton(automaton),
    'start 7; 0 match; 1 [a4]0; 2 [61]0 [c3]1; 3 return; 4 [a4]3; 5 [61]3 [c3]4; 6 call 5 2; 7 call 5 6',
  );
});

test('sets of many ranges need few states', () => {
  for (const [pattern, forwardMax, reverseMax] of [
    [raw`\pL`, 350, 600],
    [raw`\p{Greek}`, 30, 40],
    ['.', 10, 15],
    [raw`\w`, 3, 3],
    ['(abc|abd|abe|xbe)', 8, 8],
  ] as const) {
    const { stateCount, reverseStateCount } = compileRegex(parseRegex(pattern));
    assert.ok(stateCount <= forwardMax, `${pattern}: ${stateCount}`);
    assert.ok(reverseStateCount <= reverseMax, `${pattern} back: ${reverseStateCount}`);
  }
});

test('expressions that need too many states are refused with their position', () => {
  for (const pattern of [
    raw`\pL{1000}`.repeat(11),
    raw`(\w{10}\pL{2}){80}`.repeat(11),
    '(a{500}|b{499}){2}'.repeat(11),
  ]) {
    assert.throws(() => compileRegex(parseRegex(pattern), { position: 7 }), {
      name: 'QueryError',
      reason: `regular expression: too large, limit ${PROGRAM_COUNT_MAX} states`,
      position: 7,
    });
  }
});

test('repeats of classes need a state or two each time, and some for the classes', () => {
  for (const [pattern, repeatCount] of [
    [raw`\pL{50}`, 50],
    [raw`\p{L}{1,40}`, 79],
    [raw`\pL{1000}`, 1000],
    [raw`(?i)\pL{1000}`, 1000],
    [raw`\PL{1000}`, 1000],
    [raw`\p{Greek}{1000}`, 1000],
    [raw`[^\x00-\x7f]{1000}`, 1000],
    [raw`(?i)\w{1000}`, 1000],
    [raw`.{1000}.{1000}`, 2000],
    [raw`(\p{Lu}\p{Ll}{0,30}){1,20}`, 20 * 62],
    [raw`\pL`.repeat(1000), 1000],
    [raw`(?:\pL|[0-9]){500}`, 500],
  ] as const) {
    const { stateCount, reverseStateCount } = compileRegex(parseRegex(pattern));
    assert.ok(stateCount <= repeatCount + 2500, `${pattern}: ${stateCount}`);
    assert.ok(reverseStateCount <= repeatCount + 4000, `${pattern}: ${reverseStateCount}`);
  }
});

test('expressions with shared states are refused for the work', () => {
  const alternatives = Array.from({ length: 600 }, () => 'ab|cb|').join('');
  assert.equal(compileRegex(parseRegex(`(?:${alternatives}xy){5}`)).stateCount, 31);
  assert.throws(() => compileRegex(parseRegex(`(?:${alternatives}xy){900}`), { position: 7 }), {
    name: 'QueryError',
    reason: `regular expression: too large, limit ${4 * PROGRAM_COUNT_MAX} steps to compile`,
    position: 7,
  });
});

test('all words of the longest lists are required', () => {
  // Twins have the longest common beginnings that fit.
  const words = Array.from({ length: 64 }, (_, i) => `${'word'.repeat(14)}${i + 100}`);
  const { needles, condition } = compileRegex(parseRegex(`\\b(${words.join('|')})\\b`));
  assert.deepEqual(needles.texts, words);
  const children = words.map((text) => ({ kind: 'literal' as const, text }));
  assert.deepEqual(condition, { kind: 'or', children });
});

test('expressions too long to analyse are analysed at the beginning', () => {
  const tail = Array.from({ length: 300 }, () => '(?:ab)?cd*?').join('');
  const description = describeRegex(compileRegex(parseRegex(`foobar.*${tail}`)));
  assert.match(description, /^needles prefix\("foobar"\); holds (?:"foobar"|and\("foobar")/);
});

test('large expressions are refused before anything is compiled', () => {
  const wide = Array.from({ length: 100_000 }, (_, index) => `a${index}`).join('|');
  assert.throws(() => parseRegex(wide, { position: 3 }), {
    message: /bytes, limit 4096 at position 3$/,
  });
  assert.throws(() => parseRegex('((a{1000}){1000})'), {
    message: /more than 1000 at position 11$/,
  });
});

test('patterns of the largest size, of any kind, compile or are refused', () => {
  const parts = [
    'a|',
    'abc|',
    '()*',
    '(a|b)?',
    '[a-f]',
    'x.*',
    raw`\pL|`,
    'a(?i)*',
    '(a*)*',
    raw`\b`,
  ];
  for (const part of [...parts, 'foo.*', '(foo|bar)?', 'a{0,4}', '[^a]', raw`\W`, '.?', '(|a)+']) {
    const pattern = part.repeat(Math.floor(PATTERN_SIZE_MAX / part.length));
    for (const isFolded of [false, true]) {
      try {
        assert.ok(compileRegex(parseRegex(pattern, { isFolded })).program.length > 0);
      } catch (error) {
        assert.equal((error as Error).name, 'QueryError', part);
      }
    }
  }
});

test('an expression for names only says whether it can match', () => {
  for (let size = 1; size <= 4; size++) {
    for (const tree of treesOf(size)) {
      const [whole, name] = [compileRegex(tree), compileRegex(tree, { subject: 'name' })];
      assert.equal(name.condition.kind, whole.condition.kind === 'none' ? 'none' : 'all');
      assert.deepEqual(name.program, whole.program);
    }
  }
});

test('in short form needles of names ignore case, and symbols have none', () => {
  const tree = parseRegex('foo[a-f]+bar');
  const needlesOf = (subject: 'name' | 'symbol', isBrief: boolean): string =>
    printNeedles(compileRegex(tree, { subject, isBrief }).needles);
  assert.equal(needlesOf('name', false), 'prefix("foo")');
  assert.equal(needlesOf('symbol', false), 'prefix("foo")');
  assert.equal(needlesOf('name', true), 'prefix("foo")/i');
  assert.equal(needlesOf('symbol', true), 'none');
});

// Properties of the query parser over random texts and random trees: every text parses or is refused with
// a position inside it, every tree survives being written as a query, and size alone breaks nothing.
// tier: ci (long)

import test from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { QueryError } from '../../../daemon/engine/regex/query-error.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import { wordsOf } from '../../../daemon/engine/query/query-tokens.ts';
import { wholeQuerySteps } from '../../../daemon/engine/query/filter.ts';
import { printQuery } from '../../../daemon/engine/query/print.ts';
import { leavesOf, type QueryNode } from '../../../daemon/engine/query/tree.ts';
import { atOnce } from '../../../daemon/base/steps.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import { formOf } from './forms.ts';

const QUERY_SIZE_MAX = 65_536;

/** Pieces that meet in all orders: every token of the language, and what the tokens are made of. */
const FRAGMENTS = [
  ['(', ')', '"', '\\', ' ', '\n', '-', 'or', ' or ', 'a', 'b c', ':', '[', ']', '^', '*', '|'],
  ['file:', 'r:', 'c:', 'lang:', 'fork:', 'no', 'File:', '()', '(a b)', '"x y"', '[:alpha:]'],
  ['\u{1f600}', '\ud800', '\u00e9', '{2,3}', '(?i)', '\\Q', '\\p{L}', '\t'],
].flat();

const tokenText = fc
  .array(fc.constantFrom(...FRAGMENTS), { maxLength: 24 })
  .map((fragments) => fragments.join(''));
const anyText = fc.oneof(tokenText, fc.string({ unit: 'binary' }), fc.string());

/** The tree, or undefined for a refused query, whose position is checked. */
function parseOrRefuse(text: string, isRegexEnabled: boolean): QueryNode | undefined {
  try {
    return parseQuery(text, { isRegexEnabled });
  } catch (error) {
    assert.ok(error instanceof QueryError, `${String(error)} for ${JSON.stringify(text)}`);
    assert.ok(Number.isInteger(error.position) && error.position >= 0);
    assert.ok(error.position <= Array.from(text).length, `position ${error.position}`);
    assert.notEqual(error.reason, '');
    return undefined;
  }
}

/** Flattened, unwrapped, and only leaves that say something. */
function assertWellFormed(node: QueryNode): void {
  switch (node.kind) {
    case 'and':
    case 'or':
      assert.ok(node.children.length >= 2);
      assert.ok(node.children.every((child) => child.kind !== node.kind));
      node.children.forEach(assertWellFormed);
      break;
    case 'not':
      assert.ok(!(node.child.kind === 'const' && !node.child.value));
      assertWellFormed(node.child);
      break;
    case 'text':
      assert.notEqual(node.text, '');
      break;
    case 'regex':
    case 'pattern':
      assert.notEqual(node.pattern, '');
      break;
    case 'value':
      assert.notEqual(node.value, '');
      break;
    case 'const':
      break;
  }
}

/** All texts of `size` characters out of `letters`. */
function* allTexts(alphabet: string, size: number): Generator<string> {
  if (size === 0) yield '';
  else
    for (const head of allTexts(alphabet, size - 1)) for (const char of alphabet) yield head + char;
}

test('every small text of parentheses, quotes, dashes and blanks parses or is refused', () => {
  for (let size = 1; size <= 6; size++) {
    for (const text of allTexts('()"- a', size)) {
      const node = parseOrRefuse(text, false);
      if (node !== undefined) assertWellFormed(node);
      parseOrRefuse(text, true);
    }
  }
});

test('a keyword query without filters is refused only if blank, empty or doubled in its operators', () => {
  const text = fc.stringMatching(/^[ab()\\" -]{0,30}$/);
  fc.assert(
    fc.property(text, (query) => {
      fc.pre(!query.includes('""'));
      const node = parseOrRefuse(query, false);
      assert.equal(node === undefined, query.trim() === '');
    }),
    { numRuns: 5000 },
  );
});

test('text outside of quotes is kept to the last character', () => {
  const text = fc.stringMatching(/^[ab()]{1,12}( [ab()]{1,12}){0,4}$/);
  fc.assert(
    fc.property(text, (query) => {
      const node = parseOrRefuse(query, false);
      assert.ok(node);
      assert.equal(
        abOf(printQuery(node).replaceAll(/\b(text|and|or|not)\b|NONE/g, '')),
        abOf(query),
      );
    }),
  );
});

function abOf(text: string): string {
  return text.replaceAll(/[^ab]/g, '');
}

const prefixes = fc.constantFrom('repo', 'file', 'sym');
const patterns = fc.constantFrom(
  'a',
  'a b',
  '(a|b)c',
  '^x$',
  String.raw`\)\(`,
  '[)"]',
  'or',
  'file:x',
  '-',
);
const texts = fc.oneof(
  fc.constantFrom('a', 'or', 'file:x', '(', ')', '-', '"', '\\', '\\"', 'a b', ' '),
  fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\n')),
);

const treeOf = (pattern: string) => ({ pattern, tree: parseRegex(pattern) });

/** Trees as the parser makes them; positions are 0 and left out of the comparison. */
function treeArbitrary(isRegexEnabled: boolean): fc.Arbitrary<QueryNode> {
  const position = 0;
  const leaf: fc.Arbitrary<QueryNode> = fc.oneof(
    isRegexEnabled
      ? patterns.map((pattern): QueryNode => ({ kind: 'regex', ...treeOf(pattern), position }))
      : texts.map((text): QueryNode => ({ kind: 'text', text, position })),
    fc.tuple(prefixes, patterns).map(([prefix, pattern]): QueryNode => ({
      kind: 'pattern',
      prefix,
      ...treeOf(pattern),
      position,
    })),
    fc
      .tuple(fc.constantFrom('lang', 'rev', 'context', 'reposet'), texts)
      .map(([prefix, value]): QueryNode => ({ kind: 'value', prefix, value, position })),
    fc.constantFrom<QueryNode>(
      { kind: 'value', prefix: 'fork', value: 'no', position },
      { kind: 'value', prefix: 'visibility', value: 'any', position },
      { kind: 'const', value: false },
      { kind: 'const', value: true },
    ),
  );
  const { tree } = fc.letrec<{ tree: QueryNode }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      tie('tree').map((child) => negated(child)),
      fc
        .tuple(fc.constantFrom('and', 'or'), fc.array(tie('tree'), { minLength: 2, maxLength: 4 }))
        .map(([kind, children]) => flattened(kind, children)),
    ),
  }));
  return tree;
}

function negated(child: QueryNode): QueryNode {
  const isNone = child.kind === 'const' && !child.value;
  return isNone ? { kind: 'const', value: true } : { kind: 'not', child };
}

function flattened(kind: 'and' | 'or', children: readonly QueryNode[]): QueryNode {
  return {
    kind,
    children: children.flatMap((child) => (child.kind === kind ? child.children : [child])),
  };
}

/** A query for a tree, all texts quoted and all lists in groups. */
function render(node: QueryNode): string {
  switch (node.kind) {
    case 'text':
      return quoteText(node.text);
    case 'regex':
      return quotePattern(node.pattern);
    case 'pattern':
      return `${node.prefix}:${quotePattern(node.pattern)}`;
    case 'value':
      return `${node.prefix}:${quoteText(node.value)}`;
    case 'const':
      return node.value ? '-()' : '()';
    case 'not':
      return `-(${render(node.child)})`;
    default:
      return `(${node.children.map(render).join(node.kind === 'or' ? ' or ' : ' ')})`;
  }
}

function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** In a pattern the protecting backslash stays, so a pattern with a quote cannot be quoted as it is. */
function quotePattern(pattern: string): string {
  return pattern.includes('"') ? pattern : `"${pattern}"`;
}

function withoutPositions(node: QueryNode): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (key === 'position' ? 0 : value)),
  );
}

for (const isRegexEnabled of [false, true]) {
  test(`a tree written as a query parses to itself, regex mode ${isRegexEnabled}`, () => {
    fc.assert(
      fc.property(treeArbitrary(isRegexEnabled), (tree) => {
        const query = render(tree);
        const parsed = parseQuery(query, { isRegexEnabled });
        assert.deepEqual(withoutPositions(parsed), withoutPositions(tree), query);
      }),
      { numRuns: 2000 },
    );
  });
}

/** Shapes whose naive reading is quadratic, exponential or as deep as the query is long. */
const REPEATED = [
  ['(', ')', '( ', ' )', '"', '" ', '\\', '[', '[:', '-', '- ', '-(', '("', '(" ', '("a (b) '],
  ['a(', 'a( ', 'a(b ', '() ', '()', 'or ', 'a or ', 'file:', 'file:(', 'c: "', 'a', '(a ', '(\n"'],
].flat();

/** A query that reads on to its end for each of its words takes 20 s. */
const CPU_MS_MAX = 3000;

test('queries of the largest size terminate soon, without deep recursion', () => {
  for (const fragment of REPEATED) {
    for (const mode of ['K', 'R'] as const) {
      const query = fragment.repeat(Math.floor(QUERY_SIZE_MAX / fragment.length));
      const before = process.cpuUsage();
      assert.match(
        formOf(query, mode),
        /^(ERROR@\d+|(and|or|text|regex|file)\b.*|NONE)$/s,
        fragment,
      );
      const ms = process.cpuUsage(before).user / 1000;
      assert.ok(ms < CPU_MS_MAX, `${JSON.stringify(fragment)}: ${ms} ms`);
    }
  }
});

test('unbalanced parentheses of the largest size are plain text', () => {
  const query = '('.repeat(QUERY_SIZE_MAX);
  assert.equal(formOf(query, 'K'), `text:"${query}"`);
  assert.equal(formOf(query, 'R'), 'ERROR@0');
});

test('balanced parentheses of the largest size are too deep', () => {
  const query = '('.repeat(QUERY_SIZE_MAX / 2) + ')'.repeat(QUERY_SIZE_MAX / 2);
  assert.equal(formOf(query, 'K'), 'ERROR@250');
});

test('half of the largest query open, the other half closing word by word', () => {
  const openings = 'a('.repeat(QUERY_SIZE_MAX / 4);
  const query = `(${openings} ${') '.repeat(QUERY_SIZE_MAX / 4)})`;
  assert.match(formOf(query, 'K'), /^and\(text:"a\(a\(/);
});

/** The tree with languages in place of content. */
function withoutContent(node: QueryNode): QueryNode {
  if (node.kind === 'not') return negated(withoutContent(node.child));
  if (node.kind === 'and' || node.kind === 'or')
    return flattened(node.kind, node.children.map(withoutContent));
  if (node.kind !== 'text' && node.kind !== 'regex') return node;
  return { kind: 'value', prefix: 'lang', value: 'C', position: 0 };
}

for (const isRegexEnabled of [false, true]) {
  test(`a filter is combined by AND with the query, regex mode ${isRegexEnabled}`, () => {
    const trees = treeArbitrary(isRegexEnabled);
    const whole = (query: string, filter: string) =>
      atOnce(wholeQuerySteps({ query, filter }, { isRegexEnabled }));
    fc.assert(
      fc.property(trees, trees, (left, right) => {
        const [query, filter] = [render(left), render(withoutContent(right))];
        const byHand = parseQuery(`${query} ${filter}`, { isRegexEnabled });
        assert.equal(printQuery(whole(query, filter)), printQuery(byHand));
        const word = isRegexEnabled ? 'a+' : 'a';
        for (const content of [word, `-(${filter} ${word})`, `content:${word}`])
          assert.throws(
            () => whole(query, content),
            /^QueryError: filter: content words belong in the query, not in the filter at position \d+$/,
          );
      }),
    );
  });
}

test('an error in a filter says that it is in the filter', () => {
  const refused = (filter: string) => () =>
    atOnce(wholeQuerySteps({ query: 'a', filter }, { isRegexEnabled: false }));
  assert.throws(refused('lang:'), /^QueryError: filter: missing value at position 5$/);
  assert.throws(refused(' '), /^QueryError: filter: empty query at position 0$/);
});

test('words of a query are at the leaves of its tree; stopped requests end too', () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, isRegexEnabled) => {
      const words = wordsOf(text, isRegexEnabled);
      for (const [index, { start, end }] of words.entries())
        assert.ok(start >= (words[index - 1]?.end ?? 0) && end >= start);
      const node = parseOrRefuse(text, isRegexEnabled);
      if (node === undefined) return;
      const starts = words
        .filter(({ kind }) => kind === 'text' || kind === 'value')
        .map(({ start, isQuoted }) => (isQuoted ? start + 1 : start));
      const positions = leavesOf(node).flatMap((leaf) => ('position' in leaf ? leaf.position : []));
      assert.deepEqual(starts, positions, JSON.stringify(text));
    }),
    { numRuns: 20_000 },
  );
});

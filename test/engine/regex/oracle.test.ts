// The meaning of a syntax tree, against the regular expressions of JavaScript: a random pattern in the
// syntax that both share is parsed, its tree is written out again with every step in a group, and both
// must find the same matches in random texts.

import test from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import type { ClassNode, RegexTree } from '../../../daemon/engine/regex/tree.ts';
import { patternArbitrary } from './patterns.ts';

/** The tree as a JavaScript expression with the flags `m` and `u`. */
function toJavaScript(tree: RegexTree): string {
  switch (tree.kind) {
    case 'literal':
      return `\\u{${tree.codePoint.toString(16)}}`;
    case 'any':
      return tree.hasNewline ? String.raw`[\s\S]` : String.raw`[^\n]`;
    case 'class':
      return classToJavaScript(tree);
    case 'assertion':
      return {
        lineStart: '(?:^)',
        lineEnd: '(?:$)',
        textStart: String.raw`(?:(?<![\s\S]))`,
        textEnd: String.raw`(?:(?![\s\S]))`,
        wordBorder: String.raw`(?:\b)`,
        notWordBorder: String.raw`(?:\B)`,
      }[tree.at];
    case 'repeat':
      return `(?:${toJavaScript(tree.child)}){${tree.min},${tree.max ?? ''}}${tree.isLazy ? '?' : ''}`;
    default:
      return `(?:${tree.children.map(toJavaScript).join(tree.kind === 'choice' ? '|' : '')})`;
  }
}

function classToJavaScript({ ranges, properties, isNegated }: ClassNode): string {
  const members = [
    ...ranges.map(({ start, end }) => `\\u{${start.toString(16)}}-\\u{${(end - 1).toString(16)}}`),
    ...properties.map((property) => `\\${property.isNegated ? 'P' : 'p'}{${property.name}}`),
  ];
  return `[${isNegated ? '^' : ''}${members.join('')}]`;
}

function matchesOf(expression: string, text: string): readonly string[] {
  const matches = text.matchAll(new RegExp(expression, 'gmu'));
  return Array.from(matches, (match) => `${match.index} ${match[0]}`);
}

test('a tree finds what its pattern finds', () => {
  const texts = fc.array(fc.stringMatching(/^[abcA1_.\n \u{e9}\u{1f600}-]{0,12}$/u), {
    minLength: 4,
    maxLength: 4,
  });
  fc.assert(
    fc.property(patternArbitrary, texts, (pattern, samples) => {
      const tree = toJavaScript(parseRegex(pattern));
      for (const text of samples) {
        assert.deepEqual(
          matchesOf(tree, text),
          matchesOf(pattern, text),
          `${pattern} became ${tree}`,
        );
      }
    }),
    { numRuns: 5000 },
  );
});

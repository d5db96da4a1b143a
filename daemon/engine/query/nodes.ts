// Query nodes built from values instead of text. Their expressions are case-sensitive.

import { quotePattern } from '../regex/quote.ts';
import { parseRegex } from '../regex/syntax.ts';
import type { NotNode, PatternNode, QueryNode, RegexNode, ValueNode, ValuePrefix } from './tree.ts';

const POSITION = { position: 0 };

export function regexNode(pattern: string): RegexNode {
  return { kind: 'regex', pattern, tree: parseRegex(pattern), ...POSITION };
}

export function patternNode(prefix: PatternNode['prefix'], pattern: string): PatternNode {
  return { kind: 'pattern', prefix, pattern, tree: parseRegex(pattern), ...POSITION };
}

export function valueNode(prefix: ValuePrefix, value: string): ValueNode {
  return { kind: 'value', prefix, value, ...POSITION };
}

export function repoNode(name: string): QueryNode {
  return exactNode('repo', name);
}

export function exactNode(prefix: 'repo' | 'file', text: string): QueryNode {
  // No repo has such a name, and an expression may have 4,096 bytes.
  if (text.length > 1000) return { kind: 'const', value: false };
  return patternNode(prefix, `^${quotePattern(text)}$`);
}

export function notNode(child: QueryNode): NotNode {
  return { kind: 'not', child };
}

/** The conjunction of the nodes, at least one. */
export function allOf([first, ...rest]: readonly [QueryNode, ...QueryNode[]]): QueryNode {
  return rest.length === 0 ? first : { kind: 'and', children: [first, ...rest] };
}

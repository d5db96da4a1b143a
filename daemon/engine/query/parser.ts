// Parses query text into a tree (API.md section 9), from its words (query-tokens.ts). The planner decides what filters mean.

import assert from 'node:assert/strict';
import { skipBlanks, textOf, toCharacters } from './characters.ts';
import { QueryError } from '../regex/query-error.ts';
import { findPrefix, type Prefix } from './prefixes.ts';
import { atOnce, type Steps } from '../../base/steps.ts';
import { parseRegex } from '../regex/syntax.ts';
import { type QueryWord, wordSteps } from './query-tokens.ts';
import type { PatternNode, QueryNode, TextNode } from './tree.ts';

export const GROUP_DEPTH_MAX = 250;

export interface QueryOptions {
  /** Words and quoted texts are regular expressions instead of literals. */
  readonly isRegexEnabled: boolean;
  /** Expressions ignore case unless a pattern says otherwise; `repo:` always ignores this option. */
  readonly isFolded?: boolean;
}

interface Reader {
  readonly characters: readonly string[];
  readonly words: readonly QueryWord[];
  readonly isRegexEnabled: boolean;
  readonly isFolded: boolean;
  /** Of the next word. */
  index: number;
}

/** A part of the query text that became a word or a value, without quotes. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The tree of a query: no list holds a list of its own kind, or fewer than two children.
 * Errors: QueryError, its position a code point offset. Cost: linear; recursion is bound by GROUP_DEPTH_MAX.
 */
export function parseQuery(query: string, options: QueryOptions): QueryNode {
  return atOnce(parseSteps(query, options));
}

/** As parseQuery; each step handles one item. */
export function* parseSteps(query: string, options: QueryOptions): Steps<QueryNode> {
  const characters = toCharacters(query);
  if (skipBlanks(characters, 0) === characters.length) throw new QueryError('empty query', 0);
  const { isRegexEnabled, isFolded = false } = options;
  const words = yield* wordSteps(query, characters, isRegexEnabled);
  yield;
  return yield* readSides({ characters, words, isRegexEnabled, isFolded, index: 0 });
}

/** The operator that a word is, by its last character: "(", also of a negated group, ")", "-", or the "r" of `or`. */
function operatorOf({ characters }: Reader, word: QueryWord | undefined): string | undefined {
  return word?.kind === 'operator' ? characters[word.end - 1] : undefined;
}

/** Parses the sides of `or` up to the end of the query, or to the ")" of the innermost group. */
function* readSides(reader: Reader): Steps<QueryNode> {
  const sides: QueryNode[] = [];
  let items: QueryNode[] = [];
  for (;;) {
    const word = reader.words[reader.index];
    const operator = operatorOf(reader, word);
    if (word === undefined || operator === ')') break;
    reader.index++;
    if (operator !== 'r') {
      items.push(yield* readItem(reader, word));
      yield;
      continue;
    }
    if (items.length === 0) throw new QueryError('two operators side by side', word.start);
    sides.push(listOf('and', items));
    items = [];
  }
  if (items.length > 0) sides.push(listOf('and', items));
  return listOf('or', sides);
}

/** One node for several: flattened and unwrapped. No children match nothing. */
function listOf(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode {
  const [first] = nodes;
  if (first === undefined) return { kind: 'const', value: false };
  if (nodes.length === 1) return first;
  return { kind, children: nodes.flatMap((node) => (node.kind === kind ? node.children : [node])) };
}

/** Reads the item that begins with this word, the one before the index. */
function* readItem(reader: Reader, word: QueryWord): Steps<QueryNode> {
  if (word.kind === 'text') return contentNode(reader, spanOf(word, 'empty text'), {});
  if (word.kind !== 'operator') return readFilter(reader, word);
  const isGroup = operatorOf(reader, word) === '(';
  const node = isGroup
    ? yield* readGroup(reader, word)
    : readFilter(reader, reader.words[reader.index++]!);
  return reader.characters[word.start] === '-' ? negate(node) : node;
}

function negate(child: QueryNode): QueryNode {
  const isNone = child.kind === 'const' && !child.value;
  return isNone ? { kind: 'const', value: true } : { kind: 'not', child };
}

function* readGroup(reader: Reader, { end, depth }: QueryWord): Steps<QueryNode> {
  if (depth === GROUP_DEPTH_MAX)
    throw new QueryError(`more than ${GROUP_DEPTH_MAX} nested groups`, end - 1);
  const node = yield* readSides(reader);
  // Invariant: a "(" is an operator only if its ")" is one.
  assert.equal(operatorOf(reader, reader.words[reader.index++]), ')');
  return node;
}

/** Reads the filter whose prefix is the word before the index. */
function readFilter(reader: Reader, { prefix, end }: QueryWord): QueryNode {
  const value = reader.words[reader.index++]!;
  if (value.start === value.end) throw new QueryError('missing value', end);
  if (!value.isQuoted && findPrefix(reader.characters, value.start) !== undefined)
    throw new QueryError('a value that begins with a prefix must be quoted', value.start);
  return filterNode(reader, prefix!, spanOf(value, 'empty value'));
}

function filterNode(reader: Reader, prefix: Prefix, span: Span): QueryNode {
  if (prefix.kind === 'content') return contentNode(reader, span, { isOfContent: true });
  const position = span.start;
  if (prefix.kind === 'pattern') {
    const isFolded = reader.isFolded && prefix.name !== 'repo';
    return { kind: 'pattern', prefix: prefix.name, ...readPattern(reader, span, isFolded) };
  }
  const value = literalOf(reader, span);
  if (prefix.kind === 'enum' && !prefix.values.includes(value)) {
    throw new QueryError(`value of ${prefix.name}: must be ${prefix.values.join(', ')}`, position);
  }
  return { kind: 'value', prefix: prefix.name, value, position };
}

function spanOf({ start, end, isQuoted }: QueryWord, ifEmpty: string): Span {
  if (!isQuoted) return { start, end };
  if (end - start === 2) throw new QueryError(ifEmpty, start);
  return { start: start + 1, end: end - 1 };
}

function contentNode(reader: Reader, span: Span, where: Pick<TextNode, 'isOfContent'>): QueryNode {
  return reader.isRegexEnabled
    ? { kind: 'regex', ...readPattern(reader, span, reader.isFolded) }
    : { kind: 'text', text: literalOf(reader, span), ...where, position: span.start };
}

function readPattern(
  reader: Reader,
  { start: position, end }: Span,
  isFolded: boolean,
): Omit<PatternNode, 'kind' | 'prefix'> {
  const pattern = textOf(reader.characters, position, end);
  return { pattern, tree: parseRegex(pattern, { position, isFolded }), position };
}

/** The text of a span that is not a pattern: only `\"` and `\\` lose their backslash. */
function literalOf(reader: Reader, span: Span): string {
  return textOf(reader.characters, span.start, span.end).replaceAll(/\\(["\\])/g, '$1');
}

// Parses query text into a tree (API.md section 9), from the left; the layout has already found the ends of words, quoted
// texts and groups. The planner decides what filters mean.

import assert from 'node:assert/strict';
import { isAtEnd, isOr, runEnd, skipBlanks, textOf, toCharacters } from './characters.ts';
import { QueryError } from '../regex/query-error.ts';
import { type Layout, layOut } from './token-ends.ts';
import { type FoundPrefix, findPrefix, isPatternPrefix } from './prefixes.ts';
import { atOnce, type Steps } from '../../base/steps.ts';
import { parseRegex } from '../regex/syntax.ts';
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
  readonly layout: Layout;
  readonly isRegexEnabled: boolean;
  readonly isFolded: boolean;
  index: number;
  depth: number;
  /** Index after the last ")" that closed a group. */
  groupEnd: number;
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
  const layout = yield* layOut(query, characters, isRegexEnabled);
  const start = { index: 0, depth: 0, groupEnd: 0 };
  yield;
  return yield* readSides({ characters, layout, isRegexEnabled, isFolded, ...start });
}

/** Parses the sides of `or` up to the end of the query, or to the ")" of the innermost group. */
function* readSides(reader: Reader): Steps<QueryNode> {
  const sides: QueryNode[] = [];
  let items: QueryNode[] = [];
  for (;;) {
    reader.index = skipBlanks(reader.characters, reader.index);
    const { characters, index, depth, groupEnd } = reader;
    if (isAtEnd(characters, index, depth)) break;
    const isFirst = sides.length === 0 && items.length === 0;
    if (isFirst || !isOr(characters, index, depth, groupEnd)) {
      items.push(yield* readItem(reader));
      yield;
      continue;
    }
    if (items.length === 0) throw new QueryError('two operators side by side', index);
    sides.push(listOf('and', items));
    items = [];
    reader.index += 'or'.length;
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

function* readItem(reader: Reader): Steps<QueryNode> {
  const { characters, layout, index } = reader;
  if (characters[index] === '-') {
    const target = skipBlanks(characters, index + 1);
    const isGroup = characters[target] === '(' && layout.isBalanced(target);
    if (isGroup || findPrefix(characters, target) !== undefined) {
      reader.index = target;
      return negate(isGroup ? yield* readGroup(reader) : readFilterOrText(reader));
    }
  }
  if (characters[index] === '(' && layout.isGroup(index)) return yield* readGroup(reader);
  return readFilterOrText(reader);
}

function negate(child: QueryNode): QueryNode {
  const isNone = child.kind === 'const' && !child.value;
  return isNone ? { kind: 'const', value: true } : { kind: 'not', child };
}

function* readGroup(reader: Reader): Steps<QueryNode> {
  if (reader.depth === GROUP_DEPTH_MAX) {
    throw new QueryError(`more than ${GROUP_DEPTH_MAX} nested groups`, reader.index);
  }
  reader.depth++;
  reader.index++;
  const node = yield* readSides(reader);
  // Invariant: the layout marks a group only if it has its ")", and this walk does not pass it.
  assert.equal(reader.characters[reader.index], ')');
  reader.depth--;
  reader.index++;
  reader.groupEnd = reader.index;
  return node;
}

function readFilterOrText(reader: Reader): QueryNode {
  const found = findPrefix(reader.characters, reader.index);
  if (found !== undefined) return readFilter(reader, found);
  const start = reader.index;
  const span = readSpan(reader, reader.isRegexEnabled);
  if (span.start === span.end) throw new QueryError('empty text', start);
  return contentNode(reader, span, {});
}

function readFilter(reader: Reader, { prefix, end }: FoundPrefix): QueryNode {
  const { characters, layout, isRegexEnabled, depth } = reader;
  const start = skipBlanks(characters, end);
  if (isAtEnd(characters, start, depth)) throw new QueryError('missing value', end);
  const isQuoted = layout.closingQuote(start) >= 0;
  if (!isQuoted && findPrefix(characters, start) !== undefined) {
    throw new QueryError('a value that begins with a prefix must be quoted', start);
  }
  reader.index = start;
  const span = readSpan(reader, isPatternPrefix(prefix, isRegexEnabled));
  if (span.start === span.end) throw new QueryError('empty value', start);
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

function readSpan(reader: Reader, isPattern: boolean): Span {
  const { characters, layout, index } = reader;
  const quote = layout.closingQuote(index);
  if (quote >= 0) {
    reader.index = quote + 1;
    return { start: index + 1, end: quote };
  }
  reader.index = reader.depth > 0 ? layout.wordEnd(index, isPattern) : runEnd(characters, index);
  return { start: index, end: reader.index };
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

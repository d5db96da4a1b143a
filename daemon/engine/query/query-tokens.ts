// The words of a query as typed, also of one that does not parse: for the parser, syntax colours and completion.

import { atOnce, type Steps } from '../../base/steps.ts';
import { isBlank, runEnd, skipBlanks, textOf, toCharacters } from './characters.ts';
import { type Layout, layOut } from './token-ends.ts';
import { findPrefix, isPatternPrefix, type Prefix } from './prefixes.ts';

/** A stretch of a query; positions count code points. */
export interface QueryWord {
  readonly kind: 'prefix' | 'value' | 'text' | 'operator';
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
  /** Groups around it. */
  readonly depth: number;
  readonly prefix: Prefix | undefined;
}

interface Walk {
  readonly characters: readonly string[];
  readonly layout: Layout;
  readonly isRegexEnabled: boolean;
  readonly words: QueryWord[];
  index: number;
  depth: number;
}

/** All words of a query, in order. A prefix is followed by its value, possibly empty. Cost: linear. */
export function wordsOf(text: string, isRegexEnabled: boolean): readonly QueryWord[] {
  return atOnce(wordSteps(text, toCharacters(text), isRegexEnabled));
}

/** As wordsOf, in bounded steps. @param characters  those of `text` */
export function* wordSteps(
  text: string,
  characters: readonly string[],
  isRegexEnabled: boolean,
): Steps<readonly QueryWord[]> {
  const layout = yield* layOut(text, characters, isRegexEnabled);
  const walk: Walk = { characters, layout, isRegexEnabled, words: [], index: 0, depth: 0 };
  for (let count = 1; ; count++) {
    walk.index = skipBlanks(characters, walk.index);
    if (walk.index >= characters.length) return walk.words;
    if (!readOperator(walk)) readItem(walk);
    if (count % 256 === 0) yield;
  }
}

export function textOfWord(text: string, { start, end }: Pick<QueryWord, 'start' | 'end'>): string {
  return textOf(toCharacters(text), start, end);
}

/** False: no operator is at the index. */
function readOperator(walk: Walk): boolean {
  const { characters, layout, index, depth } = walk;
  const character = characters[index];
  if (character === ')' && depth > 0) return addOperator(walk, 1, -1);
  if (character === '(') return layout.isGroup(index) && addOperator(walk, 1, 1);
  if (character === '-') {
    const target = skipBlanks(characters, index + 1);
    const isGroup = characters[target] === '(' && layout.isBalanced(target);
    if (isGroup) return addOperator(walk, target + 1 - index, 1);
    return findPrefix(characters, target) !== undefined && addOperator(walk, 1, 0);
  }
  return isOr(walk) && addOperator(walk, 2, 0);
}

/** Whether the query, or the innermost open group, ends at `index`. */
function isAtEnd({ characters, depth }: Walk, index: number): boolean {
  return index >= characters.length || (characters[index] === ')' && depth > 0);
}

/** Whether the operator `or` comes next: behind a blank or a group, neither first nor last of its level. */
function isOr(walk: Walk): boolean {
  const { characters, words, index } = walk;
  if (characters[index] !== 'o' || characters[index + 1] !== 'r') return false;
  const last = words.at(-1);
  const isFirst =
    last === undefined || (last.kind === 'operator' && characters[last.end - 1] === '(');
  const isBehindGroup = last?.kind === 'operator' && last.end === index;
  if (isFirst || !(isBehindGroup || isBlank(characters[index - 1]))) return false;
  const next = index + 'or'.length;
  return isBlank(characters[next]) && !isAtEnd(walk, skipBlanks(characters, next));
}

function addOperator(walk: Walk, size: number, deeper: number): boolean {
  const start = walk.index;
  if (deeper < 0) walk.depth += deeper;
  addWord(walk, 'operator', start, start + size);
  if (deeper > 0) walk.depth += deeper;
  return true;
}

function addWord(
  walk: Walk,
  kind: QueryWord['kind'],
  start: number,
  end: number,
  prefix?: Prefix,
  isQuoted = false,
): void {
  walk.words.push({ kind, start, end, isQuoted, depth: walk.depth, prefix });
  walk.index = end;
}

function readItem(walk: Walk): void {
  const { characters, index, isRegexEnabled } = walk;
  const found = findPrefix(characters, index);
  if (found === undefined) {
    readSpan(walk, 'text', isRegexEnabled);
    return;
  }
  const { prefix, end } = found;
  addWord(walk, 'prefix', index, end, prefix);
  const start = skipBlanks(characters, end);
  if (isAtEnd(walk, start)) {
    addWord(walk, 'value', end, end, prefix);
    return;
  }
  walk.index = start;
  readSpan(walk, 'value', isPatternPrefix(prefix, isRegexEnabled), prefix);
}

function readSpan(walk: Walk, kind: 'text' | 'value', isPattern: boolean, prefix?: Prefix): void {
  const { characters, layout, index: start, depth } = walk;
  const quote = layout.closingQuote(start);
  if (quote >= 0) {
    addWord(walk, kind, start, quote + 1, prefix, true);
    return;
  }
  const wordEnd = depth > 0 ? layout.wordEnd(start, isPattern) : runEnd(characters, start);
  addWord(walk, kind, start, Math.max(start + 1, wordEnd), prefix);
}

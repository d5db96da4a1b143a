// The words of a query as typed, also of one that does not parse: for syntax colours and completion.

import { atOnce } from '../../base/steps.ts';
import { isAtEnd, isOr, runEnd, skipBlanks, textOf, toCharacters } from './characters.ts';
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
  readonly prefix?: Prefix;
}

interface Walk {
  readonly characters: readonly string[];
  readonly layout: Layout;
  readonly isRegexEnabled: boolean;
  readonly words: QueryWord[];
  index: number;
  depth: number;
  /** Index after the last ")" that closed a group. */
  groupEnd: number;
}

/** All words of a query, in order. A prefix is followed by its value, possibly empty. Cost: linear. */
export function wordsOf(text: string, isRegexEnabled: boolean): readonly QueryWord[] {
  const characters = toCharacters(text);
  const layout = atOnce(layOut(text, characters, isRegexEnabled));
  const start = { index: 0, depth: 0, groupEnd: 0 };
  const walk: Walk = { characters, layout, isRegexEnabled, words: [], ...start };
  for (;;) {
    walk.index = skipBlanks(characters, walk.index);
    if (walk.index >= characters.length) return walk.words;
    if (!readOperator(walk)) readItem(walk);
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
  return !isFirst(walk) && isOr(characters, index, depth, walk.groupEnd) && addOperator(walk, 2, 0);
}

/** Whether no item of the query, or of the innermost open group, has been read. */
function isFirst({ characters, words }: Walk): boolean {
  const last = words.at(-1);
  return last === undefined || (last.kind === 'operator' && characters[last.end - 1] === '(');
}

function addOperator(walk: Walk, size: number, deeper: number): boolean {
  const start = walk.index;
  walk.index += size;
  const depth = walk.depth + Math.min(deeper, 0);
  walk.depth += deeper;
  if (deeper < 0) walk.groupEnd = walk.index;
  walk.words.push({ kind: 'operator', start, end: walk.index, isQuoted: false, depth });
  return true;
}

function readItem(walk: Walk): void {
  const { characters, index, depth, isRegexEnabled } = walk;
  const found = findPrefix(characters, index);
  if (found === undefined) {
    readSpan(walk, { kind: 'text' }, isRegexEnabled);
    return;
  }
  const { prefix, end } = found;
  walk.words.push({ kind: 'prefix', start: index, end, isQuoted: false, depth, prefix });
  const start = skipBlanks(characters, end);
  const isMissing = isAtEnd(characters, start, depth);
  walk.index = isMissing ? end : start;
  if (isMissing)
    walk.words.push({ kind: 'value', start: end, end, isQuoted: false, depth, prefix });
  else readSpan(walk, { kind: 'value', prefix }, isPatternPrefix(prefix, isRegexEnabled));
}

function readSpan(walk: Walk, what: Pick<QueryWord, 'kind' | 'prefix'>, isPattern: boolean): void {
  const { characters, layout, index: start, depth } = walk;
  const quote = layout.closingQuote(start);
  walk.index =
    quote >= 0
      ? quote + 1
      : Math.max(
          start + 1,
          depth > 0 ? layout.wordEnd(start, isPattern) : runEnd(characters, start),
        );
  walk.words.push({ ...what, start, end: walk.index, isQuoted: quote >= 0, depth });
}

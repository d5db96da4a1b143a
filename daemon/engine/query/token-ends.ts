// Finds the ends of words, quoted texts and groups of a query (API.md 9.2), for every index where one could begin.
// Whether a "(" opens a group depends on text far behind it, and backtracking would be exponential. So all answers are
// computed once, from right to left, each in constant time from those further right.
// Level: the inside of a group. "Closer" of an index: the first ")" behind it that is not matched by a "(" at or behind it,
// quoted items excluded; -1 if there is none.

import { isBlank, runEnd, skipBlanks } from './characters.ts';
import type { Steps } from '../../base/steps.ts';
import { findPrefix, isPatternPrefix } from './prefixes.ts';

const NOWHERE = -1;
/** `[:alpha:]` inside a class. Bound: the longest name is `xdigit`, so matching is constant work. */
const POSIX_CLASS = /^\[:\^?[a-z]{1,6}:\]/;

/** The rest of a word that begins at an index inside a group. */
interface WordSpans {
  /** Index of the end of the word: the blank, the unmatched ")" or the end of the query. */
  readonly ends: Int32Array;
  /** Closer of the level that the word is in. */
  readonly closers: Int32Array;
  /** 1 if that level has a blank before the closer. */
  readonly blanks: Uint8Array;
}

export interface Layout {
  /** Index of the quote that closes the one at `index`, or -1. */
  closingQuote(index: number): number;
  /** Index of the end of a word in a group; `isPattern`: escaped and bracketed parentheses are text. */
  wordEnd(index: number, isPattern: boolean): number;
  /** Whether the "(" at `index`, the start of an item, opens a group. */
  isGroup(index: number): boolean;
  /** The same after a negating dash, where every balanced pair is a group. */
  isBalanced(index: number): boolean;
}

interface QuoteTable {
  readonly characters: readonly string[];
  /** By index inside a quoted text: its closing quote, or -1. */
  readonly quoteEnds: Int32Array;
}

interface Tables extends QuoteTable {
  readonly isRegexEnabled: boolean;
  /** By index inside a class: the index after the class, at most the next blank. */
  readonly classEnds: Int32Array;
  readonly plainWords: WordSpans;
  readonly patternWords: WordSpans;
  /** By start of an item: closer of its level, and whether that level has a blank before it. */
  readonly closers: Int32Array;
  readonly blanks: Uint8Array;
  /** By index of a "(" at the start of an item: 1 if it opens a group. */
  readonly groups: Uint8Array;
}

/** Cost: linear; no recursion. @param characters  those of `query` */
export function* layOut(
  query: string,
  characters: readonly string[],
  isRegexEnabled: boolean,
): Steps<Layout> {
  if (!query.includes('(')) return yield* layoutOfWords(characters);
  const tables = allocate(characters, isRegexEnabled);
  for (let index = characters.length; index >= 0; index--) {
    // Bound: time of a step, about 1 ms.
    if (index % 4096 === 0) yield;
    tables.quoteEnds[index] = quoteEnd(tables, index);
    tables.classEnds[index] = classEnd(tables, index);
    if (index === characters.length || isBlank(characters[index])) {
      fillGap(tables, index);
    } else {
      fillWord(tables, tables.plainWords, index, 1);
      fillWord(tables, tables.patternWords, index, patternStep(tables, index));
      fillItem(tables, index);
    }
  }
  return {
    closingQuote: (index) => closingQuote(tables, index),
    wordEnd: (index, isPattern) =>
      at((isPattern ? tables.patternWords : tables.plainWords).ends, index),
    isGroup: (index) => at(tables.groups, index) === 1,
    isBalanced: (index) => at(tables.closers, index + 1) !== NOWHERE,
  };
}

/** The layout of a query without groups, as most are: only quotes matter. */
function* layoutOfWords(characters: readonly string[]): Steps<Layout> {
  const quoteEnds = new Int32Array(characters.length + 1);
  const tables = { characters, quoteEnds };
  for (let index = characters.length; index >= 0; index--) {
    // Bound: as above.
    if (index % 4096 === 0) yield;
    quoteEnds[index] = quoteEnd(tables, index);
  }
  return {
    closingQuote: (index) => closingQuote(tables, index),
    wordEnd: (index) => runEnd(characters, index),
    isGroup: () => false,
    isBalanced: () => false,
  };
}

function allocate(characters: readonly string[], isRegexEnabled: boolean): Tables {
  const count = characters.length + 1;
  // Why one buffer for all tables: 2 us of a query, separate buffers 9.
  const intsSize = 7 * 4 * count;
  const buffer = new ArrayBuffer(intsSize + 4 * count);
  let ints = 0;
  let bytes = intsSize;
  const intTable = (): Int32Array => {
    const table = new Int32Array(buffer, ints, count);
    ints += table.byteLength;
    return table;
  };
  const byteTable = (): Uint8Array => {
    const table = new Uint8Array(buffer, bytes, count);
    bytes += count;
    return table;
  };
  const words = (): WordSpans => ({ ends: intTable(), closers: intTable(), blanks: byteTable() });
  return {
    characters,
    isRegexEnabled,
    quoteEnds: intTable(),
    classEnds: intTable(),
    plainWords: words(),
    patternWords: words(),
    closers: intTable(),
    blanks: byteTable(),
    groups: byteTable(),
  };
}

/** Safety: indexes are at most the number of characters; tables have one more. */
function at(table: Int32Array | Uint8Array, index: number): number {
  return table[index] ?? NOWHERE;
}

function quoteEnd({ characters, quoteEnds }: QuoteTable, index: number): number {
  const character = characters[index];
  if (character === undefined || character === '\n') return NOWHERE;
  if (character === '"') return index;
  if (character !== '\\') return at(quoteEnds, index + 1);
  const isProtecting = index + 1 < characters.length && characters[index + 1] !== '\n';
  return isProtecting ? at(quoteEnds, index + 2) : NOWHERE;
}

function closingQuote({ characters, quoteEnds }: QuoteTable, index: number): number {
  return characters[index] === '"' ? at(quoteEnds, index + 1) : NOWHERE;
}

function classEnd({ characters, classEnds }: Tables, index: number): number {
  const character = characters[index];
  if (character === undefined || isBlank(character)) return index;
  if (character === ']') return index + 1;
  if (character === '\\') return at(classEnds, index + escapeSize(characters, index));
  if (character !== '[' || characters[index + 1] !== ':') return at(classEnds, index + 1);
  const head = characters.slice(index, index + '[:^xdigit:]'.length).join('');
  return at(classEnds, index + (POSIX_CLASS.exec(head)?.[0].length ?? 1));
}

/** A backslash escapes the next character, but no blank: words of a pattern are cut first. */
function escapeSize(characters: readonly string[], index: number): number {
  const next = characters[index + 1];
  return next === undefined || isBlank(next) ? 1 : 2;
}

/** Size of the escape, class or character at `index` of a pattern word. */
function patternStep(tables: Tables, index: number): number {
  const { characters, classEnds } = tables;
  if (characters[index] === '\\') return escapeSize(characters, index);
  if (characters[index] !== '[') return 1;
  let body = index + 1;
  if (characters[body] === '^') body++;
  if (characters[body] === ']') body++;
  return at(classEnds, body) - index;
}

function fillGap(tables: Tables, index: number): void {
  const isEnd = index === tables.characters.length;
  tables.closers[index] = isEnd ? NOWHERE : at(tables.closers, index + 1);
  tables.blanks[index] = isEnd ? 0 : 1;
  for (const words of [tables.plainWords, tables.patternWords]) {
    words.ends[index] = index;
    words.closers[index] = at(tables.closers, index);
    words.blanks[index] = at(tables.blanks, index);
  }
}

function fillWord(tables: Tables, words: WordSpans, index: number, step: number): void {
  const character = step === 1 ? tables.characters[index] : undefined;
  if (character === ')') {
    setWord(words, index, index, index, 0);
  } else if (character === '(') {
    fillWordOpening(tables, words, index);
  } else {
    const rest = index + step;
    setWord(words, index, at(words.ends, rest), at(words.closers, rest), at(words.blanks, rest));
  }
}

function fillWordOpening(tables: Tables, words: WordSpans, index: number): void {
  const innerEnd = at(words.ends, index + 1);
  if (tables.characters[innerEnd] === ')') {
    const rest = innerEnd + 1;
    setWord(words, index, at(words.ends, rest), at(words.closers, rest), at(words.blanks, rest));
    return;
  }
  // This unmatched "(" ends the word, but its ")" counts for the closer.
  const partner = at(words.closers, index + 1);
  const closer = partner === NOWHERE ? NOWHERE : at(tables.closers, partner + 1);
  const blank = partner === NOWHERE ? 0 : at(tables.blanks, partner + 1);
  setWord(words, index, innerEnd, closer, blank);
}

function setWord(
  words: WordSpans,
  index: number,
  end: number,
  closer: number,
  blank: number,
): void {
  words.ends[index] = end;
  words.closers[index] = closer;
  words.blanks[index] = blank;
}

function fillItem(tables: Tables, index: number): void {
  const { characters, closers, groups } = tables;
  const character = characters[index];
  if (character === ')') return setItem(tables, index, index, 0);
  if (character === '(') {
    const isOpening = isGroupOpening(tables, index);
    groups[index] = isOpening ? 1 : 0;
    if (isOpening) return continueItem(tables, index, at(closers, index + 1) + 1);
  }
  if (character === '-' && fillNegation(tables, index)) return;
  if (fillFilter(tables, index, index)) return;
  const quote = closingQuote(tables, index);
  if (quote !== NOWHERE) return continueItem(tables, index, quote + 1);
  const words = tables.isRegexEnabled ? tables.patternWords : tables.plainWords;
  setItem(tables, index, at(words.closers, index), at(words.blanks, index));
}

/** Entries for a negating dash; false if the dash is part of a word. */
function fillNegation(tables: Tables, index: number): boolean {
  const { characters, closers } = tables;
  const target = skipBlanks(characters, index + 1);
  if (characters[target] === '(' && at(closers, target + 1) !== NOWHERE) {
    continueItem(tables, index, at(closers, target + 1) + 1);
  } else if (!fillFilter(tables, index, target)) {
    return false;
  }
  if (target > index + 1) tables.blanks[index] = 1;
  return true;
}

/** Entries for a filter at `target`, possibly after a dash at `index`; false if there is none. */
function fillFilter(tables: Tables, index: number, target: number): boolean {
  const found = findPrefix(tables.characters, target);
  if (found === undefined) return false;
  const start = skipBlanks(tables.characters, found.end);
  const quote = closingQuote(tables, start);
  if (quote !== NOWHERE) {
    continueItem(tables, index, quote + 1);
  } else {
    const isPattern = isPatternPrefix(found.prefix, tables.isRegexEnabled);
    const words = isPattern ? tables.patternWords : tables.plainWords;
    setItem(tables, index, at(words.closers, start), at(words.blanks, start));
  }
  if (start > found.end) tables.blanks[index] = 1;
  return true;
}

function setItem(tables: Tables, index: number, closer: number, blank: number): void {
  tables.closers[index] = closer;
  tables.blanks[index] = blank;
}

/** The item at `index` ends before `next`, where another item of the same level may begin. */
function continueItem(tables: Tables, index: number, next: number): void {
  setItem(tables, index, at(tables.closers, next), at(tables.blanks, next));
}

/** In regex mode parentheses may also be part of the pattern; API.md 9.2 defines when they are not. */
function isGroupOpening(tables: Tables, index: number): boolean {
  const { characters, closers, groups } = tables;
  const inside = index + 1;
  const closer = at(closers, inside);
  if (closer === NOWHERE) return false;
  if (!tables.isRegexEnabled || inside === closer || at(tables.blanks, inside) === 1) return true;
  if (closingQuote(tables, inside) !== NOWHERE) return true;
  const target = characters[inside] === '-' ? inside + 1 : inside;
  if (findPrefix(characters, target) !== undefined) return true;
  return at(groups, inside) === 1 && at(closers, inside + 1) + 1 === closer;
}

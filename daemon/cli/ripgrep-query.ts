// Turns the words of a command line and ripgrep's options on patterns and files into a search of Trawl.

import { globPattern } from '../api/mcp/tools/glob-pattern.ts';
import { nearest } from '../base/nearest.ts';
import type { SearchCall } from '../api/search/search-schemas.ts';
import { joined } from '../engine/query/joined.ts';
import { textOfWord, wordsOf } from '../engine/query/query-tokens.ts';
import { quotePattern } from '../engine/regex/quote.ts';
import { languageTables, resolveLanguage } from '../sources/languages/language-data.ts';
import { UsageError } from './errors.ts';

export interface PatternFlags {
  /** Words are expressions. */
  readonly regex?: true;
  readonly regexp?: readonly string[];
  readonly fixedStrings?: true;
  readonly wordRegexp?: true;
  readonly letterCase: 'ignore' | 'sensitive' | 'smart';
  readonly glob?: readonly string[];
  readonly type?: readonly string[];
  readonly typeNot?: readonly string[];
}

type Asked = Pick<SearchCall, 'query' | 'filter' | 'isRegexEnabled' | 'isCaseSensitivityEnabled'>;

/** A text of the query language, and the texts of content in it as expressions. */
interface Written {
  readonly query: string;
  readonly isRegexEnabled: boolean;
  readonly contents: readonly string[];
}

/** Names of ripgrep that linguist, whose names `lang:` takes, has otherwise. */
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['cs', 'C#'],
  ['docker', 'Dockerfile'],
  ['hs', 'Haskell'],
  ['jl', 'Julia'],
  ['ml', 'OCaml'],
  ['objcpp', 'Objective-C++'],
  ['ps', 'PowerShell'],
  ['sv', 'SystemVerilog'],
  ['tf', 'HCL'],
  ['txt', 'Text'],
]);

/** Errors: UsageError without a query, or for a pattern or glob that is none. */
export function askedOf(words: readonly string[], flags: PatternFlags): Asked {
  const { query, isRegexEnabled, contents } = writtenOf(words, flags);
  if (query.trim() === '')
    throw new UsageError('the query is empty; give words to search for, or -e');
  const filter = filterOf(flags);
  const isCaseSensitivityEnabled =
    flags.letterCase === 'sensitive' ||
    (flags.letterCase === 'smart' && contents.some(hasUpperCase));
  return {
    query,
    ...(filter === '' ? {} : { filter }),
    isRegexEnabled,
    isCaseSensitivityEnabled,
  };
}

function writtenOf(words: readonly string[], flags: PatternFlags): Written {
  const { regexp = [], fixedStrings, wordRegexp } = flags;
  const isRegexEnabled = flags.regex ?? false;
  const text = words.join(' ');
  if (regexp.length > 0) return patternQuery(regexp, text, flags);
  // One literal, whatever it says in the query language.
  if (fixedStrings && text !== '') return patternQuery([text], '', flags);
  return wordRegexp
    ? withExpressions(text, isRegexEnabled, true)
    : plainQuery(text, isRegexEnabled);
}

/** One of the patterns, in the content alone, and the rest of the query. */
function patternQuery(
  patterns: readonly string[],
  rest: string,
  { fixedStrings, wordRegexp, regex }: PatternFlags,
): Written {
  if (patterns.includes('')) throw new UsageError('a pattern is empty, and every line has that');
  const open = fixedStrings ? undefined : patterns.find((one) => /(?<!\\)(?:\\\\)*\\$/.test(one));
  if (open !== undefined)
    throw new UsageError(`-e: the backslash at the end of "${open}" escapes nothing; write \\\\`);
  const expressions = fixedStrings ? patterns.map(quotePattern) : patterns;
  const found = wordRegexp ? expressions.map(wholeWord) : expressions;
  const all = found.length === 1 ? found.join('') : found.map((one) => `(?:${one})`).join('|');
  const { query, contents } =
    regex && !wordRegexp
      ? plainQuery(rest, true)
      : withExpressions(rest, regex === true, wordRegexp === true);
  const pattern = `content:${quoted(all)}`;
  const both = query.trim() === '' ? pattern : joined(query, pattern, true, true);
  if (both === undefined)
    throw new UsageError(`the parentheses of "${rest}" cannot stand beside -e; quote its words`);
  return {
    query: both,
    isRegexEnabled: true,
    contents: [...expressions, ...contents],
  };
}

/** Quotation marks of the query language around an expression, on one line. */
function quoted(expression: string): string {
  const inner = expression
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(/\\.|"/gs, (found) => (found === '"' ? String.raw`\"` : found));
  return `"${inner}"`;
}

function plainQuery(query: string, isRegexEnabled: boolean): Written {
  const contents = contentWords(query, isRegexEnabled).map(({ expression }) => expression);
  return { query, isRegexEnabled, contents };
}

/** The query with each word of content as an expression; `isWhole`: of whole words, which a path does not have. */
function withExpressions(query: string, isRegexEnabled: boolean, isWhole: boolean): Written {
  const characters = Array.from(query);
  const words = contentWords(query, isRegexEnabled);
  let written = '';
  let index = 0;
  for (const { start, end, isOfPrefix, expression } of words) {
    const prefix = isOfPrefix || !isWhole ? '' : 'content:';
    const shown = quoted(isWhole ? wholeWord(expression) : expression);
    written += `${characters.slice(index, start).join('')}${prefix}${shown}`;
    index = end;
  }
  written += characters.slice(index).join('');
  return {
    query: written,
    isRegexEnabled: true,
    contents: words.map(({ expression }) => expression),
  };
}

/** An expression with operators has one edge whatever it begins or ends with: that of words of ASCII. */
function wholeWord(expression: string): string {
  const text = expression.replaceAll(/\\(\W)/g, '$1');
  const isLiteral = quotePattern(text) === expression;
  if (!isLiteral) return `\\b(?:${expression})\\b`;
  return `${wordEdge(text.at(0))}${expression}${wordEdge(text.at(-1))}`;
}

/** Beside a character that is none of a word, `\B` holds where no word begins or ends. */
function wordEdge(character = ''): string {
  return /\w/.test(character) ? String.raw`\b` : String.raw`\B`;
}

/** Words that are looked for in contents, as expressions; positions are in code points. */
function contentWords(query: string, isRegexEnabled: boolean) {
  return wordsOf(query, isRegexEnabled)
    .filter(
      ({ kind, prefix }) => kind === 'text' || (kind === 'value' && prefix?.kind === 'content'),
    )
    .map((word) => {
      const { start, end, isQuoted, kind } = word;
      const whole = textOfWord(query, word);
      const inner = isQuoted ? whole.slice(1, -1) : whole;
      const expression = isRegexEnabled
        ? inner
        : quotePattern(inner.replaceAll(/\\(["\\])/g, '$1'));
      return { start, end, expression, isOfPrefix: kind === 'value' };
    });
}

/** As ripgrep, not of classes such as `\S`, names of groups and flags. */
function hasUpperCase(expression: string): boolean {
  const literals = expression.replaceAll(
    /\\(?:[pP](?:\{[^}]*\}|.)|.)|\(\?(?:P?<\w*>|[\w-]*[:)])/gs,
    '',
  );
  return /\p{Lu}/u.test(literals);
}

function filterOf({ glob = [], type = [], typeNot = [] }: PatternFlags): string {
  const wanted = glob.filter((one) => !one.startsWith('!'));
  const unwanted = glob.filter((one) => one.startsWith('!'));
  return [
    ...anyOf(type.map((name) => `lang:${languageOf(name)}`)),
    ...typeNot.map((name) => `-lang:${languageOf(name)}`),
    ...anyOf(wanted.map((one) => `file:${pathPattern(one)}`)),
    ...unwanted.map((one) => `-file:${pathPattern(one.slice(1)).replace(/\$"$/, '(?:/|$)"')}`),
  ].join(' ');
}

function anyOf(filters: readonly string[]): readonly string[] {
  return filters.length > 1 ? [`(${filters.join(' or ')})`] : filters;
}

function languageOf(name: string): string {
  const ours = LANGUAGES.get(name) ?? name;
  if (resolveLanguage(ours) === undefined) {
    const similar = nearest(name, [...languageTables().byName.keys()]);
    const advice = similar === undefined ? '' : `; similar: ${similar}`;
    throw new UsageError(`-t, -T: there is no language "${name}"${advice}`);
  }
  return `"${ours.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** As in ignore files: with a slash inside it counts from the root. Case-sensitive, whatever the words are. */
function pathPattern(glob: string): string {
  if (glob.replaceAll('/', '') === '') throw new UsageError(`-g: no file has the name "${glob}"`);
  checkClosed(glob);
  const isRooted = /.\/./.test(glob) && !glob.startsWith('**/') && !/^\.?\//.test(glob);
  return quoted(`(?-i)${globPattern(isRooted ? `/${glob}` : glob)}`);
}

function checkClosed(glob: string): void {
  const rest = glob.replaceAll(/\\.|\[(?:[!^].|[^!^])[^\]]*\]/gs, '');
  let depth = 0;
  for (const brace of rest.replaceAll(/[^{}]/g, ''))
    depth = brace === '{' ? depth + 1 : Math.max(0, depth - 1);
  if (rest.includes('[') || depth > 0)
    throw new UsageError(
      `-g: a ${rest.includes('[') ? ']' : '}'} is missing in "${glob}"; a backslash makes a sign a plain one`,
    );
}

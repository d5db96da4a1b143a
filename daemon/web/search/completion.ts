// What can complete the query at the caret: which word it is, what the daemon is asked for it, and what a choice makes of the
// text.

import { findPrefix, type LongPrefix } from '../../engine/query/prefixes.ts';
import { textOfWord, wordsOf } from '../../engine/query/words.ts';
import type { QueryWord } from '../../engine/query/words.ts';
import { quotePattern } from '../../engine/regex/quote.ts';

/** What the daemon completes. */
export type SuggestionKind = 'repo' | 'file' | 'lang' | 'sym' | 'rev' | 'context';

/** A choice that is offered. */
export interface Choice {
  /** Heading of the group that it is in. */
  readonly group: string;
  readonly label: string;
  readonly description: string;
  /** The text of the query with it, and where the caret is then, in UTF-16 units. */
  readonly text: string;
  readonly caret: number;
}

/** The word at the caret. */
export interface Completable {
  readonly text: string;
  /** UTF-16 units of the text that a choice replaces. */
  readonly from: number;
  readonly to: number;
  /** What has been typed of the word, as it is. */
  readonly typed: string;
  /** The same without quotes and what makes an expression of it: what the daemon is asked for. */
  readonly lookupText: string;
  readonly kinds: readonly SuggestionKind[];
  /** Values of a prefix that knows all of them. */
  readonly values: readonly string[];
  /** The prefix is not typed yet: choices bring it along. */
  readonly isBare: boolean;
  /** The other filters of the query; undefined: none, or they stand in groups. */
  readonly filter: string | undefined;
}

/** Characters of a word without a prefix from which on names are looked for. */
const WORD_SIZE_MIN = 3;

const PREFIXES: Readonly<Record<LongPrefix, string>> = {
  repo: 'name of the repository',
  file: 'path of the file',
  lang: 'language',
  sym: 'name of a definition',
  rev: 'branch, tag or commit',
  content: 'text in the content alone',
  context: 'named set of repositories',
  reposet: 'these repositories',
  archived: 'yes, no, only',
  fork: 'yes, no, only',
  visibility: 'public, private, any',
};

const GROUPS: Readonly<Record<SuggestionKind, string>> = {
  repo: 'Repositories',
  file: 'Files',
  lang: 'Languages',
  sym: 'Symbols',
  rev: 'Revisions',
  context: 'Contexts',
};

const unitsOf = (text: string, points: number): number =>
  Array.from(text).slice(0, points).join('').length;

/** The word that the caret is in or behind. @param caret  in UTF-16 units */
export function completableAt(text: string, caret: number, isRegexEnabled: boolean): Completable {
  const point = Array.from(text.slice(0, caret)).length;
  const words = wordsOf(text, isRegexEnabled);
  const index = words.findLastIndex(
    ({ kind, start, end }) => start <= point && point <= end && kind !== 'operator',
  );
  const word = words[index];
  const filter = filterOf(text, words, index);
  if (word === undefined) {
    const nothing = { typed: '', lookupText: '', kinds: [], values: [], isBare: true };
    return { text, from: caret, to: caret, ...nothing, filter };
  }
  const isBare = word.kind !== 'value';
  const from = unitsOf(text, word.start);
  const to = unitsOf(text, word.end);
  const typed = text.slice(from, caret);
  return {
    text,
    from,
    to,
    typed,
    lookupText: lookupTextOf(typed, word),
    ...(isBare ? bareKinds(word, typed) : kindsOf(word)),
    isBare,
    filter,
  };
}

function bareKinds(
  { kind, isQuoted }: QueryWord,
  typed: string,
): Pick<Completable, 'kinds' | 'values'> {
  const isName = kind === 'text' && !isQuoted && typed.length >= WORD_SIZE_MIN;
  return { kinds: isName ? ['repo', 'file', 'sym'] : [], values: [] };
}

function kindsOf({ prefix }: QueryWord): Pick<Completable, 'kinds' | 'values'> {
  if (prefix === undefined || prefix.kind === 'content') return { kinds: [], values: [] };
  if (prefix.kind === 'enum') return { kinds: [], values: prefix.values };
  return { kinds: prefix.name === 'reposet' ? [] : [prefix.name], values: [] };
}

function lookupTextOf(typed: string, { prefix }: QueryWord): string {
  const bare = typed.startsWith('"') ? typed.slice(1) : typed;
  if (prefix?.kind !== 'pattern') return bare;
  return bare
    .replace(/^\^/, '')
    .replace(/\$?"?$/, '')
    .replaceAll(/\\(.)/gu, '$1');
}

/**
 * The filters beside a word, as a query; undefined where the query has groups or choices, as a part of these says another
 * thing.
 */
function filterOf(text: string, words: readonly QueryWord[], index: number): string | undefined {
  const isFlat = words.every(
    (word) => word.kind !== 'operator' || textOfWord(text, word).startsWith('-'),
  );
  if (!isFlat || text.includes('(')) return undefined;
  const filters = words.flatMap((word, position) => {
    const value = words[position + 1];
    if (word.kind !== 'prefix' || value === undefined || value.start === value.end) return [];
    if (position === index || position + 1 === index || word.prefix?.kind === 'content') return [];
    const dash = words[position - 1]?.kind === 'operator' ? '-' : '';
    return [`${dash}${textOfWord(text, word)}${textOfWord(text, value)}`];
  });
  return filters.length === 0 ? undefined : filters.join(' ');
}

/** The long names of prefixes that begin with what was typed. */
export function prefixChoices(at: Completable): Choice[] {
  if (!at.isBare) return [];
  const typed = at.typed.replace(/^-/, '');
  const dash = at.typed.startsWith('-') ? '-' : '';
  return Object.entries(PREFIXES)
    .filter(([name]) => name.startsWith(typed) && name !== typed)
    .map(([name, description]) =>
      choiceOf(at, { group: 'Filters', label: `${dash}${name}:`, description }, `${dash}${name}:`),
    );
}

/** The values of a prefix that knows all of them. */
export function valueChoices(at: Completable): Choice[] {
  return at.values
    .filter((value) => value.startsWith(at.lookupText))
    .map((value) => choiceOf(at, { group: 'Values', label: value, description: '' }, `${value} `));
}

/** What the daemon suggests for a kind. */
export function suggestedChoices(
  at: Completable,
  kind: SuggestionKind,
  suggestions: readonly { readonly value: string; readonly description?: string | undefined }[],
): Choice[] {
  return suggestions.map(({ value, description = '' }) =>
    choiceOf(
      at,
      { group: GROUPS[kind], label: value, description },
      `${at.isBare ? `${kind}:` : ''}${writtenValue(kind, value)} `,
    ),
  );
}

/** Queries of before that hold what is typed, in place of all of it. */
export function historyChoices(
  text: string,
  queries: readonly string[],
  countMax: number,
): Choice[] {
  const typed = text.trim().toLowerCase();
  return queries
    .filter((query) => query !== text && query.toLowerCase().includes(typed))
    .slice(0, countMax)
    .map((query) => ({
      group: 'Asked before',
      label: query,
      description: '',
      text: query,
      caret: query.length,
    }));
}

function choiceOf(
  { text, from, to }: Completable,
  display: Pick<Choice, 'group' | 'label' | 'description'>,
  inserted: string,
): Choice {
  const rest = text.slice(to);
  const own = rest.startsWith(' ') ? inserted.trimEnd() : inserted;
  return { ...display, text: text.slice(0, from) + own + rest, caret: from + own.length };
}

/** A pattern as a query says it behind a prefix. */
export function writtenPattern(pattern: string): string {
  const written = pattern.replaceAll('"', String.raw`\x22`);
  return /[\s()]/.test(written) ? `"${written}"` : written;
}

/** A value as a query says it, and means it alone. */
export function writtenValue(kind: SuggestionKind, value: string): string {
  if (findPrefix(Array.from(`${kind}:`), 0)?.prefix.kind === 'pattern')
    return writtenPattern(`^${quotePattern(value)}$`);
  return /[\s"()]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value;
}

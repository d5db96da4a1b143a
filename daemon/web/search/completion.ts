// Completion of a query: the word at the caret, the request to the daemon, and the text after a choice.

import { findPrefix, type LongPrefix } from '../../engine/query/prefixes.ts';
import { type QueryWord, textOfWord, wordsOf } from '../../engine/query/query-tokens.ts';
import { quotePattern } from '../../engine/regex/quote.ts';

/** Kinds of values that the daemon suggests. */
export type SuggestionKind = 'repo' | 'file' | 'lang' | 'sym' | 'rev' | 'context';

/** A suggested choice. */
export interface Choice {
  /** Heading of its group. */
  readonly group: string;
  readonly label: string;
  readonly description: string;
  /** The query with the choice inserted, and the caret after it, in UTF-16 units. */
  readonly text: string;
  readonly caret: number;
}

/** The word at the caret. */
export interface Completable {
  readonly text: string;
  /** The part of the text that a choice replaces, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  /** The typed part of the word, unchanged. */
  readonly typed: string;
  /** The same without quotes and pattern syntax: the prefix to look up. */
  readonly lookupText: string;
  readonly kinds: readonly SuggestionKind[];
  /** Values of a prefix with a fixed set of values. */
  readonly values: readonly string[];
  /** True if the word has no prefix yet: choices add it. */
  readonly isBare: boolean;
  /** The other filters of the query; undefined: none, or the query has groups. */
  readonly filter: string | undefined;
}

/** Length from which a word without a prefix is looked up. */
const WORD_SIZE_MIN = 3;

const PREFIXES: Readonly<Record<LongPrefix, string>> = {
  repo: 'repository name',
  file: 'file path',
  lang: 'language',
  sym: 'definition name',
  rev: 'branch, tag or commit',
  content: 'text in the content only',
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

/** The word at the caret, or the one that ends there. @param caret  in UTF-16 units */
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
 * The query's other filters, as a query. Undefined for queries with groups or `or`: a part of one would mean something
 * else.
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

/** Prefixes whose long names begin with the typed text. */
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

/** Values of a prefix with a fixed set of values. */
export function valueChoices(at: Completable): Choice[] {
  return at.values
    .filter((value) => value.startsWith(at.lookupText))
    .map((value) => choiceOf(at, { group: 'Values', label: value, description: '' }, `${value} `));
}

/** Choices from the daemon's suggestions. */
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

/** Recent queries that contain the typed text; a choice replaces the whole query. */
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
      group: 'Recent searches',
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

/** A pattern, quoted if necessary, as the value of a prefix. */
export function writtenPattern(pattern: string): string {
  const written = pattern.replaceAll('"', String.raw`\x22`).replaceAll('\n', String.raw`\n`);
  return /[\s()]/.test(written) ? `"${written}"` : written;
}

/** A value, written so that it matches only itself. */
export function writtenValue(kind: SuggestionKind, value: string): string {
  if (findPrefix(Array.from(`${kind}:`), 0)?.prefix.kind === 'pattern')
    return writtenPattern(`^${quotePattern(value)}$`);
  return /[\s"()]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value;
}

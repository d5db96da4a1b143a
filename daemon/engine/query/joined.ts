// Adds a filter to the text of a query. The query goes into parentheses where it has an `or`, which binds less tightly
// than a space, or where its end would change the filter.

import { textOf, toCharacters } from './characters.ts';
import { isPatternPrefix } from './prefixes.ts';
import { type QueryWord, wordsOf } from './query-tokens.ts';

/** A query that requires both; undefined: there is no way to write it. */
export function joined(
  query: string,
  filter: string,
  isRegexEnabled: boolean,
  isFilterFirst = false,
): string | undefined {
  const text = query.trim();
  const read = (one: string): string[] => {
    const characters = toCharacters(one);
    return wordsOf(one, isRegexEnabled).map(
      ({ kind, start, end }) => `${kind} ${textOf(characters, start, end)}`,
    );
  };
  const words = read(text);
  const quoted = withoutParentheses(text, isRegexEnabled);
  const group = {
    item: `(${quoted.text})`,
    words: ['operator (', ...quoted.words, 'operator )'],
  };
  const hasOr = wordsOf(text, isRegexEnabled).some(
    ({ depth }, index) => depth === 0 && words[index] === 'operator or',
  );
  const ways = hasOr ? [group] : [{ item: text, words }, group];
  const filterWords = read(filter);
  for (const { item, words } of ways) {
    const whole = isFilterFirst ? `${filter} ${item}` : `${item} ${filter}`;
    const expected = isFilterFirst ? [...filterWords, ...words] : [...words, ...filterWords];
    if (read(whole).join('\0') === expected.join('\0')) return whole;
  }
  return undefined;
}

/** The query with words of text in quotation marks where they have parentheses, which could end a group. */
function withoutParentheses(
  query: string,
  isRegexEnabled: boolean,
): { readonly text: string; readonly words: readonly string[] } {
  const characters = toCharacters(query);
  const words: string[] = [];
  let text = '';
  let index = 0;
  for (const word of wordsOf(query, isRegexEnabled)) {
    const written = textOf(characters, word.start, word.end);
    const isKept = !isLiteral(word, isRegexEnabled) || word.isQuoted || !/[()]/.test(written);
    const own = isKept ? written : inQuotes(written.replaceAll(/\\(["\\])/g, '$1'));
    words.push(`${word.kind} ${own}`);
    text += textOf(characters, index, word.start) + own;
    index = word.end;
  }
  return { text: text + textOf(characters, index, characters.length), words };
}

function isLiteral({ kind, prefix }: QueryWord, isRegexEnabled: boolean): boolean {
  if (kind === 'text') return !isRegexEnabled;
  return kind === 'value' && prefix !== undefined && !isPatternPrefix(prefix, isRegexEnabled);
}

function inQuotes(value: string): string {
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

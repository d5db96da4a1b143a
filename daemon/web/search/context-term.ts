// The `context:` term of a query: reads it, and replaces it. Only one that holds for the whole query counts.

import { joined } from '../../engine/query/joined.ts';
import { textOf, toCharacters } from '../../engine/query/characters.ts';
import { type QueryWord, wordsOf } from '../../engine/query/query-tokens.ts';
import { writtenValue } from './completion.ts';

interface Term {
  readonly name: string;
  /** In code points. */
  readonly start: number;
  readonly end: number;
}

function termOf(query: string, isRegexEnabled: boolean): Term | undefined {
  const words = wordsOf(query, isRegexEnabled);
  const characters = toCharacters(query);
  const text = ({ start, end }: QueryWord): string => textOf(characters, start, end);
  let found: Term | undefined;
  for (const [index, word] of words.entries()) {
    if (word.depth > 0) continue;
    if (word.kind === 'operator' && text(word) === 'or') return undefined;
    const prefix = words[index - 1];
    const sign = words[index - 2];
    const isNegated = sign?.kind === 'operator' && text(sign).startsWith('-');
    const isContext = word.prefix?.kind === 'text' && word.prefix.name === 'context';
    if (word.kind !== 'value' || !isContext || isNegated || !prefix) continue;
    const value = word.isQuoted ? text(word).slice(1, -1) : text(word);
    const name = value.replaceAll(/\\(["\\])/g, '$1');
    found ??= { name, start: prefix.start, end: word.end };
  }
  return found;
}

/** The name in the first `context:` term; undefined: none. */
export function contextIn(query: string, isRegexEnabled: boolean): string | undefined {
  return termOf(query, isRegexEnabled)?.name;
}

/** The query in another context; undefined: it cannot be written. @param name  undefined: in no context */
export function withContext(
  query: string,
  name: string | undefined,
  isRegexEnabled: boolean,
): string | undefined {
  const found = termOf(query, isRegexEnabled);
  const term = name === undefined ? '' : `context:${writtenValue('context', name)}`;
  if (found === undefined)
    return name === undefined ? query : joined(query, term, isRegexEnabled, true);
  const characters = Array.from(query);
  const before = characters.slice(0, found.start).join('');
  if (name === undefined) return (before.trimEnd() + characters.slice(found.end).join('')).trim();
  return before + term + characters.slice(found.end).join('');
}

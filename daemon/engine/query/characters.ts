// Query texts as arrays of code points: an index is a position in code points. A lone surrogate is its own code point.

export function toCharacters(text: string): readonly string[] {
  return Array.from(text);
}

export function textOf(characters: readonly string[], start: number, end: number): string {
  return characters.slice(start, end).join('');
}

/** White space of the query language. A carriage return is text. */
export function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\n';
}

/** Index of the first non-blank character from `index` on; the count if there is none. */
export function skipBlanks(characters: readonly string[], index: number): number {
  let next = index;
  while (isBlank(characters[next])) next++;
  return next;
}

/** End of a word outside groups: the next blank. */
export function runEnd(characters: readonly string[], index: number): number {
  let end = index;
  while (end < characters.length && !isBlank(characters[end])) end++;
  return end;
}

/** Whether the query, or the innermost of `depth` open groups, ends at `index`. */
export function isAtEnd(characters: readonly string[], index: number, depth: number): boolean {
  return index >= characters.length || (characters[index] === ')' && depth > 0);
}

/**
 * Whether the operator `or` is at `index`: behind a blank or a group, not last of its level; the caller knows that it is not
 * first.
 * @param groupEnd  index after the last ")" that closed a group
 */
export function isOr(
  characters: readonly string[],
  index: number,
  depth: number,
  groupEnd: number,
): boolean {
  if (characters[index] !== 'o' || characters[index + 1] !== 'r') return false;
  if (!isBlank(characters[index - 1]) && groupEnd !== index) return false;
  const next = index + 'or'.length;
  return isBlank(characters[next]) && !isAtEnd(characters, skipBlanks(characters, next), depth);
}

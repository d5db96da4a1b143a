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

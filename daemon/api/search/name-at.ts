// Finds the name at a position in a line of code. Pure.

/** Languages with `$` in names. */
const DOLLAR_LANGUAGES: ReadonlySet<string> = new Set([
  'TypeScript',
  'JavaScript',
  'JSX',
  'TSX',
  'Java',
  'Kotlin',
  'Scala',
  'Groovy',
]);

const NAME = /[\p{ID_Continue}]+/gu;
const DOLLAR_NAME = /[\p{ID_Continue}$]+/gu;

/**
 * The name that contains or ends at a column; undefined: none.
 *
 * @param column  in code points, 1-based
 */
export function nameAt(line: string, column: number, language: string): string | undefined {
  const at = Array.from(line)
    .slice(0, column - 1)
    .join('').length;
  const pattern = DOLLAR_LANGUAGES.has(language) ? DOLLAR_NAME : NAME;
  const found = [...line.matchAll(pattern)].filter(
    ({ index, 0: name }) => index <= at && at <= index + name.length,
  );
  // If two names touch, the one that starts there.
  return found.at(-1)?.[0];
}

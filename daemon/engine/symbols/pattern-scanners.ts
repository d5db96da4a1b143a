// Compiles the rules of a language (pattern-tables.ts) into one regular expression per context.

import { PATTERN_LANGUAGES, type PatternLanguage, type Rule } from './pattern-tables.ts';

/** Everything that may come next in a context. */
export interface Scanner {
  /** Matches a bracket, or the name of the rule whose group matched; the match ends with it. */
  readonly pattern: RegExp;
  /** In the order of their groups. */
  readonly rules: readonly Rule[];
}

const scanners = new Map<string, Scanner>();

/** The language must be in the tables. */
export function scannerOf(language: string, scope: string): Scanner {
  const key = `${language} ${scope}`;
  let scanner = scanners.get(key);
  if (scanner === undefined) {
    scanner = makeScanner(PATTERN_LANGUAGES.get(language)!, scope);
    scanners.set(key, scanner);
  }
  return scanner;
}

function makeScanner(
  { rules, brackets, name, isCaseBlind }: PatternLanguage,
  scope: string,
): Scanner {
  const holding = rules.filter(({ within }) => within === undefined || within.includes(scope));
  const ends = rules.find(({ opens }) => opens === scope)?.until ?? '';
  const marks = `${brackets}${ends}`.split('').map((mark) => `\\${mark}`);
  const parts = holding.map(({ pattern, kind }) =>
    kind === undefined ? `(${pattern})` : pattern.replace('NAME', `(${name})`),
  );
  // An empty character class matches nothing.
  parts.push(`[${marks.join('')}]`);
  return { pattern: new RegExp(parts.join('|'), isCaseBlind ? 'gim' : 'gm'), rules: holding };
}

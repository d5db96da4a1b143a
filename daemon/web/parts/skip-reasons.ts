// Why the content of a file is not searched, in words.

const WORDS: Readonly<Record<string, string>> = {
  too_large: 'larger than the limit',
  binary: 'binary',
  too_many_trigrams: 'too many different grams',
};

export const SKIP_REASONS: readonly string[] = Object.keys(WORDS);

/** @param reason  as the API has it */
export function skipWords(reason: string): string {
  return WORDS[reason] ?? reason;
}

/** All that is to be said of such a file. */
export function notSearched(reason: string): string {
  return `Not searched: ${skipWords(reason)}.`;
}

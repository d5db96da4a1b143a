// Words for the reasons why the content of a file is not searched.

const WORDS: Readonly<Record<string, string>> = {
  too_large: 'larger than the limit',
  binary: 'binary',
  too_many_trigrams: 'too many distinct trigrams',
};

export const SKIP_REASONS: readonly string[] = Object.keys(WORDS);

/** @param reason  as in the API */
export function skipWords(reason: string): string {
  return WORDS[reason] ?? reason;
}

/** A sentence for such a file. */
export function notSearched(reason: string): string {
  return `Not searched: ${skipWords(reason)}.`;
}

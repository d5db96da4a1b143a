// Names of repos in a line of words: a shard may be of hundreds.

/** Guess: so many tell which shard it is. */
const NAMES_MAX = 3;

/** `a, b, c and 40 more`. */
export function someNames(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ');
}

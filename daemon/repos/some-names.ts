// Shortens a list of repo names for a message: a shard may have hundreds.

/** Bound: length of a line. */
const NAMES_MAX = 3;

/** `a, b, c and 40 more`. */
export function someNames(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ');
}

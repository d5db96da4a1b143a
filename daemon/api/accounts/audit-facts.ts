// The facts of an audit record in one shortened line; the JSON has everything.

const LISTED_MAX = 5;

/** Such as `settings: apiKeyUsage, from: {apiKeyUsage: all}`. */
export function factsText(metadata: Readonly<Record<string, unknown>>): string {
  // Ids add nothing to repository names.
  const { repoIds: _, ...rest } = metadata;
  return membersText(rest['repos'] === undefined ? metadata : rest);
}

function membersText(members: object): string {
  const entries = Object.entries(members);
  const texts = entries.slice(0, LISTED_MAX).map(([name, value]) => `${name}: ${textOf(value)}`);
  return withMore(texts, entries.length);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    const texts = value.slice(0, LISTED_MAX).map(textOf);
    return `[${withMore(texts, value.length)}]`;
  }
  if (typeof value === 'object' && value !== null) return `{${membersText(value)}}`;
  return JSON.stringify(value) ?? '';
}

function withMore(texts: readonly string[], count: number): string {
  const more = count - texts.length;
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}

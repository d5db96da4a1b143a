// Escapes a text for use in a regular expression.

export function quotePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// Escapes a text for use in a regular expression.

/** An expression for the text alone. */
export function quotePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

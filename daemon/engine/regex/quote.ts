// Escapes a text for use in a regular expression.

/** An expression that matches exactly the text. */
export function quotePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

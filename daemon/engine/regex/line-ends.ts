// Line ends in expressions: `$` matches before a newline, never before the carriage return of CRLF (API.md 9.5).

/** What a `$` may stand in that is no end of a line: a quotation, an escape, a class; or the `$` itself. */
const TOKENS = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\$/gu;

/**
 * The pattern with a carriage return before each `$`; the same where it has no `$`, or names `\r` already.
 *
 * @param isOptional  false: only line ends of CRLF are left
 */
export function withCarriageReturns(pattern: string, isOptional = true): string {
  if (!pattern.includes('$') || pattern.includes(String.raw`\r`)) return pattern;
  const lineEnd = isOptional ? String.raw`\r?$` : String.raw`\r$`;
  return pattern.replaceAll(TOKENS, (token) => (token === '$' ? lineEnd : token));
}

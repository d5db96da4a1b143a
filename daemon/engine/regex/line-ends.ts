// Ends of lines in expressions: `$` holds before a newline, never before the carriage return of CRLF (API.md 9.5).

/** What a `$` may stand in that is no end of a line: a quotation, an escape, a class; or the `$` itself. */
const TOKENS = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\$/gu;

/** The pattern with an optional carriage return before each `$`; the same where it has no `$`, or names `\r` already. */
export function withCarriageReturns(pattern: string): string {
  if (!pattern.includes('$') || pattern.includes(String.raw`\r`)) return pattern;
  return pattern.replaceAll(TOKENS, (token) => (token === '$' ? String.raw`\r?$` : token));
}

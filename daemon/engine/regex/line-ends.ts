// Line ends in expressions: `$` matches before a newline, never before the carriage return of CRLF (API.md 9.5).

/** A quotation, an escape or a class, in which `$` is not a line end; or a `$`. */
const TOKENS = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\$/gu;

/**
 * The pattern with a carriage return before each `$`, unless it already contains `\r`.
 * @param isOptional  false: only line ends of CRLF match
 */
export function withCarriageReturns(pattern: string, isOptional = true): string {
  if (!pattern.includes('$') || pattern.includes(String.raw`\r`)) return pattern;
  const lineEnd = isOptional ? String.raw`\r?$` : String.raw`\r$`;
  return pattern.replaceAll(TOKENS, (token) => (token === '$' ? lineEnd : token));
}

// git's standard error as text for people: no credentials, no control characters, one line.

const FAILURE = /^(?:fatal|error): /;

/** Why git failed: its fatal and error lines, without warnings; else its first line. May be empty. */
export function failureWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const failures = lines.filter((line) => FAILURE.test(line));
  const visibleLines = failures.length === 0 ? lines.slice(0, 1) : [...new Set(failures)];
  return plainWords(visibleLines.map((line) => line.replace(FAILURE, '').trim()).join('; '));
}

/** A line of git without the user part of addresses. */
export function plainWords(line: string): string {
  return line
    .replace(FAILURE, '')
    .replaceAll(/:\/\/[^/\s@]*@/g, '://***@')
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}

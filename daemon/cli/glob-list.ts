// Reads lists of globs from the command line: comma-separated, the commas inside of braces and brackets aside.

import { InvalidArgumentError } from 'commander';

/**
 * A parser of an option that may be given several times; what it returns goes to the next call. An empty value
 * gives an empty list.
 *
 * Errors: InvalidArgumentError for a list that is no list of globs.
 */
export function globList(text: string, before: readonly string[] = []): readonly string[] {
  return text === '' ? before : [...before, ...splitGlobs(text).map(checkGlob)];
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Cuts at the commas outside of `{...}` and `[...]`. */
function splitGlobs(text: string): string[] {
  const globs = [''];
  const open: string[] = [];
  for (const character of text) {
    if (character === ',' && open.length === 0) {
      globs.push('');
      continue;
    }
    const closing = CLOSING[character];
    // Inside of brackets only their end has a meaning.
    if (character === open.at(-1)) open.pop();
    else if (closing !== undefined && open.at(-1) !== ']') open.push(closing);
    globs.push(`${globs.pop() ?? ''}${character}`);
  }
  const missing = open.at(-1);
  if (missing !== undefined) throw new InvalidArgumentError(`A ${missing} is missing in ${text}.`);
  return globs;
}

function checkGlob(glob: string): string {
  if (glob === '') throw new InvalidArgumentError('An empty glob stands between the commas.');
  if (/[\s\p{Cc}]/u.test(glob))
    throw new InvalidArgumentError(`A glob over names of branches or tags has no blanks: ${glob}`);
  if (glob.startsWith('refs/'))
    throw new InvalidArgumentError(
      `A glob is matched against short names, "main" or "v1.0", not full ones: ${glob}`,
    );
  return glob;
}

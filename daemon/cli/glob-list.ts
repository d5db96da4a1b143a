// Parses lists of globs from the command line: comma-separated, except for commas inside braces and brackets.

import { InvalidArgumentError } from 'commander';

/**
 * A parser for a repeatable option; its result goes to the next call. An empty value gives an empty list.
 *
 * Errors: InvalidArgumentError for an invalid list.
 */
export function globList(text: string, before: readonly string[] = []): readonly string[] {
  return text === '' ? before : [...before, ...splitGlobs(text).map(checkGlob)];
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Splits at commas outside of `{...}` and `[...]`. */
function splitGlobs(text: string): string[] {
  const globs = [''];
  const open: string[] = [];
  for (const character of text) {
    if (character === ',' && open.length === 0) {
      globs.push('');
      continue;
    }
    const closing = CLOSING[character];
    // Inside brackets only their end has a meaning.
    if (character === open.at(-1)) open.pop();
    else if (closing !== undefined && open.at(-1) !== ']') open.push(closing);
    globs.push(`${globs.pop() ?? ''}${character}`);
  }
  const missing = open.at(-1);
  if (missing !== undefined) throw new InvalidArgumentError(`A ${missing} is missing in ${text}.`);
  return globs;
}

function checkGlob(glob: string): string {
  if (glob === '') throw new InvalidArgumentError('There is an empty glob between the commas.');
  if (/[\s\p{Cc}]/u.test(glob))
    throw new InvalidArgumentError(`A glob for names of branches or tags has no blanks: ${glob}`);
  if (glob.startsWith('refs/'))
    throw new InvalidArgumentError(
      `A glob is matched against short names, "main" or "v1.0", not full ones: ${glob}`,
    );
  return glob;
}

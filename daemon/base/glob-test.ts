// Globs of the configuration (API.md 19.4): `*`, `**`, `?`, `[…]`, `{a,b}`. All other characters stand for themselves; names
// of repositories and folders may contain parentheses.

import picomatch from 'picomatch';

export interface GlobOptions {
  /** Default: it counts. */
  readonly ignoresCase?: boolean;
  /** Whether wildcards match a leading dot. Default: true. */
  readonly matchesDot?: boolean;
}

/** A test whether a text matches one of the globs; without globs nothing matches. */
export function globTest(
  globs: readonly string[],
  { ignoresCase = false, matchesDot = true }: GlobOptions = {},
): (text: string) => boolean {
  const matches = picomatch(globs.map(escaped), {
    dot: matchesDot,
    nocase: ignoresCase,
    nonegate: true,
    noextglob: true,
  });
  return (text) => matches(text);
}

/** Picomatch reads these as parts of an expression, and has no option against it. `[^` begins a class. */
function escaped(glob: string): string {
  return glob.replace(/\\.|[()|+"$]|(?<!\[)\^/gs, (found) =>
    found.length > 1 ? found : `\\${found}`,
  );
}

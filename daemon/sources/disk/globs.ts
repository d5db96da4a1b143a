// Glob lists over paths from the configuration (API.md 19.3, 19.4): `*`, `**`, `?`, `[...]`, `{a,b}`, matched against the
// whole path; `!` in front includes again, and the last glob that matches decides.

import { globTest } from '../../base/glob-test.ts';
import { folderOf } from '../../base/paths.ts';

export type PathTest = (path: string) => boolean;

interface Rule {
  readonly isNegated: boolean;
  readonly matches: PathTest;
}

function compile(glob: string): Rule {
  const isNegated = glob.startsWith('!');
  const pattern = (isNegated ? glob.slice(1) : glob).replace(/^\.?\//, '');
  return { isNegated, matches: globTest([pattern]) };
}

/**
 * A test that is true if the last matching glob has no `!`. False if none matches. Errors: none; an invalid glob matches
 * nothing or itself.
 */
export function compileGlobs(globs: readonly string[]): PathTest {
  const rules = globs.map(compile).reverse();
  if (rules.length === 0) return () => false;
  return (path) => rules.find((rule) => rule.matches(path))?.isNegated === false;
}

/**
 * As `compileGlobs`; a path is also excluded if a folder above it is (`build` excludes `build/a.js`). Cost: answers for
 * folders are cached, so about one match a path.
 */
export function compileIgnoreGlobs(globs: readonly string[] = []): PathTest {
  if (globs.length === 0) return () => false;
  const matches = compileGlobs(globs);
  const folders = new Map<string, boolean>([['', false]]);
  const isExcluded = (path: string): boolean => isFolderExcluded(folderOf(path)) || matches(path);
  const isFolderExcluded = (folder: string): boolean => {
    const isOut = folders.get(folder) ?? isExcluded(folder);
    folders.set(folder, isOut);
    return isOut;
  };
  return isExcluded;
}

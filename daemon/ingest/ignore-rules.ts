// `.gitignore` files of a plain folder, the nested ones too, through the `ignore` package.
//
// Quirk: a manager of that package takes a path as ignored where a folder above it is, so rules of
// a nested file cannot be asked on their own: they must be able to take back what an upper file
// said. Hence the rules of all files on the way down are in one manager, those of a nested file
// with its folder put in front.

import ignore, { type Ignore } from 'ignore';

export class IgnoreRules {
  readonly #manager: Ignore;

  private constructor(manager: Ignore) {
    this.#manager = manager;
  }

  static none(): IgnoreRules {
    return new IgnoreRules(ignore({ ignorecase: false }));
  }

  /**
   * These rules and then those of a `.gitignore` file.
   *
   * @param folder  path of the folder that holds the file, "" for the root
   */
  with(folder: string, text: string): IgnoreRules {
    const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
    const rules = folder === '' ? lines : lines.flatMap((line) => rebase(line, folder));
    return new IgnoreRules(ignore({ ignorecase: false }).add(this.#manager).add(rules));
  }

  /** @param path  relative to the root; of a folder with a `/` at the end */
  isIgnored(path: string): boolean {
    return this.#manager.ignores(path);
  }
}

/** The rule as it would stand in the root folder; nothing for empty lines and comments. */
function rebase(line: string, folder: string): string[] {
  if (line.trim() === '' || line.startsWith('#')) return [];
  const negation = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(negation.length);
  const place = folder.replace(/[\\*?[\]!#\s]/g, '\\$&');
  // Source: gitignore(5): a slash at the start or in the middle ties the pattern to the folder of
  // its file.
  const isTied = pattern.trimEnd().slice(0, -1).includes('/');
  return [`${negation}/${place}/${isTied ? '' : '**/'}${pattern.replace(/^\//, '')}`];
}

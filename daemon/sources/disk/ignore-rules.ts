// Rules of `.trawlignore`, `.ignore` and `.gitignore` files, the nested ones too, through the `ignore` package. All have
// the form of gitignore(5). Those of the file named first count more, at whatever depth, as in ripgrep; `.gitignore`
// counts inside git repositories only, each with rules of its own. This is for folders on disk: of a repository only the
// `.trawlignore` at its root counts (docs/committed-rules.ts).
//
// Quirk: a manager of that package takes a path as ignored where a folder above it is, so rules of a nested file cannot
// be asked on their own: they must be able to take back what an upper file of their kind said. Hence the rules of all
// files of a kind on the way down are in one manager, those of a nested file with its folder put in front.

import ignore, { type Ignore } from 'ignore';

/** Names of the files that hold rules, those that count more first. */
export const RULE_FILES = ['.trawlignore', '.ignore', '.gitignore'] as const;
export type RuleFile = (typeof RULE_FILES)[number];

/** What one kind of file says. */
interface Layer {
  readonly file: RuleFile;
  readonly manager: Ignore;
  /** The root of the walk as seen from the root of the rules, with a slash at its end, or "". */
  readonly prefix: string;
}

function newManager(): Ignore {
  // Why relative paths: bytes of names that are no path must not throw.
  return ignore({ ignorecase: false, allowRelativePaths: true });
}

function newLayer(file: RuleFile, prefix = ''): Layer {
  return { file, manager: newManager(), prefix };
}

export class IgnoreRules {
  readonly #layers: readonly Layer[];

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  /** No rules yet; `.gitignore` does not count. */
  static none(): IgnoreRules {
    return new IgnoreRules([newLayer('.trawlignore'), newLayer('.ignore')]);
  }

  /** The names of files that count here. */
  get files(): readonly RuleFile[] {
    return this.#layers.map(({ file }) => file);
  }

  /**
   * These rules where a git repository begins: `.gitignore` counts, none so far.
   *
   * @param prefix  the root of the walk as seen from the root of the repository, with a slash at its end
   */
  inRepository(prefix = ''): IgnoreRules {
    const others = this.#layers.filter(({ file }) => file !== '.gitignore');
    return new IgnoreRules([...others, newLayer('.gitignore', prefix)]);
  }

  /**
   * These rules and then those of a file.
   *
   * @param folder  path of the folder that holds the file, from the root of its layer's rules; "" for that root
   */
  with(file: RuleFile, folder: string, text: string): IgnoreRules {
    const name = folder === '' ? file : `${folder}/${file}`;
    const rules = text
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)
      .map((line) => ({
        pattern: folder === '' ? line : rebase(line, folder),
        mark: `${name}: ${line.trim()}`,
      }));
    return this.#change((layer) =>
      layer.file === file
        ? { ...layer, manager: newManager().add(layer.manager).add(rules) }
        : layer,
    );
  }

  /** Path of a folder as the rules of a file's kind name it. */
  folderOf(file: RuleFile, folder: string): string {
    const prefix = this.#layers.find((layer) => layer.file === file)?.prefix ?? '';
    return `${prefix}${folder}`.replace(/\/$/, '');
  }

  #change(change: (layer: Layer) => Layer): IgnoreRules {
    return new IgnoreRules(this.#layers.map(change));
  }

  /**
   * The rule that ignores a path, `sub/.ignore: *.log`; undefined: none does.
   *
   * @param path  relative to the root of the walk; of a folder with a `/` at the end
   */
  ruleFor(path: string): string | undefined {
    for (const { manager, prefix } of this.#layers) {
      const { ignored, unignored, rule } = manager.test(prefix + path);
      if (ignored) return rule?.mark ?? '';
      if (unignored) return undefined;
    }
    return undefined;
  }

  /**
   * The rules for what is in a folder that is not ignored: where a file of one kind took back what one that counts less
   * says of the folder, the latter ignores that folder no more; what it says of other paths stays.
   *
   * @param folder  "" for the root of the walk: that was asked for, so rules that ignore it count for nothing in it
   */
  inside(folder: string): IgnoreRules {
    const nameIn = ({ prefix }: Layer): string => (folder === '' ? prefix : `${prefix}${folder}/`);
    const isOverruled = (layer: Layer): boolean => layer.manager.test(nameIn(layer)).ignored;
    if (!this.#layers.some(isOverruled)) return this;
    return this.#change((layer) => {
      if (!isOverruled(layer)) return layer;
      if (folder === '') return newLayer(layer.file, layer.prefix);
      const manager = newManager()
        .add(layer.manager)
        .add(`!/${escaped(nameIn(layer))}`);
      return { ...layer, manager };
    });
  }
}

/** A path as a pattern that means it alone. */
function escaped(path: string): string {
  return path.replace(/[\\*?[\]!#\s]/g, '\\$&');
}

/** The rule as it would stand in the root folder; "" for empty lines and comments. */
function rebase(line: string, folder: string): string {
  if (line.trim() === '' || line.startsWith('#')) return '';
  const negation = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(negation.length);
  const place = escaped(folder);
  // Source: gitignore(5): a slash at the start or in the middle ties the pattern to the folder of
  // its file.
  const isTied = pattern.trimEnd().slice(0, -1).includes('/');
  return `${negation}/${place}/${isTied ? '' : '**/'}${pattern.replace(/^\//, '')}`;
}

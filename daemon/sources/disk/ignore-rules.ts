// Rules of `.trawlignore`, `.ignore` and `.gitignore` files, the nested ones too. All have the form of gitignore(5). Those
// of the file named first count more, at whatever depth, as in ripgrep; `.gitignore` counts inside git repositories only,
// each with rules of its own. This is for folders on disk: of a repository only the `.trawlignore` at its root counts
// (sources/docs/committed-rules.ts).

import { folderOf } from '../../base/paths.ts';
import { type IgnorePattern, parsePattern } from './ignore-pattern.ts';

/** Names of the files that hold rules, those that count more first. */
export const RULE_FILES = ['.trawlignore', '.ignore', '.gitignore'] as const;
export type RuleFile = (typeof RULE_FILES)[number];

/** Bytes of a file of rules; a larger one counts for nothing. Guess: a million paths go through each of its lines. */
export const RULES_SIZE_MAX = 1 << 20;
export const RULES_TOO_LARGE = `unreadable: larger than ${RULES_SIZE_MAX} bytes` as const;
/** Folders that are known to be ignored or not; more are looked at again. */
const FOLDERS_MAX = 100_000;

interface Rule extends IgnorePattern {
  readonly mark: string;
}

/** What one file says. */
interface RuleSet {
  /** Of the file, from the root of its layer's rules, with a slash at its end; "" for that root. */
  readonly folder: string;
  /** The last one first: it decides. */
  readonly rules: readonly Rule[];
}

/** What one kind of file says. */
interface Layer {
  readonly file: RuleFile;
  /** The root of the walk as seen from the root of the rules, with a slash at its end, or "". */
  readonly prefix: string;
  /** That of the deepest folder first. */
  readonly sets: readonly RuleSet[];
}

export class IgnoreRules {
  readonly #layers: readonly Layer[];
  /** The rules that ignore folders, or one above them; "" for none. */
  readonly #folders = new Map<string, string>();

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  /** No rules yet; `.gitignore` does not count. */
  static none(): IgnoreRules {
    return new IgnoreRules([
      { file: '.trawlignore', prefix: '', sets: [] },
      { file: '.ignore', prefix: '', sets: [] },
    ]);
  }

  /** No rules, whatever files say. */
  static never(): IgnoreRules {
    return new IgnoreRules([]);
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
    if (this.#layers.length === 0) return this;
    const others = this.#layers.filter(({ file }) => file !== '.gitignore');
    return new IgnoreRules([...others, { file: '.gitignore', prefix, sets: [] }]);
  }

  /**
   * These rules and then those of a file.
   *
   * @param folder  path of the folder that holds the file, from the root of its layer's rules; "" for that root
   */
  with(file: RuleFile, folder: string, text: string): IgnoreRules {
    const set = { folder: folder === '' ? '' : `${folder}/`, rules: rulesIn(text, file, folder) };
    const layers = this.#layers.map((layer) =>
      layer.file === file ? { ...layer, sets: [set, ...layer.sets] } : layer,
    );
    return new IgnoreRules(layers);
  }

  /** Path of a folder as the rules of a file's kind name it. */
  folderOf(file: RuleFile, folder: string): string {
    const prefix = this.#layers.find((layer) => layer.file === file)?.prefix ?? '';
    return `${prefix}${folder}`.replace(/\/$/, '');
  }

  /**
   * The rule that ignores a path in a folder that is not ignored, `sub/.ignore: *.log`; undefined: none does.
   *
   * @param path  relative to the root of the walk; of a folder with a `/` at the end
   */
  ruleFor(path: string): string | undefined {
    const isFolder = path.endsWith('/');
    const plain = isFolder ? path.slice(0, -1) : path;
    for (const { prefix, sets } of this.#layers) {
      const place = prefix + plain;
      for (const { folder, rules } of sets) {
        if (!place.startsWith(folder)) continue;
        const inner = place.slice(folder.length);
        const rule = rules.find((one) => one.matches(inner, isFolder));
        if (rule !== undefined) return rule.isNegated ? undefined : rule.mark;
      }
    }
    return undefined;
  }

  /** As `ruleFor`, or the rule that ignores a folder above the path. */
  ruleForAny(path: string): string | undefined {
    const rule = this.#ruleForFolder(folderOf(path.replace(/\/$/, '')));
    return rule === '' ? this.ruleFor(path) : rule;
  }

  #ruleForFolder(folder: string): string {
    if (folder === '') return '';
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const above = this.#ruleForFolder(folderOf(folder));
    const rule = above === '' ? (this.ruleFor(`${folder}/`) ?? '') : above;
    if (this.#folders.size >= FOLDERS_MAX) this.#folders.clear();
    this.#folders.set(folder, rule);
    return rule;
  }
}

function rulesIn(text: string, file: RuleFile, folder: string): Rule[] {
  const name = folder === '' ? file : `${folder}/${file}`;
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((line) => {
      const pattern = parsePattern(line);
      return pattern === undefined ? [] : [{ ...pattern, mark: `${name}: ${line.trim()}` }];
    })
    .reverse();
}

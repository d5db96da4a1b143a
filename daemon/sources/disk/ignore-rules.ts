// Rules of `.trawlignore`, `.ignore` and `.gitignore` files, nested ones included, in the format of gitignore(5). The file
// named first takes precedence at any depth, as in ripgrep; `.gitignore` counts only inside git repositories, each with its
// own rules. Of committed files only the `.trawlignore` at the root counts (sources/docs/committed-rules.ts).

import { folderOf } from '../../base/paths.ts';
import { type IgnorePattern, parsePattern } from './ignore-pattern.ts';

/** Names of ignore files by precedence. */
export const RULE_FILES = ['.trawlignore', '.ignore', '.gitignore'] as const;
export type RuleFile = (typeof RULE_FILES)[number];

/** Bytes of an ignore file; a larger one is not used. Bound: time; each path is tested against each of its lines. */
export const RULES_SIZE_MAX = 1 << 20;
export const RULES_TOO_LARGE = `unreadable: larger than ${RULES_SIZE_MAX} bytes` as const;
/** Folders with cached answers; others are tested again. */
const FOLDERS_MAX = 100_000;

interface Rule extends IgnorePattern {
  readonly mark: string;
}

/** The rules of one file. */
interface RuleSet {
  /** Folder of the file, relative to its layer's root, with a trailing slash; "" for that root. */
  readonly folder: string;
  /** The last one first: it decides. */
  readonly rules: readonly Rule[];
}

/** The rules of one kind of file. */
interface Layer {
  readonly file: RuleFile;
  /** The walk's root relative to the rules' root, with a trailing slash, or "". */
  readonly prefix: string;
  /** The deepest folder first. */
  readonly sets: readonly RuleSet[];
}

export class IgnoreRules {
  readonly #layers: readonly Layer[];
  /** The rule that ignores each folder or one above it; "" for none. */
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

  /** No rules, whatever the files say. */
  static never(): IgnoreRules {
    return new IgnoreRules([]);
  }

  /** Names of the ignore files that count here. */
  get files(): readonly RuleFile[] {
    return this.#layers.map(({ file }) => file);
  }

  /**
   * These rules inside a git repository: `.gitignore` counts, with no rules so far.
   * @param prefix  the walk's root relative to the repository's root, with a trailing slash
   */
  inRepository(prefix = ''): IgnoreRules {
    if (this.#layers.length === 0) return this;
    const others = this.#layers.filter(({ file }) => file !== '.gitignore');
    return new IgnoreRules([...others, { file: '.gitignore', prefix, sets: [] }]);
  }

  /**
   * These rules followed by those of a file.
   * @param folder  folder of the file, relative to its layer's root; "" for that root
   */
  with(file: RuleFile, folder: string, text: string): IgnoreRules {
    const set = { folder: folder === '' ? '' : `${folder}/`, rules: rulesIn(text, file, folder) };
    const layers = this.#layers.map((layer) =>
      layer.file === file ? { ...layer, sets: [set, ...layer.sets] } : layer,
    );
    return new IgnoreRules(layers);
  }

  /** Path of a folder relative to the root of the layer of this kind of file. */
  folderOf(file: RuleFile, folder: string): string {
    const prefix = this.#layers.find((layer) => layer.file === file)?.prefix ?? '';
    return `${prefix}${folder}`.replace(/\/$/, '');
  }

  /**
   * The rule that ignores a path in a folder that is not ignored, `sub/.ignore: *.log`; undefined: none.
   * @param path  relative to the walk's root; folders with a trailing `/`
   */
  ruleFor(path: string): string | undefined {
    const isFolder = path.endsWith('/');
    const plain = isFolder ? path.slice(0, -1) : path;
    for (const { prefix, sets } of this.#layers) {
      const location = prefix + plain;
      for (const { folder, rules } of sets) {
        if (!location.startsWith(folder)) continue;
        const inner = location.slice(folder.length);
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
    const cached = this.#folders.get(folder);
    if (cached !== undefined) return cached;
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

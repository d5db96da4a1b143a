// Parses `.gitattributes` files: `linguist-language=Name` and the marks `linguist-vendored` and `linguist-generated`. All files
// of a repo form one list of rules; the last match decides, and deeper folders come later (gitattributes(5)). Other attributes
// and macros are ignored.

import { baseNameOf, folderOf } from '../../base/paths.ts';
import { resolveLanguage } from './language-data.ts';
import { parsePattern } from '../disk/ignore-pattern.ts';
import { DocReader } from '../docs/doc-reader.ts';
import type { SourceFile } from '../docs/file-list.ts';

/** One `.gitattributes` file. A plain value: may be posted to a worker. */
export interface AttributeFile {
  /** Path of its folder, "" for the root. */
  readonly folder: string;
  readonly text: string;
}

/** Attributes of a doc; absent: not set. */
export interface DocAttributes {
  readonly language?: string;
  readonly isVendored?: boolean;
  readonly isGenerated?: boolean;
}

interface Rule {
  readonly matches: (path: string) => boolean;
  /** Undefined value: the attribute is unset again (`!name`). */
  readonly values: ReadonlyMap<string, string | boolean | undefined>;
}

const NAMES = new Set(['linguist-language', 'linguist-vendored', 'linguist-generated']);
export const ATTRIBUTE_FILE_NAME = '.gitattributes';
const NOTHING: DocAttributes = {};

/** Whether a path is that of an attribute file. */
export function isAttributeFile(path: string): boolean {
  return baseNameOf(path) === ATTRIBUTE_FILE_NAME;
}

/** The attribute files that apply to a path, the root's first. */
export function attributePathsAbove(path: string): string[] {
  const paths = [ATTRIBUTE_FILE_NAME];
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    paths.push(`${path.slice(0, slash)}/${ATTRIBUTE_FILE_NAME}`);
  return paths;
}

export class Attributes {
  /** Last rule first. */
  readonly #rules: readonly Rule[];

  constructor(files: readonly AttributeFile[]) {
    const depthOf = (file: AttributeFile): number =>
      file.folder === '' ? 0 : file.folder.split('/').length;
    this.#rules = [...files]
      .sort((a, b) => depthOf(a) - depthOf(b))
      .flatMap((file) => file.text.split(/\r?\n/).flatMap((line) => parseRule(file.folder, line)))
      .reverse();
  }

  /** No path has attributes. */
  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** Cost: one match a rule; nothing for repos without such rules. */
  of(path: string): DocAttributes {
    if (this.isEmpty) return NOTHING;
    const values = new Map<string, string | boolean | undefined>();
    for (const rule of this.#rules) {
      if (!rule.matches(path)) continue;
      for (const [name, value] of rule.values) if (!values.has(name)) values.set(name, value);
    }
    if (values.size === 0) return NOTHING;
    const given = values.get('linguist-language');
    const language = typeof given === 'string' ? resolveLanguage(given) : undefined;
    return {
      ...(language === undefined ? {} : { language }),
      ...markOf('isVendored', values.get('linguist-vendored')),
      ...markOf('isGenerated', values.get('linguist-generated')),
    };
  }
}

function markOf(name: string, value: string | boolean | undefined): Record<string, boolean> {
  return value === undefined ? {} : { [name]: value !== false && value !== 'false' };
}

/** Empty for empty lines, comments, macros, and rules that set none of our attributes. */
function parseRule(folder: string, line: string): Rule[] {
  const parts =
    /^[ \t]*(?:"((?:[^"\\]|\\.)+)"|([^\s"#[][^\s]*|\[(?!attr\])[^\s]*))[ \t]+(.*)$/.exec(line);
  if (parts === null) return [];
  const pattern = parts[1] === undefined ? (parts[2] ?? '') : parts[1].replace(/\\(["\\])/g, '$1');
  const values = new Map<string, string | boolean | undefined>();
  for (const word of (parts[3] ?? '').split(/[ \t]+/)) {
    const [, sign, name = '', value] = /^([-!]?)([^=]*)(?:=(.*))?$/.exec(word) ?? [];
    if (NAMES.has(name))
      values.set(name, sign === '-' ? false : sign === '!' ? undefined : (value ?? true));
  }
  // Source: gitattributes(5): the patterns of ignore files, but negative ones are forbidden.
  const parsed = parsePattern(pattern);
  if (values.size === 0 || parsed === undefined || parsed.isNegated) return [];
  const prefix = folder === '' ? '' : `${folder}/`;
  const matches = (path: string): boolean =>
    path.startsWith(prefix) && parsed.matches(path.slice(prefix.length), false);
  return [{ matches, values }];
}

/** Larger attribute files are ignored. */
export const ATTRIBUTE_FILE_SIZE_MAX = 1 << 20;

/** The attribute files among the docs of a source; unreadable ones are skipped. Errors: GitError. */
export async function readAttributes(
  sourcePath: string,
  files: readonly SourceFile[],
): Promise<AttributeFile[]> {
  const selected = files.filter(
    (file) => isAttributeFile(file.path) && !file.isSymlink && file.size <= ATTRIBUTE_FILE_SIZE_MAX,
  );
  const found: AttributeFile[] = [];
  const reader = new DocReader(sourcePath);
  try {
    await reader.read(selected, (index, bytes) => {
      if (bytes === undefined || bytes.length > ATTRIBUTE_FILE_SIZE_MAX) return;
      found.push({
        folder: folderOf(selected[index]?.path ?? ''),
        text: Buffer.from(bytes).toString('utf8'),
      });
    });
  } finally {
    await reader.close();
  }
  return found;
}

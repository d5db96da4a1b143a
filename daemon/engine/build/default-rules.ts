// Finds docs whose language or marks change with the docs of the default revision: by `.gitattributes` files, and for headers
// by the sources in the same folder. These docs must be built again.

import { compareText, folderOf, type TreePath } from '../../base/paths.ts';
import {
  ATTRIBUTE_FILE_NAME,
  type AttributeFile,
  ATTRIBUTE_FILE_SIZE_MAX,
  Attributes,
  isAttributeFile,
  readAttributes,
} from '../../sources/languages/attributes.ts';
import {
  findHeaderFolders,
  type HeaderFolders,
  isHeader,
  SOURCE_NAME,
} from '../../sources/languages/languages.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { hasBit } from '../shards/bits.ts';
import type { DocLocation, IndexedDocs } from './indexed-docs.ts';
import { docTier } from './rank.ts';

/** The rules at one time. */
interface Rules {
  readonly attributes: Attributes;
  readonly headerFolders: HeaderFolders;
}

/** A doc that no shard holds. */
interface NewDoc extends SourceFile {
  /** The default revision holds it. */
  readonly isOfDefault: boolean;
}

/** Finds the symbolic links among paths of the default revision. Errors: GitError. */
export interface LinkFinder {
  linksBefore(paths: readonly string[]): Promise<ReadonlySet<string>>;
  linksNow(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

/** A relevant path, and whether the default revision had it before and has it now. */
interface Found {
  readonly path: string;
  readonly was: boolean;
  readonly is: boolean;
}

export class DefaultRules {
  readonly before: Rules;
  readonly now: Rules;
  readonly #areAttributesSame: boolean;
  /** Folders whose header language changed. */
  readonly #folders: ReadonlySet<string>;

  private constructor(before: Rules, now: Rules, areAttributesSame: boolean) {
    this.before = before;
    this.now = now;
    this.#areAttributesSame = areAttributesSame;
    this.#folders = differing(before.headerFolders, now.headerFolders);
  }

  /**
   * @param before, now  the docs of the default revision in each known shard; the default revision may have changed
   * @param come         docs that no shard holds, of any revision
   * @param finder       finds symbolic links, whose texts are not rules
   *
   * Errors: GitError. Cost: a test of each path of both.
   *
   * @returns  undefined: an attribute file is not stored, so its former rules are unknown
   */
  static async read(
    repoPath: string,
    docs: IndexedDocs,
    before: readonly Uint8Array[],
    now: readonly Uint8Array[],
    come: readonly NewDoc[],
    finder: LinkFinder,
  ): Promise<DefaultRules | undefined> {
    const more = come.filter(({ isOfDefault }) => isOfDefault);
    // Why tested first: most changes touch no source names and no attributes; then only new headers depend on folders.
    const needsFolders =
      come.some(({ path }) => isHeader(path)) || !(await areNamesSame(docs, before, now, more));
    const mayMatter = needsFolders ? mayBeEither : mayBeAttributes;
    const sources: Found[] = [];
    const texts: (Found & { readonly file: AttributeFile | undefined })[] = [];
    await docs.forEach(united(before, now), mayMatter, (location, { path }) => {
      const { shard, docId } = location;
      const was = hasBit(before[shard]!, docId);
      const found = { path, was, is: hasBit(now[shard]!, docId) };
      if (isAttributeFile(path)) texts.push({ ...found, file: fileOf(docs, location, path) });
      else sources.push(found);
    });
    if (texts.some(({ file }) => file === undefined)) return undefined;
    const links = {
      was: await finder.linksBefore(texts.filter(({ was }) => was).map(({ path }) => path)),
      is: await finder.linksNow(texts.filter(({ is }) => is).map(({ path }) => path)),
    };
    const newFiles = more.filter(({ path }) => isAttributeFile(path));
    const newTexts = newFiles.length === 0 ? [] : await readAttributes(repoPath, newFiles);
    const filesAt = (when: 'was' | 'is'): AttributeFile[] =>
      texts.flatMap(({ file, path, [when]: isPresent }) =>
        isPresent && !links[when].has(path) && file !== undefined ? [file] : [],
      );
    const [filesBefore, filesNow] = [filesAt('was'), [...filesAt('is'), ...newTexts]];
    const areAttributesSame = textOf(filesBefore) === textOf(filesNow);
    const pathsWhere = (isMatch: (found: Found) => boolean): string[] =>
      sources.filter(isMatch).map(({ path }) => path);
    const then: Rules = {
      attributes: new Attributes(filesBefore),
      headerFolders: findHeaderFolders(pathsWhere(({ was }) => was)),
    };
    const newPaths = needsFolders ? more.map(({ path }) => path) : [];
    const paths = [...pathsWhere(({ is }) => is), ...newPaths];
    const since: Rules = {
      attributes: areAttributesSame ? then.attributes : new Attributes(filesNow),
      headerFolders: findHeaderFolders(paths),
    };
    return new DefaultRules(then, since, areAttributesSame);
  }

  /** No doc changed its language or tier. */
  get isSame(): boolean {
    return this.#areAttributesSame && this.#folders.size === 0;
  }

  /** Whether a doc at this path may have changed its language or tier. */
  isStale(path: string): boolean {
    if (isHeader(path) && this.#folders.has(folderOf(path))) return true;
    if (this.#areAttributesSame) return false;
    const [before, now] = [this.before.attributes.of(path), this.now.attributes.of(path)];
    return before.language !== now.language || docTier(path, before) !== docTier(path, now);
  }
}

/** Last characters of the searched paths. */
const LAST = new Set(Buffer.from('sScCpPxX+mM'));
const LAST_OF_ATTRIBUTES = Buffer.from(ATTRIBUTE_FILE_NAME).at(-1);
/** Longer than any searched name. */
const TAIL_SIZE = 20;

/** Whether a path may be an attribute file, or a source that determines the language of headers. */
function mayBeEither(path: Uint8Array): boolean {
  // Why first: of 80,000 paths nearly all end otherwise.
  if (!LAST.has(path[path.length - 1]!)) return false;
  const tail = Buffer.from(path.subarray(-TAIL_SIZE)).toString('latin1');
  return tail.endsWith(ATTRIBUTE_FILE_NAME) || SOURCE_NAME.test(tail);
}

function mayBeAttributes(path: Uint8Array): boolean {
  return path[path.length - 1] === LAST_OF_ATTRIBUTES && mayBeEither(path);
}

/** Whether the default revision has the same attribute files, and header-determining sources at the same paths, as before. */
async function areNamesSame(
  docs: IndexedDocs,
  before: readonly Uint8Array[],
  now: readonly Uint8Array[],
  more: readonly TreePath[],
): Promise<boolean> {
  const differing = before.map((set, shard) => set.map((byte, i) => byte ^ now[shard]![i]!));
  const come = new Set(more.map(({ path }) => path));
  const gone = new Set<string>();
  await docs.forEach(differing, mayBeEither, ({ shard, docId }, { path }) => {
    (hasBit(now[shard]!, docId) ? come : gone).add(path);
  });
  if ([...come, ...gone].some(isAttributeFile)) return false;
  const sources = [...come].filter((path) => SOURCE_NAME.test(path));
  return sources.length === gone.size && sources.every((path) => gone.has(path));
}

/** An attribute file as stored in its shard; undefined: it is not stored, and not empty. */
function fileOf(docs: IndexedDocs, location: DocLocation, path: string): AttributeFile | undefined {
  const content = docs.contentOf(location);
  if (content === undefined && docs.sizeOf(location) > 0) return undefined;
  const isPassedOver = content === undefined || content.length > ATTRIBUTE_FILE_SIZE_MAX;
  const text = isPassedOver ? '' : Buffer.from(content).toString('utf8');
  return { folder: folderOf(path), text };
}

function differing(before: HeaderFolders, now: HeaderFolders): Set<string> {
  const folders = new Set([...before.keys(), ...now.keys()]);
  return new Set([...folders].filter((folder) => before.get(folder) !== now.get(folder)));
}

function united(sets: readonly Uint8Array[], others: readonly Uint8Array[]): Uint8Array[] {
  return sets.map((set, shard) => set.map((byte, i) => byte | others[shard]![i]!));
}

/** Equal for the same files in any order. */
function textOf(files: readonly AttributeFile[]): string {
  return JSON.stringify([...files].sort((a, b) => compareText(a.folder, b.folder)));
}

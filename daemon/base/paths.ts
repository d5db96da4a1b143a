// Paths from git and the file system: bytes, nearly always UTF-8. The daemon uses strings. If the bytes are not UTF-8, the
// string has U+FFFD in their place, and the bytes are kept beside it so that the doc can be opened. Two such paths may give
// the same string; both are docs.

import { isUtf8 } from 'node:buffer';

/** Stands for bytes that are not UTF-8. */
export const REPLACEMENT = '\uFFFD';
/** In the `config` of each repository. Source: git writes it into new ones. */
export const GIT_CONFIG = /^\s*repositoryformatversion\s*=/im;
const SLASH = 0x2f;

export interface TreePath {
  /** Relative, `/` between segments, no leading slash. */
  readonly path: string;
  /** The bytes of the path, present only if they are not UTF-8. */
  readonly rawPath?: Uint8Array;
}

export function decodePath(bytes: Buffer): TreePath {
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? { path: text } : { path: text, rawPath: Uint8Array.from(bytes) };
}

/**
 * Records of a NUL-terminated listing as text, and as bytes if not UTF-8.
 *
 * Cost: a UTF-8 listing is decoded as a whole, 5 times faster than record by record.
 */
export function* splitRecords(
  listing: Buffer,
): Generator<[text: string, bytes: Buffer | undefined]> {
  if (isUtf8(listing)) {
    const text = listing.toString('utf8');
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\0', start);
      if (end < 0) return;
      yield [text.slice(start, end), undefined];
      start = end + 1;
    }
    return;
  }
  for (let start = 0; start < listing.length;) {
    const end = listing.indexOf(0, start);
    if (end < 0) return;
    const bytes = listing.subarray(start, end);
    yield [bytes.toString('utf8'), isUtf8(bytes) ? undefined : bytes];
    start = end + 1;
  }
}

/** As `splitRecords`, for a listing that arrives in chunks. */
export class RecordSplitter {
  /** Start of an incomplete record. */
  #rest: Buffer = Buffer.alloc(0);

  /** Records completed by a chunk. */
  push(chunk: Buffer): Iterable<[text: string, bytes: Buffer | undefined]> {
    const all = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = all.lastIndexOf(0) + 1;
    this.#rest = all.subarray(end);
    return splitRecords(all.subarray(0, end));
  }
}

/** A unique key per path, whatever its bytes. */
export function nameKey({ path, rawPath }: TreePath): string {
  return rawPath === undefined ? path : `\0${Buffer.from(rawPath).toString('latin1')}`;
}

/** Path of `name` in `folder`; "" is the root. */
export function joinPath(folder: TreePath, name: TreePath): TreePath {
  if (folder.path === '') return name;
  const path = `${folder.path}/${name.path}`;
  if (folder.rawPath === undefined && name.rawPath === undefined) return { path };
  const parts = [
    folder.rawPath ?? Buffer.from(folder.path),
    Buffer.from('/'),
    name.rawPath ?? Buffer.from(name.path),
  ];
  return { path, rawPath: Uint8Array.from(Buffer.concat(parts)) };
}

/** The bytes of the first segments of a path. */
export function headOf(rawPath: Uint8Array, segmentCount: number): Uint8Array {
  let end = 0;
  for (let i = 0; i < segmentCount; i++) {
    end = rawPath.indexOf(SLASH, i === 0 ? 0 : end + 1);
    if (end < 0) return rawPath;
  }
  return rawPath.subarray(0, end);
}

/** Folder of a path, "" for the root. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** As folderOf, with the bytes if they are not UTF-8. */
export function parentOf({ path, rawPath }: TreePath): TreePath {
  const folder = { path: folderOf(path) };
  const bytes = rawPath?.subarray(0, Math.max(0, rawPath.lastIndexOf(SLASH)));
  return bytes === undefined || isUtf8(bytes) ? folder : { ...folder, rawPath: bytes };
}

export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Compares two texts by their UTF-8 bytes, which is code point order; negative: `a` is first.
 *
 * Cost: that of a plain comparison, unless there are surrogates.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!hasSurrogates(a) && !hasSurrogates(b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Whether a text has surrogates: characters above U+FFFF, or halves of them. */
export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text);
}

const SURROGATE = /[\uD800-\uDFFF]/;

function isInnerSegment(segment: string): boolean {
  return !/^(?:\.{0,2}|\.git)$/i.test(segment);
}

/**
 * Whether a path stays below the root on every system. A git tree may contain any name: `..`, `../../etc/passwd`, `.git`;
 * writing files by such names would escape the folder.
 */
export function isInnerPath(path: string): boolean {
  if (!/(?:^|[/\\])(?:\.{0,2}|\.git)(?:[/\\]|$)/i.test(path)) return true;
  // A backslash is a separator on other systems; here it is a character, and only `..` is refused.
  return path.split('/').every(isInnerSegment) && !path.split(/[/\\]/).includes('..');
}

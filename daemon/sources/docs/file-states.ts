// The states of files on disk when they were listed, as columns beside the list of files: two texts a file would take some
// 300 bytes. Later states of single files lie on top.

import { constants } from 'node:fs';
import { decodePath, nameKey } from '../../base/paths.ts';
import { FileList, type PackedFiles } from './file-list.ts';

/** Prefix for a file that may have changed unnoticed; the state after it is not conclusive. */
export const UNSETTLED = '~';

/** Whether a file of this state is a symbolic link. */
export function isLinkState(state: string): boolean {
  return (Number(state.slice(state.lastIndexOf(' ') + 1)) & constants.S_IFMT) === constants.S_IFLNK;
}

/** Plain values: may be posted. */
export interface PackedStates {
  /** Sorted by path. */
  readonly files: PackedFiles;
  /** All states, in ASCII. */
  readonly texts: Uint8Array;
  /** End of each state. */
  readonly textEnds: Uint32Array;
  /** Equal: equal files with equal states, whether settled or not. */
  readonly sum: string;
}

/** Equal states of a file mean equal files, unless they begin with UNSETTLED. */
export class FileStates {
  readonly #files: FileList;
  readonly #packed: PackedStates;
  /** By `nameKey`; undefined: the file is gone. */
  readonly #later = new Map<string, string | undefined>();

  constructor(packed: PackedStates) {
    this.#files = new FileList(packed.files);
    this.#packed = packed;
  }

  /** @param sum  as PackedStates has it */
  static of(files: FileList, states: readonly string[], sum: string): FileStates {
    let end = 0;
    return new FileStates({
      files: files.packed(),
      texts: new Uint8Array(Buffer.from(states.join(''), 'latin1')),
      textEnds: Uint32Array.from(states, (state) => (end += state.length)),
      sum,
    });
  }

  /** The listed states, without later ones; memory is shared. */
  get packed(): PackedStates {
    return this.#packed;
  }

  /** Files, at most. */
  get countMax(): number {
    return this.#files.length + this.#later.size;
  }

  /** State of a file by its index in the listing. Safety: nothing was set since. */
  at(index: number): string {
    const { texts, textEnds } = this.#packed;
    const start = index === 0 ? 0 : textEnds[index - 1]!;
    return Buffer.from(texts.buffer, texts.byteOffset + start, textEnds[index]! - start).toString(
      'latin1',
    );
  }

  /** State of a file by its `nameKey`. Cost: a binary search. */
  get(key: string): string | undefined {
    if (this.#later.has(key)) return this.#later.get(key);
    const index = this.#indexOf(key);
    return index === undefined ? undefined : this.at(index);
  }

  #indexOf(key: string): number | undefined {
    const path = key.startsWith('\0') ? decodePath(Buffer.from(key.slice(1), 'latin1')).path : key;
    let low = 0;
    let high = this.#files.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#files.pathOf(middle) < path) low = middle + 1;
      else high = middle;
    }
    // Names that are not UTF-8 may have equal texts.
    for (; low < this.#files.length && this.#files.pathOf(low) === path; low++)
      if (nameKey(this.#files.at(low)) === key) return low;
    return undefined;
  }

  /** Whether both have the same files with the same states, settled or not. */
  isSameAs(other: FileStates): boolean {
    const haveLater = this.#later.size > 0 || other.#later.size > 0;
    return !haveLater && this.#packed.sum === other.#packed.sum;
  }

  /** Replaces the states of these paths by those of their listing. */
  set(paths: readonly string[], listed: FileStates): void {
    for (const path of paths) this.#later.set(path, undefined);
    for (let index = 0; index < listed.#files.length; index++)
      this.#later.set(nameKey(listed.#files.at(index)), listed.at(index));
  }
}

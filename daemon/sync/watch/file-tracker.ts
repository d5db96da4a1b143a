// What is known about files on disk between two jobs of a repo: their states when they were read, and the changes that
// a watch reported since. All of it may be lost: a job then lists and reads the files again.

import type { ExcludedPath } from '../../sources/disk/excluded-path.ts';
import { RULE_FILES } from '../../sources/disk/ignore-rules.ts';
import type { FileStates } from '../../sources/docs/file-states.ts';
import type { ReadFailure } from '../../sources/docs/source.ts';
import { baseNameOf } from '../../base/paths.ts';

interface TrackedFiles {
  fingerprint: string;
  readonly states: FileStates;
  /** Paths that are not docs. */
  readonly excluded: Set<string>;
}

/** Files of all repos together. Bound: memory, 100 MB. */
const FILES_MAX = 1_000_000;
/** Changed paths noted for each repo; with more all files are checked. Bound: memory. */
const CHANGED_MAX = 500;
/** Names of files and folders that decide which files are docs. */
export const RULE_NAMES: ReadonlySet<string> = new Set([...RULE_FILES, '.git']);

export class FileTracker {
  readonly #filesMax: number;
  readonly #states = new Map<number, TrackedFiles>();
  /** Repos that a job has read, also those whose states were dropped. */
  readonly #scanned = new Set<number>();
  /** Resolvers of `watch`, for watched repos that no job has read. */
  readonly #waiting = new Map<number, () => void>();
  /** For each watched repo the paths that may have changed since its last job began; undefined: any. */
  readonly #changed = new Map<number, Set<string> | undefined>();

  /** @param filesMax  of all repos; beyond it the states of the repos with the oldest jobs are dropped */
  constructor(filesMax = FILES_MAX) {
    this.#filesMax = filesMax;
  }

  remember(
    repoId: number,
    fingerprint: string,
    states: FileStates,
    excluded: readonly (ExcludedPath | ReadFailure)[],
  ): void {
    this.#states.delete(repoId);
    const paths = excluded.map(({ path }) => path);
    this.#states.set(repoId, { fingerprint, states, excluded: new Set(paths) });
    let count = 0;
    for (const { states: files } of this.#states.values()) count += files.countMax;
    for (const [oldest, { states: files }] of this.#states) {
      if (count <= this.#filesMax) break;
      this.#states.delete(oldest);
      count -= files.countMax;
    }
    this.#scanned.add(repoId);
    this.#endWait(repoId);
  }

  rememberSome(
    repoId: number,
    fingerprint: string,
    paths: readonly string[],
    states: FileStates,
    excluded: readonly (ExcludedPath | ReadFailure)[],
  ): void {
    const last = this.#states.get(repoId);
    if (last === undefined) return;
    last.fingerprint = fingerprint;
    last.states.set(paths, states);
    for (const { path, reason } of excluded) if (reason !== 'vanished') last.excluded.add(path);
  }

  /** The states of the files indexed under this fingerprint; undefined: unknown. */
  statesOf(repoId: number, fingerprint: string | undefined): FileStates | undefined {
    const last = this.#states.get(repoId);
    return last?.fingerprint === fingerprint ? last?.states : undefined;
  }

  /** Whether checking only these paths finds all changes: none contains rules, or lies in something that is not a doc. */
  areEnough(repoId: number, paths: readonly string[]): boolean {
    const excluded = [...(this.#states.get(repoId)?.excluded ?? [])];
    return !paths.some(
      (path) =>
        RULE_NAMES.has(baseNameOf(path)) ||
        excluded.some((one) => one === path || one.startsWith(`${path}/`)),
    );
  }

  /** Whether a file was listed, or is known not to be a doc; undefined: unknown. */
  contains(repoId: number, path: string): boolean | undefined {
    const last = this.#states.get(repoId);
    return last && (last.states.get(path) !== undefined || last.excluded.has(path));
  }

  /** Changes are reported from now on. Resolves when a job has read the files (it may have before), or on `unwatch`. */
  watch(repoId: number): Promise<void> {
    this.#changed.set(repoId, undefined);
    if (this.#scanned.has(repoId)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(repoId, resolve));
  }

  #endWait(repoId: number): void {
    this.#waiting.get(repoId)?.();
    this.#waiting.delete(repoId);
  }

  /** Whether the states of a repo's files are known: a job has read them, and they were not dropped since. */
  isKept(repoId: number): boolean {
    return this.#states.has(repoId);
  }

  /** Accepts the files as indexed if their states are unchanged; else returns false. */
  confirm(repoId: number, states: FileStates): boolean {
    if (this.#states.get(repoId)?.states.isSameAs(states) !== true) return false;
    this.#changed.set(repoId, new Set());
    return true;
  }

  unwatch(repoId: number): void {
    this.#changed.delete(repoId);
    this.#endWait(repoId);
  }

  /** A file or folder may have changed; undefined: any may have. */
  noteChange(repoId: number, path: string | undefined): void {
    const changed = this.#changed.get(repoId);
    if (path === undefined || changed === undefined || changed.size >= CHANGED_MAX)
      this.lose(repoId);
    else changed.add(path);
  }

  /** The paths that may have changed since the last call, at least one; undefined: any. */
  take(repoId: number): readonly string[] | undefined {
    if (!this.#changed.has(repoId)) return undefined;
    const changed = this.#changed.get(repoId);
    this.#changed.set(repoId, new Set());
    // Why: a job without a notification was requested by somebody, who may have seen a change that was not reported.
    return changed === undefined || changed.size === 0 ? undefined : [...changed];
  }

  /** The result of `take` was not used. */
  lose(repoId: number): void {
    if (this.#changed.has(repoId)) this.#changed.set(repoId, undefined);
  }
}

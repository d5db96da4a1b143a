// What is known about files on disk between two jobs of a repo: their states when they were read, and the changes that
// a watch reported since. All of it may be lost: a job then lists and reads the files again.

import type { LeftOut } from '../../sources/disk/left-out.ts';
import { RULE_FILES } from '../../sources/disk/ignore-rules.ts';
import { type FileStates, type ReadFailure, UNSETTLED } from '../../sources/docs/source.ts';
import { baseNameOf } from '../../base/paths.ts';

interface Seen {
  /** The catalog's fingerprint for these files. */
  fingerprint: string;
  readonly states: Map<string, string>;
  /** Paths that are not docs. */
  readonly leftOut: Set<string>;
}

/** Guess: files of all repos together; 100 MB. */
const FILES_MAX = 1_000_000;
/** Guess: more changed paths than this are not checked one by one. */
const TOLD_MAX = 500;
/** Names of files and folders that decide which files are docs. */
export const HOLDS_RULES: ReadonlySet<string> = new Set([...RULE_FILES, '.git']);

export interface SeenFilesOptions {
  /** Limit for files of all repos; beyond it the states of the repos with the oldest jobs are dropped. */
  readonly filesMax?: number;
}

export class SeenFiles {
  readonly #filesMax: number;
  readonly #seen = new Map<number, Seen>();
  /** Repos that a job has read, also those whose states were dropped. */
  readonly #lookedAt = new Set<number>();
  /** Resolvers of `watch`, for watched repos that no job has read. */
  readonly #waiting = new Map<number, () => void>();
  /**
   * For each watched repo the paths that may have changed since its last job began; undefined: any.
   */
  readonly #told = new Map<number, Set<string> | undefined>();

  constructor({ filesMax = FILES_MAX }: SeenFilesOptions = {}) {
    this.#filesMax = filesMax;
  }

  /** Stores the states of the indexed files, within the limit. */
  remember(
    repoId: number,
    fingerprint: string,
    states: FileStates,
    leftOut: readonly (LeftOut | ReadFailure)[],
  ): void {
    this.#seen.delete(repoId);
    const paths = leftOut.map(({ path }) => path);
    this.#seen.set(repoId, { fingerprint, states: new Map(states), leftOut: new Set(paths) });
    let count = 0;
    for (const { states: files } of this.#seen.values()) count += files.size;
    for (const [oldest, { states: files }] of this.#seen) {
      if (count <= this.#filesMax) break;
      this.#seen.delete(oldest);
      count -= files.size;
    }
    this.#lookedAt.add(repoId);
    this.#endWait(repoId);
  }

  /** As `remember`, only for these paths; the others are unchanged. */
  rememberSome(
    repoId: number,
    fingerprint: string,
    paths: readonly string[],
    states: FileStates,
    leftOut: readonly (LeftOut | ReadFailure)[],
  ): void {
    const seen = this.#seen.get(repoId);
    if (seen === undefined) return;
    seen.fingerprint = fingerprint;
    for (const path of paths) seen.states.delete(path);
    for (const [path, state] of states) seen.states.set(path, state);
    for (const { path, reason } of leftOut) if (reason !== 'vanished') seen.leftOut.add(path);
  }

  /** The states of the files indexed under this fingerprint; undefined: unknown. */
  statesOf(repoId: number, fingerprint: string | undefined): FileStates | undefined {
    const seen = this.#seen.get(repoId);
    return seen?.fingerprint === fingerprint ? seen?.states : undefined;
  }

  /**
   * Whether checking only these paths finds all changes: none contains rules, or lies in something that is not a doc.
   */
  areEnough(repoId: number, paths: readonly string[]): boolean {
    const leftOut = [...(this.#seen.get(repoId)?.leftOut ?? [])];
    return !paths.some(
      (path) =>
        HOLDS_RULES.has(baseNameOf(path)) ||
        leftOut.some((one) => one === path || one.startsWith(`${path}/`)),
    );
  }

  /** Whether a file was listed, or is known not to be a doc; undefined: unknown. */
  holds(repoId: number, path: string): boolean | undefined {
    const seen = this.#seen.get(repoId);
    return seen && (seen.states.has(path) || seen.leftOut.has(path));
  }

  /**
   * A watch reports changes from now on; earlier changes are unknown. Resolves when a job has read the files (it may
   * have before), or on `unwatch`. Errors: none.
   */
  watch(repoId: number): Promise<void> {
    this.#told.set(repoId, undefined);
    if (this.#lookedAt.has(repoId)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(repoId, resolve));
  }

  #endWait(repoId: number): void {
    this.#waiting.get(repoId)?.();
    this.#waiting.delete(repoId);
  }

  /** Whether the states of a repo's files are known: a job has read them, and they were not dropped since. */
  isKept(repoId: number): boolean {
    return this.#seen.has(repoId);
  }

  /** Accepts the files as indexed if their states are unchanged; else returns false. */
  confirm(repoId: number, states: FileStates): boolean {
    const known = this.#seen.get(repoId)?.states;
    if (known?.size !== states.size) return false;
    for (const [path, state] of states)
      if (bare(known.get(path) ?? '') !== bare(state)) return false;
    this.#told.set(repoId, new Set());
    return true;
  }

  unwatch(repoId: number): void {
    this.#told.delete(repoId);
    this.#endWait(repoId);
  }

  /** A file or folder may have changed; undefined: any may have. */
  tell(repoId: number, path: string | undefined): void {
    const told = this.#told.get(repoId);
    if (path === undefined || told === undefined || told.size >= TOLD_MAX) this.lose(repoId);
    else told.add(path);
  }

  /** The paths that may have changed since the last call, at least one; undefined: any. */
  take(repoId: number): readonly string[] | undefined {
    if (!this.#told.has(repoId)) return undefined;
    const told = this.#told.get(repoId);
    this.#told.set(repoId, new Set());
    // Why: a job without a notification was requested by somebody, who may have seen a change that was not reported.
    return told === undefined || told.size === 0 ? undefined : [...told];
  }

  /** The result of `take` was not used. */
  lose(repoId: number): void {
    if (this.#told.has(repoId)) this.#told.set(repoId, undefined);
  }
}

function bare(state: string): string {
  return state.startsWith(UNSETTLED) ? state.slice(UNSETTLED.length) : state;
}

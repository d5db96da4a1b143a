// What is known of files on disk between two jobs of a repo: what they looked like when they were listed and read, and
// which of them a watch has seen changing since. All of it may be lost: a job then lists and reads the files again.

import type { LeftOut } from '../../sources/disk/left-out.ts';
import { RULE_FILES } from '../../sources/disk/ignore-rules.ts';
import { type FileStates, type ReadFailure, UNSETTLED } from '../../sources/docs/source.ts';
import { baseNameOf } from '../../base/paths.ts';

interface Seen {
  /** That of the catalog, which these files are indexed under. */
  fingerprint: string;
  readonly states: Map<string, string>;
  /** Paths that are no docs. */
  readonly leftOut: Set<string>;
}

/** Guess: files of all repos together; 100 MB. */
const FILES_MAX = 1_000_000;
/** Guess: more paths than this are not looked at one by one. */
const TOLD_MAX = 500;
/** Names of files and folders that decide what other files are docs. */
export const HOLDS_RULES: ReadonlySet<string> = new Set([...RULE_FILES, '.git']);

export interface SeenFilesOptions {
  /** Files of all repos together whose looks are kept; beyond, those of the repos whose jobs ended first are lost. */
  readonly filesMax?: number;
}

export class SeenFiles {
  readonly #filesMax: number;
  readonly #seen = new Map<number, Seen>();
  /** Repos that a job has looked at, also those of which all is lost again. */
  readonly #lookedAt = new Set<number>();
  /** Of each repo that is watched and was not looked at: resolves what `watch` gave. */
  readonly #waiting = new Map<number, () => void>();
  /** Of each repo that is watched: the paths that may have changed since its last job began; undefined: any may. */
  readonly #told = new Map<number, Set<string> | undefined>();

  constructor({ filesMax = FILES_MAX }: SeenFilesOptions = {}) {
    this.#filesMax = filesMax;
  }

  /** Keeps what the files looked like that are indexed now, as far as there is room. */
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

  /** As `remember`, of these paths alone; the others are as they were. */
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

  /** What the files looked like that are indexed under this fingerprint; undefined: it is not known. */
  statesOf(repoId: number, fingerprint: string | undefined): FileStates | undefined {
    const seen = this.#seen.get(repoId);
    return seen?.fingerprint === fingerprint ? seen?.states : undefined;
  }

  /** Whether looking at these paths alone tells all that changed: none holds rules, or is among what is no doc. */
  areEnough(repoId: number, paths: readonly string[]): boolean {
    const leftOut = [...(this.#seen.get(repoId)?.leftOut ?? [])];
    return !paths.some(
      (path) =>
        HOLDS_RULES.has(baseNameOf(path)) ||
        leftOut.some((one) => one === path || one.startsWith(`${path}/`)),
    );
  }

  /** Whether a file was listed, or is known to be no doc; undefined: that is lost. */
  holds(repoId: number, path: string): boolean | undefined {
    const seen = this.#seen.get(repoId);
    return seen && (seen.states.has(path) || seen.leftOut.has(path));
  }

  /**
   * From now on a watch tells what changes; what changed before is not known. Resolves when a job has looked at the files,
   * which may have been before, or with `unwatch`. Errors: none.
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

  /** Whether it is known what the files of a repo look like: a job has looked at them, and that was not lost since. */
  isKept(repoId: number): boolean {
    return this.#seen.has(repoId);
  }

  /** Takes the files to be as they are indexed, if they look as they did; else says false. */
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

  /** The paths that may have changed since the last call, one at least; undefined: any may have. */
  take(repoId: number): readonly string[] | undefined {
    if (!this.#told.has(repoId)) return undefined;
    const told = this.#told.get(repoId);
    this.#told.set(repoId, new Set());
    // Why: a job that no notice brought about was asked for by somebody, who may have seen a change that was not told.
    return told === undefined || told.size === 0 ? undefined : [...told];
  }

  /** What `take` gave was not used. */
  lose(repoId: number): void {
    if (this.#told.has(repoId)) this.#told.set(repoId, undefined);
  }
}

function bare(state: string): string {
  return state.startsWith(UNSETTLED) ? state.slice(UNSETTLED.length) : state;
}

// Looks every second or so whether HEAD, branches or tags of served repositories have moved, and has those indexed. Files
// on disk are not looked at: what was saved without being committed is found by the next job.

import { Breather } from '../base/next-turn.ts';
import type { RepoRecord } from '../repos/records.ts';
import { refStateOf } from '../sources/git/ref-state.ts';

export interface RefWatchOptions {
  /** The repos that are served now. */
  readonly records: () => readonly RepoRecord[];
  /** Has a repo indexed; resolves when that is done, with whether it could be. Errors: none. */
  readonly index: (record: RepoRecord) => Promise<boolean>;
}

/** Guess: between two rounds, and at least so many times what a round takes. */
const PAUSE_MS = 1_000;
const PAUSE_FACTOR = 20;

/** Guess: a repo whose job failed is indexed again after a pause, which doubles each time. */
const RETRY_MS_MIN = 2_000;
const RETRY_MS_MAX = 3_600_000;
/** Guess: files on disk are built anew as a whole, so a repo of them rests for so many times what its job took. */
const REST_FACTOR = 10;

export class RefWatch {
  readonly #options: RefWatchOptions;
  /** What each repo looked like when a job last began, by repoId. */
  #states = new Map<number, string>();
  /** Until when a repo rests (performance.now). */
  readonly #restMs = new Map<number, number>();
  /** The pause after the last failure of a repo whose last job failed, ms. */
  readonly #retryMs = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RefWatchOptions) {
    this.#options = options;
  }

  /** Takes repos that it has not seen for known, and looks for changes from now on. */
  start(): void {
    this.#round = this.#look();
  }

  async #look(): Promise<void> {
    const startMs = performance.now();
    const moved = await this.#findMoved();
    const tookMs = performance.now() - startMs;
    for (const record of moved) if (!this.#isClosed) await this.#index(record);
    if (this.#isClosed) return;
    const pauseMs = Math.max(PAUSE_MS, PAUSE_FACTOR * tookMs);
    this.#timer = setTimeout(() => this.start(), pauseMs).unref();
  }

  async #index(record: RepoRecord): Promise<void> {
    const { repoId, source } = record;
    const startMs = performance.now();
    const isDone = await this.#options.index(record);
    const endMs = performance.now();
    if (isDone) {
      this.#retryMs.delete(repoId);
      if (source.kind === 'worktree')
        this.#restMs.set(repoId, endMs + REST_FACTOR * (endMs - startMs));
      return;
    }
    const pauseMs = Math.min(2 * (this.#retryMs.get(repoId) ?? RETRY_MS_MIN / 2), RETRY_MS_MAX);
    this.#retryMs.set(repoId, pauseMs);
    this.#restMs.set(repoId, endMs + pauseMs);
  }

  async #findMoved(): Promise<RepoRecord[]> {
    const moved: RepoRecord[] = [];
    const states = new Map<number, string>();
    const breather = new Breather();
    for (const record of this.#options.records()) {
      await breather.pause();
      const { repoId, source } = record;
      if (source.kind === 'folder') continue;
      const state = refStateOf(source.path);
      const known = this.#states.get(repoId);
      const isMoved = this.#retryMs.has(repoId) || (known !== undefined && known !== state);
      const isResting = isMoved && performance.now() < (this.#restMs.get(repoId) ?? 0);
      if (isMoved && !isResting) moved.push(record);
      states.set(repoId, isResting && known !== undefined ? known : state);
    }
    this.#states = states;
    return moved;
  }

  /** Looks no more; resolves when no job of it is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }
}

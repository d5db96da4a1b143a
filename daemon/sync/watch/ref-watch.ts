// Looks every second or so whether HEAD, branches or tags of served repositories have moved, and has those indexed. Of many
// repositories, those that have not moved for long are looked at in every fourth round. Files on disk are watched by
// file-watch.ts.

import { Breather } from '../../base/next-turn.ts';
import type { RepoRecord } from '../../repos/records.ts';

export interface RefWatchOptions {
  /** The repos that are served now. */
  readonly records: () => readonly RepoRecord[];
  /** What refs of repositories look like, by their paths; undefined: that is not known now. */
  readonly statesOf: (paths: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /** The state in which a repo was indexed, as far as it is known: whether it is this one. */
  readonly wasIndexedIn: (record: RepoRecord, state: string) => boolean | undefined;
  /** Has a repo indexed whose refs have moved; resolves when that is done. Errors: none. */
  readonly index: (record: RepoRecord) => Promise<unknown>;
}

/**
 * Guess: the pause after a round is so many times what the round took, within these bounds. Why at most: a round may have taken
 * long as a disk did not answer.
 */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 30_000;
const PAUSE_FACTOR = 15;

/**
 * Guess: of more repos than these, those that have not moved for so long are looked at once in so many rounds. 5,000 of them
 * take 0.3 s of a processor.
 */
const CALM_COUNT = 500;
const CALM_MS = 600_000;
const CALM_ROUNDS = 4;

export class RefWatch {
  readonly #options: RefWatchOptions;
  /** What each repo looked like when a job was last asked for, by repoId. */
  #states = new Map<number, string>();
  /** Repos that had never been indexed when they were seen: nobody knows in which state their first job finds them. */
  readonly #unindexed = new Set<number>();
  /** When a repo was seen to have moved (performance.now). */
  readonly #movedMs = new Map<number, number>();
  #roundCount = 0;
  /** Repos whose job was asked for and is not over: one that moves meanwhile is asked for afterwards. */
  readonly #asked = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RefWatchOptions) {
    this.#options = options;
  }

  /** Looks from now on. Of what is seen for the first time it counts what the catalog says it was indexed in. */
  start(): void {
    this.#round = this.#look();
  }

  async #look(): Promise<void> {
    const startMs = performance.now();
    const moved = await this.#findMoved();
    const tookMs = performance.now() - startMs;
    if (this.#isClosed) return;
    // Why not waited for: a long job of one repo holds up no other.
    for (const record of moved) {
      const { repoId } = record;
      this.#asked.add(repoId);
      void this.#options.index(record).then(() => this.#asked.delete(repoId));
    }
    this.#timer = setTimeout(() => this.start(), pauseAfter(tookMs)).unref();
  }

  async #findMoved(): Promise<RepoRecord[]> {
    const moved: RepoRecord[] = [];
    const states = new Map<number, string>();
    const records = this.#options.records();
    const current = await this.#statesOf(records);
    const breather = new Breather();
    for (const record of records) {
      await breather.pause();
      const { repoId } = record;
      const known = this.#states.get(repoId);
      const seen = current.get(record);
      const hasMoved = seen !== undefined && this.#hasMoved(record, known, seen);
      if (hasMoved) this.#movedMs.set(repoId, performance.now());
      const isAsked = hasMoved && this.#asked.has(repoId);
      if (hasMoved && !isAsked) moved.push(record);
      const state = isAsked ? known : (seen ?? known);
      if (state !== undefined) states.set(repoId, state);
    }
    this.#states = states;
    this.#forgetOthers(new Set(records.map(({ repoId }) => repoId)));
    return moved;
  }

  /** Forgets repos that are not served any more. */
  #forgetOthers(served: ReadonlySet<number>): void {
    for (const known of [this.#unindexed, this.#movedMs])
      for (const repoId of known.keys()) if (!served.has(repoId)) known.delete(repoId);
  }

  /** Whether a repo has moved since it was seen, or was indexed, where it is seen for the first time since then. */
  #hasMoved(record: RepoRecord, known: string | undefined, state: string): boolean {
    const { repoId, indexedAt } = record;
    const isFirst = indexedAt !== undefined && this.#unindexed.delete(repoId);
    if (indexedAt === undefined) this.#unindexed.add(repoId);
    const isSame =
      known === undefined || isFirst ? this.#options.wasIndexedIn(record, state) : undefined;
    return isSame === undefined ? known !== undefined && known !== state : !isSame;
  }

  /** Those that are not looked at in this round are absent. */
  async #statesOf(records: readonly RepoRecord[]): Promise<Map<RepoRecord, string | undefined>> {
    this.#roundCount++;
    const isFew = records.length <= CALM_COUNT;
    const repositories = records.filter(
      ({ repoId, source }) => source.kind !== 'folder' && (isFew || this.#isTurnOf(repoId)),
    );
    const states = await this.#options.statesOf(repositories.map(({ source }) => source.path));
    return new Map(repositories.map((record, index) => [record, states[index]]));
  }

  #isTurnOf(repoId: number): boolean {
    if ((repoId + this.#roundCount) % CALM_ROUNDS === 0 || !this.#states.has(repoId)) return true;
    const movedMs = this.#movedMs.get(repoId);
    if (movedMs === undefined) return false;
    if (performance.now() - movedMs < CALM_MS) return true;
    this.#movedMs.delete(repoId);
    return false;
  }

  /** Looks no more; resolves when no look is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }
}

/** Before the next round, ms. */
export function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(PAUSE_MS_MIN, PAUSE_FACTOR * tookMs), PAUSE_MS_MAX);
}

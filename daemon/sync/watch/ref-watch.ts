// Checks about every second whether HEAD, branches or tags of served repositories have moved, and indexes those repos.
// watched-files.ts watches files on disk.

import { LoopYielder } from '../../base/next-time-slice.ts';
import type { RepoRecord } from '../../repos/records.ts';

export interface RefWatchOptions {
  readonly records: () => readonly RepoRecord[];
  /** The states of the refs of repositories, by path; undefined: unknown now. */
  readonly statesOf: (paths: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /** Whether a repo was indexed in this state, as far as known. */
  readonly wasIndexedIn: (record: RepoRecord, state: string) => boolean | undefined;
  readonly index: (record: RepoRecord) => void;
}

/** Bound: rounds take 6% of the time. At most 30 s, as a round may be slow because a disk did not answer. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 30_000;
const PAUSE_FACTOR = 15;

/** Of more repos, those unmoved for this long are checked in each 4th round. Bound: 5,000 take 0.3 s. */
const CALM_COUNT = 500;
const CALM_MS = 600_000;
const CALM_ROUNDS = 4;

export class RefWatch {
  readonly #options: RefWatchOptions;
  /** The state of each repo at its last job request, by repoId. */
  #states = new Map<number, string>();
  /** Repos that had no index when they were first seen: the state of their first job is unknown. */
  readonly #unindexed = new Set<number>();
  /** When a repo last moved (performance.now). */
  readonly #movedMs = new Map<number, number>();
  #roundCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RefWatchOptions) {
    this.#options = options;
  }

  /** Starts to watch. The first state seen is compared with the catalog. */
  start(): void {
    this.#round = this.#check();
  }

  async #check(): Promise<void> {
    const startMs = performance.now();
    const moved = await this.#findMoved();
    const tookMs = performance.now() - startMs;
    if (this.#isClosed) return;
    for (const record of moved) this.#options.index(record);
    this.#timer = setTimeout(() => this.start(), pauseAfter(tookMs)).unref();
  }

  async #findMoved(): Promise<RepoRecord[]> {
    const moved: RepoRecord[] = [];
    const states = new Map<number, string>();
    const records = this.#options.records();
    const current = await this.#statesOf(records);
    const yielder = new LoopYielder();
    for (const record of records) {
      await yielder.pause();
      const { repoId } = record;
      const stateBefore = this.#states.get(repoId);
      const observed = current.get(record);
      if (observed !== undefined && this.#hasMoved(record, stateBefore, observed)) {
        this.#movedMs.set(repoId, performance.now());
        moved.push(record);
      }
      const state = observed ?? stateBefore;
      if (state !== undefined) states.set(repoId, state);
    }
    this.#states = states;
    const served = new Set(records.map(({ repoId }) => repoId));
    for (const table of [this.#unindexed, this.#movedMs])
      for (const repoId of table.keys()) if (!served.has(repoId)) table.delete(repoId);
    return moved;
  }

  /** Whether a repo has moved since it was last seen, or indexed if it is seen for the first time. */
  #hasMoved(record: RepoRecord, stateBefore: string | undefined, state: string): boolean {
    const { repoId, indexedAt } = record;
    const isFirst = indexedAt !== undefined && this.#unindexed.delete(repoId);
    if (indexedAt === undefined) this.#unindexed.add(repoId);
    const isSame =
      stateBefore === undefined || isFirst ? this.#options.wasIndexedIn(record, state) : undefined;
    return isSame === undefined ? stateBefore !== undefined && stateBefore !== state : !isSame;
  }

  /** Repos that are not checked in this round are absent. */
  async #statesOf(records: readonly RepoRecord[]): Promise<Map<RepoRecord, string | undefined>> {
    this.#roundCount++;
    const isFew = records.length <= CALM_COUNT;
    const repositories = records.filter(
      ({ repoId, source }) => source.kind !== 'folder' && (isFew || this.#isPollDue(repoId)),
    );
    const states = await this.#options.statesOf(repositories.map(({ source }) => source.path));
    return new Map(repositories.map((record, index) => [record, states[index]]));
  }

  #isPollDue(repoId: number): boolean {
    if ((repoId + this.#roundCount) % CALM_ROUNDS === 0 || !this.#states.has(repoId)) return true;
    const movedMs = this.#movedMs.get(repoId);
    if (movedMs === undefined) return false;
    if (performance.now() - movedMs < CALM_MS) return true;
    this.#movedMs.delete(repoId);
    return false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }
}

export function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(PAUSE_MS_MIN, PAUSE_FACTOR * tookMs), PAUSE_MS_MAX);
}

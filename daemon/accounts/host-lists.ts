// When each list of a repo's readers was fetched from its host, and which lists count now (API.md 4.13): those of
// connections with `syncPermissions`, until they are too old. Kept in memory; the store reports each change. The lists of
// each user are cached with the users (callers.ts).
//
// Invariant: setting the clock makes no list count longer. A list's age is what the clock says, but at least its age when
// it was first reported plus the elapsed time; a list dated in the future does not count.

import type { HostRules } from './host-rules.ts';
import type { Change, ListStamp } from '../store/engine.ts';
import type { HostReaders } from '../store/host-readers.ts';

/** RepoIds by connection. */
export type CountingLists = ReadonlyMap<string, ReadonlySet<number>>;

export interface HostListsOptions {
  readonly store: {
    readonly hostReaders: Pick<HostReaders, 'lists'>;
    readonly onChange: (listener: (change: Change) => void) => () => void;
  };
  readonly rules: HostRules;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Monotonic milliseconds; default: of the process. */
  readonly elapsed?: () => number;
}

interface TimedList {
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  /** Of `elapsed`: time from which its age counts, whatever the clock says. */
  readonly bornMs: number;
}

/** The lists that count, and the validity of this result. */
interface View {
  readonly counting: ReadonlyMap<string, Set<number>>;
  readonly connections: ReadonlySet<string>;
  readonly ageMsMax: number;
  /** Of the clock; valid from here until before `untilMs`. */
  fromMs: number;
  untilMs: number;
  /** Of `elapsed`. */
  untilElapsedMs: number;
}

/** Tolerance for clocks of daemons that share a store, and for corrections of a clock. */
const AHEAD_MS_MAX = 60_000;

export class HostLists {
  readonly #options: HostListsOptions;
  readonly #elapsed: () => number;
  readonly #ignore: () => void;
  #lists = new Map<string, Map<number, TimedList>>();
  #view: View | undefined;
  #isChanged = true;
  /** Changes reported while all lists are being read; undefined: not reading. */
  #stampsMeanwhile: ListStamp[] | undefined;

  constructor(options: HostListsOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#ignore = options.store.onChange((change) => {
      if ('list' in change) this.#hear(change.list);
    });
  }

  close(): void {
    this.#ignore();
  }

  /** Reads all lists. Errors: NOT_READY; the known lists then count, no longer than allowed. */
  async load(): Promise<void> {
    const meanwhile: ListStamp[] = [];
    this.#stampsMeanwhile = meanwhile;
    const lists = await this.#options.store.hostReaders.lists();
    // A later reading has started, which is more complete.
    if (this.#stampsMeanwhile !== meanwhile) return;
    this.#stampsMeanwhile = undefined;
    const before = this.#lists;
    this.#lists = new Map();
    for (const { repoId, connection, takenAt } of lists) {
      const existing = before.get(connection)?.get(repoId);
      const isSame = existing?.takenAt === takenAt;
      this.#put(repoId, connection, isSame ? existing : this.#timedList(takenAt));
    }
    this.#isChanged = true;
    for (const stamp of meanwhile) this.#hear(stamp);
  }

  /** Milliseconds since the epoch; undefined: no list. */
  takenAt(repoId: number, connection: string): number | undefined {
    return this.#lists.get(connection)?.get(repoId)?.takenAt;
  }

  /** Connections with lists, whether they count or not. */
  get connections(): readonly string[] {
    return [...this.#lists.keys()];
  }

  /** RepoIds for which a connection has a list, whether it counts or not. */
  repoIdsOf(connection: string): readonly number[] {
    return [...(this.#lists.get(connection)?.keys() ?? [])];
  }

  /** Lists that count now; the same object until they change. */
  get counting(): CountingLists {
    const { rules, now } = this.#options;
    const [nowMs, elapsedMs] = [now(), this.#elapsed()];
    const view = this.#view;
    const isGood =
      view !== undefined &&
      !this.#isChanged &&
      view.fromMs <= nowMs &&
      nowMs < view.untilMs &&
      elapsedMs < view.untilElapsedMs &&
      view.connections === rules.connections() &&
      view.ageMsMax === rules.ageMsMax();
    if (isGood) return view.counting;
    const next = this.#countLists(nowMs, elapsedMs);
    const isSame = view !== undefined && areSame(view.counting, next.counting);
    this.#view = isSame ? { ...next, counting: view.counting } : next;
    this.#isChanged = false;
    return this.#view.counting;
  }

  #countLists(nowMs: number, elapsedMs: number): View {
    const { rules } = this.#options;
    const view = {
      counting: new Map<string, Set<number>>(),
      connections: rules.connections(),
      ageMsMax: rules.ageMsMax(),
      fromMs: -Infinity,
      untilMs: Infinity,
      untilElapsedMs: Infinity,
    };
    for (const [connection, lists] of this.#lists) {
      if (!view.connections.has(connection)) continue;
      const counting = new Set<number>();
      for (const [repoId, list] of lists)
        if (isCounting(list, view, nowMs, elapsedMs)) counting.add(repoId);
      if (counting.size > 0) view.counting.set(connection, counting);
    }
    return view;
  }

  #hear(stamp: ListStamp): void {
    this.#stampsMeanwhile?.push(stamp);
    const { repoId, connection, takenAt } = stamp;
    if (takenAt === null) {
      this.#lists.get(connection)?.delete(repoId);
      this.#isChanged = true;
      return;
    }
    const list = this.#timedList(takenAt);
    this.#put(repoId, connection, list);
    const view = this.#view;
    // Why: thousands of lists are renewed, one after the other. A list that still counts only counts longer.
    const goesOn =
      view?.counting.get(connection)?.has(repoId) === true &&
      isCounting(list, view, this.#options.now(), this.#elapsed());
    if (!goesOn) this.#isChanged = true;
  }

  #put(repoId: number, connection: string, list: TimedList): void {
    const lists = this.#lists.get(connection);
    if (lists === undefined) this.#lists.set(connection, new Map([[repoId, list]]));
    else lists.set(repoId, list);
  }

  #timedList(takenAt: number): TimedList {
    const ageMs = Math.max(0, this.#options.now() - takenAt);
    return { takenAt, bornMs: this.#elapsed() - ageMs };
  }
}

/** Whether a list counts at the time of `view`; shortens the view's validity to the next possible change. */
function isCounting(
  { takenAt, bornMs }: TimedList,
  view: View,
  nowMs: number,
  elapsedMs: number,
): boolean {
  const startMs = takenAt - AHEAD_MS_MAX;
  const endMs = takenAt + view.ageMsMax;
  for (const boundaryMs of [startMs, endMs])
    if (boundaryMs <= nowMs) view.fromMs = Math.max(view.fromMs, boundaryMs);
    else view.untilMs = Math.min(view.untilMs, boundaryMs);
  const endElapsedMs = bornMs + view.ageMsMax;
  if (endElapsedMs <= elapsedMs) return false;
  view.untilElapsedMs = Math.min(view.untilElapsedMs, endElapsedMs);
  return startMs <= nowMs && nowMs < endMs;
}

function areSame(one: CountingLists, other: CountingLists): boolean {
  if (one.size !== other.size) return false;
  for (const [connection, repoIds] of one) {
    const others = other.get(connection);
    if (others?.size !== repoIds.size) return false;
    for (const repoId of repoIds) if (!others.has(repoId)) return false;
  }
  return true;
}

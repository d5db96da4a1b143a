// Short searches: while others wait for the main thread, a search thread parses, searches, orders and writes the answer alone
// (search-worker.ts). It has a copy of the snapshot, made on its first search and changed with the next ones. What it cannot
// do, or not soon, the main thread does again as if nothing had happened: a longer search, whatever fails, what needs other
// services.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { arrivalNs } from '../../base/search-permit.ts';
import type { RepoAccess } from '../../repos/repo-access.ts';
import type { SearchPool } from '../host/pool.ts';
import type { SearchRequest } from '../query/request.ts';
import type { EngineParts, SearchEnvironment, ShortAnswer, ShortSearchPort } from './prepare.ts';
import type { Snapshot } from './snapshot.ts';
import { changeOf, NO_SNAPSHOT, type SnapshotChange } from './snapshot-copy.ts';
import { largeFilesOf } from './unsearched-hints.ts';

/** Guess: searches for more matches are long. */
export const SHORT_MATCHES_MAX = 1000;
/** Bound: time spent in vain on a search that turns out to be long, and delay of the thread's next one. */
const SEARCH_NS = 20_000_000n;
/** Repos of one access that are posted with each search. Bound: time; more are rare. */
const EXTRA_MAX = 1000;
/** Sets of repos, shared by many callers, that a thread keeps. Bound: memory. */
const BASES_MAX = 8;

export interface PostedAccess {
  /** The set in this slot. */
  readonly base: 'all' | number;
  /** Fills the slot first. */
  readonly newBase?: Uint32Array;
  readonly extra: readonly number[];
}

export interface ShortSearch {
  readonly request: SearchRequest;
  readonly baseUrl: string;
  readonly access: PostedAccess;
  /** Arrival of the request (process.hrtime). */
  readonly startNs: bigint;
  /** Time for it; longer ones are not short. */
  readonly searchNs: bigint;
  /** Absent: as in the search before. */
  readonly state?: PostedState;
}

export interface PostedState {
  readonly change: SnapshotChange;
  /** Files of repos that are indexed by name only. */
  readonly tooLarge: ReadonlyMap<number, number>;
  /** Whether revisions are read on demand. */
  readonly hasRevisions: boolean;
}

/** The state of a thread. */
class Copy {
  snapshot: Snapshot = NO_SNAPSHOT;
  readonly bases: ReadonlySet<number>[] = [];
  nextSlot = 0;
}

export class ShortSearches implements ShortSearchPort {
  readonly #pool: Pick<SearchPool, 'runTask'>;
  /** By instance: one that replaces a dead thread has no copy. */
  readonly #copies = new WeakMap<object, Copy>();

  constructor(pool: Pick<SearchPool, 'runTask'>) {
    this.#pool = pool;
  }

  /** On a reserved thread. Undefined: to be run by the caller. */
  async run(
    thread: number,
    parts: EngineParts,
    request: SearchRequest,
    environment: SearchEnvironment,
  ): Promise<ShortAnswer | undefined> {
    const { baseUrl, repoAccess, onProgress, permit } = environment;
    const startNs = arrivalNs(permit);
    const answer = await this.#pool.runTask(thread, (instance): ShortSearch | undefined => {
      if (onProgress !== undefined || repoAccess.extra.size > EXTRA_MAX) return undefined;
      const copy = this.#copyOf(instance);
      const state = stateFor(copy, parts);
      const access = accessFor(copy, repoAccess);
      const { inlineNs: searchNs = SEARCH_NS } = parts;
      return { request, baseUrl, access, startNs, searchNs, ...omitUndefined({ state }) };
    });
    // Safety: the type that search-worker.ts posts.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return answer as ShortAnswer | undefined;
  }

  #copyOf(instance: object): Copy {
    let copy = this.#copies.get(instance);
    if (copy === undefined) this.#copies.set(instance, (copy = new Copy()));
    return copy;
  }
}

/** Undefined: the thread has the current snapshot. */
function stateFor(copy: Copy, parts: EngineParts): PostedState | undefined {
  const { current } = parts.snapshots;
  if (copy.snapshot === current) return undefined;
  const change = changeOf(copy.snapshot, current);
  copy.snapshot = current;
  const { tooLargeOf = () => 0 } = parts;
  const large = largeFilesOf(current, tooLargeOf);
  const tooLarge = new Map(large.map(({ repo, count }) => [repo.repoId, count]));
  return { change, tooLarge, hasRevisions: parts.revisions !== undefined };
}

function accessFor(copy: Copy, { base, extra }: RepoAccess): PostedAccess {
  if (base === 'all') return { base, extra: [...extra] };
  const slot = copy.bases.indexOf(base);
  if (slot >= 0) return { base: slot, extra: [...extra] };
  const newSlot = copy.nextSlot;
  copy.bases[newSlot] = base;
  copy.nextSlot = (newSlot + 1) % BASES_MAX;
  return { base: newSlot, newBase: Uint32Array.from(base), extra: [...extra] };
}

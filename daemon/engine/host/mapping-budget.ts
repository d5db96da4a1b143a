// Limits the mappings of each searcher: a process that exceeds vm.max_map_count dies. The first shards stay mapped. Further
// ones are mapped for each search, and the last few stay mapped; without time slices they are refused.

import { mappingLimit } from './mapping.ts';
import { mappingCountOf, type ShardFile } from './space.ts';

/** Further shards mapped at a time; each takes at most two mappings. */
const VISITOR_COUNT_MAX = 64;

/** Of a thread's second searcher, which maps all shards per search. */
export const SECOND_MAPPING_MAX = 2 * VISITOR_COUNT_MAX;

export interface MappingShares {
  readonly main: number;
  readonly thread: number;
}

/** Undefined: the system has no limit. */
export function mappingShares(
  threadCount: number,
  limit: number | undefined = mappingLimit(),
): MappingShares | undefined {
  if (limit === undefined) return undefined;
  // Guess: mappings of the process itself: libraries, heaps and code of all threads, running builds.
  const free = limit - Math.max(4096, Math.floor(limit / 8));
  const main = Math.max(0, Math.floor(free / 2));
  return {
    main,
    thread: Math.max(2 * VISITOR_COUNT_MAX, Math.floor(main / threadCount) - SECOND_MAPPING_MAX),
  };
}

/** For the operator; undefined: the shards fit. */
export function mappingWarning(
  shards: readonly ShardFile[],
  threadCount: number,
  limit: number | undefined = mappingLimit(),
): string | undefined {
  const shares = mappingShares(threadCount, limit);
  const count = shards.reduce((sum, shard) => sum + mappingCountOf(shard), 0);
  if (shares === undefined || count + 2 * VISITOR_COUNT_MAX <= shares.thread) return undefined;
  const needed = Math.ceil(
    (2 * threadCount * (count + 2 * VISITOR_COUNT_MAX + SECOND_MAPPING_MAX) * 8) / 7,
  );
  const effect =
    count > shares.main
      ? 'some of them cannot be searched'
      : 'searches of many shards are slower than they could be';
  return `${shards.length} shards are more than the system lets this process map at once (vm.max_map_count is ${limit}): ${effect}; sysctl -w vm.max_map_count=${needed} helps`;
}

export class MappingBudget {
  readonly max: number;
  readonly #evicts: boolean;
  readonly #takeOut: (shardId: string) => void;
  /** Mappings of each shard that stays. */
  readonly #staying = new Map<string, number>();
  #count = 0;
  /** Shards mapped per search that are mapped now, oldest first. */
  readonly #visitors = new Set<string>();

  constructor(max: number, evicts: boolean, takeOut: (shardId: string) => void) {
    this.max = max;
    this.#evicts = evicts;
    this.#takeOut = takeOut;
  }

  get count(): number {
    return this.#count;
  }

  get hasVisitors(): boolean {
    return this.#visitors.size > 0;
  }

  #canStay(count: number): boolean {
    const reserved = this.#evicts ? 2 * VISITOR_COUNT_MAX : 0;
    return this.#count + count <= this.max - reserved;
  }

  canFit(count: number): boolean {
    return this.#evicts || this.#canStay(count);
  }

  add(shardId: string, count: number): void {
    if (this.#canStay(count)) {
      this.#staying.set(shardId, count);
      this.#count += count;
      return;
    }
    this.#visitors.add(shardId);
    for (const oldest of this.#visitors) {
      if (this.#visitors.size <= VISITOR_COUNT_MAX) break;
      this.#visitors.delete(oldest);
      this.#takeOut(oldest);
    }
  }

  remove(shardId: string): void {
    this.#count -= this.#staying.get(shardId) ?? 0;
    this.#staying.delete(shardId);
    this.#visitors.delete(shardId);
  }
}

// What a stream has found and not sent: says when a batch of it is due and which docs it holds, the best of what is
// known. Units come in the order of the search (unit-order.ts). Which docs the limit lets through follows from that order
// alone: the best of all heads, then the best of each other unit. When batches are taken changes nothing about it, so a
// limited stream sends the same docs each time. Bounded by the limit of the search.

import type { UnitFinding } from '../host/search-messages.ts';
import type { FlushReason } from './answer.ts';
import type { Steps } from '../../base/steps.ts';
import { cutDocs, docsOf, type FoundDoc, type OrderContext } from './order.ts';
import { mergeDocs, sortDocs, withDiversity } from './order.ts';

/** Bytes of file results that fill a chunk. */
export const CHUNK_SIZE_MAX = 262_144;
/** How long results wait for others. Threads may have kept them for 10 ms before, rendering comes after. */
const FLUSH_MS = 25;
/** How long the first results wait for FIRST_DOCS docs. */
const FIRST_MS = 20;
/** Guess: docs of the first batch while the search goes on; the fewer, the sooner it leaves. */
const FIRST_DOCS = 50;
/** Guess: bytes of a file result before one was seen. */
const DOC_SIZE = 2048;
const WHOLE_DOC_SIZE = 16_384;
/** Guess: bytes that a range takes in a file result, its line included. */
const RANGE_SIZE = 200;

/** Docs to send together, best first. */
export interface Batch {
  readonly docs: readonly FoundDoc[];
  readonly reason: FlushReason;
}

/** Docs that the limit lets through, or leaves out, together. */
type Group = FoundDoc[];

export class Backlog {
  readonly #context: OrderContext;
  /** Ranges that may still be let through. */
  #rangesLeft: number;
  #docSize: number;
  /** In order, but for the one that was moved for diversity. */
  #docs: readonly FoundDoc[] = [];
  /** Those that came since: all heads together, then a unit each. */
  #groups: Group[] = [];
  #moved: FoundDoc | undefined;
  /** Docs and ranges of both. */
  #count = 0;
  #rangeCount = 0;
  /** Since when there are docs (performance.now). */
  #sinceMs = 0;
  #hasGiven = false;
  #isClosed = false;
  /** Shards whose docs cannot be shown. */
  readonly #lost = new Set<number>();
  /** Ranges that were found and cannot be shown. */
  lostCount = 0;

  /** @param limit  ranges to give in all */
  constructor(context: OrderContext, limit: number, isWhole: boolean) {
    this.#context = context;
    this.#rangesLeft = limit;
    this.#docSize = isWhole ? WHOLE_DOC_SIZE : DOC_SIZE;
  }

  /** Takes the next unit in the order of the search. No batch may be taken before all heads are added. */
  add(unit: UnitFinding, isHead: boolean): void {
    if (this.#rangesLeft === 0 || this.#isClosed) return;
    if (this.#lost.has(unit.shard)) {
      this.lostCount += unit.matches;
      return;
    }
    const docs = docsOf(unit);
    if (this.#count === 0) this.#sinceMs = performance.now();
    this.#count += docs.length;
    this.#rangeCount += unit.matches;
    const heads = isHead ? this.#groups[0] : undefined;
    if (heads === undefined) this.#groups.push(docs);
    else for (const doc of docs) heads.push(doc);
  }

  /** Tells how many bytes a file result has, on average. */
  noteSize(docSize: number): void {
    this.#docSize = docSize;
  }

  /**
   * Milliseconds until a batch is due, 0: now; undefined: there is nothing.
   *
   * @param isOver  nothing will be added
   */
  waitMs(isOver: boolean): number | undefined {
    if (this.#count === 0) return undefined;
    if (isOver || (this.#hasGiven ? this.#isFull() : this.#count >= FIRST_DOCS)) return 0;
    const waitMs = this.#hasGiven ? FLUSH_MS : FIRST_MS;
    return Math.max(0, this.#sinceMs + waitMs - performance.now());
  }

  #isFull(): boolean {
    const size = Math.max(this.#count * this.#docSize, this.#rangeCount * RANGE_SIZE);
    return size >= CHUNK_SIZE_MAX;
  }

  /** How many of the first docs fill a chunk: at least one. Why: what is rendered at once cannot be cancelled. */
  #fittingCount(): number {
    let size = 0;
    let count = 0;
    for (; count < this.#docs.length && size < CHUNK_SIZE_MAX; count++)
      size += Math.max(this.#docSize, this.#docs[count]!.count * RANGE_SIZE);
    return count;
  }

  /** Puts what came into its order; more may come meanwhile, and waits for the next time. */
  *#sort(): Steps<void> {
    const groups = this.#groups;
    if (groups.length === 0) return;
    this.#groups = [];
    const fresh: FoundDoc[] = [];
    for (const group of groups) for (const doc of yield* this.#letThrough(group)) fresh.push(doc);
    const moved = this.#moved;
    if (moved !== undefined) fresh.push(moved);
    const known = this.#docs.filter((doc) => doc !== moved);
    const sorted = yield* sortDocs(fresh, this.#context);
    const merged = yield* mergeDocs(known, sorted, this.#context);
    if (this.#isClosed) return;
    this.#docs = withDiversity(merged, this.#context);
    this.#moved = this.#docs[2] === merged[2] ? undefined : this.#docs[2];
  }

  /** The docs of a group for which ranges are left: all of them, or the best. */
  *#letThrough(group: Group): Steps<readonly FoundDoc[]> {
    const ranges = group.reduce((sum, { count }) => sum + count, 0);
    const docs = ranges <= this.#rangesLeft ? group : yield* sortDocs(group, this.#context);
    const through = cutDocs(docs, this.#rangesLeft);
    for (const doc of docs.slice(through.length)) this.#forget(doc);
    this.#rangesLeft -= through.reduce((sum, { rangeMax }) => sum + rangeMax, 0);
    return through;
  }

  #forget({ count }: FoundDoc): void {
    this.#count--;
    this.#rangeCount -= count;
  }

  /** The best docs, about as many as a chunk holds. One call at a time. */
  *takeBatch(isOver: boolean): Steps<Batch> {
    yield* this.#sort();
    const isEarly = !isOver && !this.#hasGiven;
    const fitting = this.#fittingCount();
    const count = isEarly ? Math.min(FIRST_DOCS, fitting) : fitting;
    const isFull = this.#isFull() && !isEarly;
    const docs = this.#docs.slice(0, count);
    for (const doc of docs) this.#forget(doc);
    this.#docs = this.#docs.slice(count);
    if (this.#docs.slice(0, 3).every((doc) => doc !== this.#moved)) this.#moved = undefined;
    this.#hasGiven = true;
    return { docs, reason: this.#reason(isOver, isFull) };
  }

  /**
   * Leaves out what was and will be found in a shard.
   *
   * @param batch  the last one that was taken, or what is left of it
   * @returns      its docs that are of other shards
   */
  lose(shard: number, batch: readonly FoundDoc[]): readonly FoundDoc[] {
    const isLost = (doc: FoundDoc): boolean => doc.shard === shard;
    this.#lost.add(shard);
    for (const { rangeMax, count } of [...batch, ...this.#docs].filter(isLost)) {
      this.#rangesLeft += rangeMax;
      this.lostCount += count;
    }
    const waiting = this.#groups.flat();
    for (const { count } of waiting.filter(isLost)) this.lostCount += count;
    for (const doc of [...this.#docs, ...waiting].filter(isLost)) this.#forget(doc);
    this.#docs = this.#docs.filter((doc) => !isLost(doc));
    this.#groups = this.#groups.map((group) => group.filter((doc) => !isLost(doc)));
    if (this.#moved?.shard === shard) this.#moved = undefined;
    return batch.filter((doc) => !isLost(doc));
  }

  #reason(isOver: boolean, isFull: boolean): FlushReason {
    if (isOver && this.#count === 0) return 'FINAL_FLUSH';
    return isOver || isFull ? 'MAX_SIZE' : 'TIMER_EXPIRED';
  }

  /** Gives nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#count = 0;
    this.#docs = [];
    this.#groups = [];
  }
}

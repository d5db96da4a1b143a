// Docs that a stream has found and not sent: tells when a batch is due and which docs it holds, the best of the known ones.
// Units come in the order of the search (unit-order.ts). The limit admits docs by that order only: the best of all heads,
// then the best of each other unit. The timing of batches does not matter, so a limited stream always sends the same docs.
// Bounded by the limit of the search.

import type { UnitFinding } from '../host/search-messages.ts';
import type { FlushReason } from './answer.ts';
import type { Steps } from '../../base/steps.ts';
import { type DocList, FoundDocs } from './found-docs.ts';
import { cutDocs, mergeDocs, type OrderContext, sortDocs, withDiversity } from './order.ts';

/** Bytes of file results that fill a chunk. */
export const CHUNK_SIZE_MAX = 262_144;
/** How long results wait for more. Threads may have held them for 10 ms before; rendering follows. */
const FLUSH_MS = 25;
/** How long the first results wait for FIRST_DOCS docs. */
const FIRST_MS = 20;
/** Guess: docs of the first batch while the search runs; fewer docs leave sooner. */
const FIRST_DOCS = 50;
/** Guess: bytes of a file result before the first is rendered. */
const DOC_SIZE = 2048;
const WHOLE_DOC_SIZE = 16_384;
/** Guess: bytes that a range takes in a file result, its line included. */
const RANGE_SIZE = 200;

/** Docs to send together, best first. */
export interface Batch extends DocList {
  readonly reason: FlushReason;
}

export class Backlog {
  readonly #context: OrderContext;
  readonly #found = new FoundDocs();
  /** Ranges that the limit still admits. */
  #remainingRanges: number;
  #docSize: number;
  /** In order, except the one moved for diversity. */
  #docs: Uint32Array = new Uint32Array();
  /** Docs from this number on are new and unsorted. */
  #firstNew = 0;
  /** End numbers of the groups of new docs: all heads together, then one group per unit. */
  #groupEnds: number[] = [];
  #moved: number | undefined;
  /** Docs and ranges, sorted and new. */
  #count = 0;
  #rangeCount = 0;
  /** When the oldest doc arrived (performance.now). */
  #sinceMs = 0;
  #hasDelivered = false;
  #isClosed = false;
  /** Shards whose docs cannot be rendered. */
  readonly #lost = new Set<number>();
  /** Ranges found that cannot be rendered. */
  lostCount = 0;

  /** @param limit  most ranges in total */
  constructor(context: OrderContext, limit: number, isWhole: boolean) {
    this.#context = context;
    this.#remainingRanges = limit;
    this.#docSize = isWhole ? WHOLE_DOC_SIZE : DOC_SIZE;
  }

  /** Adds the next unit in the order of the search. All heads must be added before the first batch. */
  add(unit: UnitFinding, isHead: boolean): void {
    if (this.#remainingRanges === 0 || this.#isClosed) return;
    if (this.#lost.has(unit.shard)) {
      this.lostCount += unit.matches;
      return;
    }
    const countBefore = this.#found.count;
    this.#found.add(unit);
    if (this.#count === 0) this.#sinceMs = performance.now();
    this.#count += this.#found.count - countBefore;
    this.#rangeCount += unit.matches;
    if (this.#found.count === countBefore) return;
    if (isHead) this.#groupEnds.pop();
    this.#groupEnds.push(this.#found.count);
  }

  /** Sets the average bytes of a file result. */
  noteSize(docSize: number): void {
    this.#docSize = docSize;
  }

  /**
   * Milliseconds until a batch is due, 0: now; undefined: there is nothing.
   *
   * @param isOver  nothing more will be added
   */
  waitMs(isOver: boolean): number | undefined {
    if (this.#count === 0) return undefined;
    if (isOver || (this.#hasDelivered ? this.#isFull() : this.#count >= FIRST_DOCS)) return 0;
    const waitMs = this.#hasDelivered ? FLUSH_MS : FIRST_MS;
    return Math.max(0, this.#sinceMs + waitMs - performance.now());
  }

  #isFull(): boolean {
    const size = Math.max(this.#count * this.#docSize, this.#rangeCount * RANGE_SIZE);
    return size >= CHUNK_SIZE_MAX;
  }

  /** How many of the first docs fill a chunk: at least one. Why: a rendering call cannot be cancelled. */
  #fittingCount(): number {
    let size = 0;
    let count = 0;
    for (; count < this.#docs.length && size < CHUNK_SIZE_MAX; count++)
      size += Math.max(this.#docSize, this.#found.rangeCount(this.#docs[count]!) * RANGE_SIZE);
    return count;
  }

  /** Sorts new docs in; docs added meanwhile wait for the next call. */
  *#sort(): Steps<void> {
    const found = this.#found;
    const ends = this.#groupEnds;
    if (ends.length === 0) return;
    this.#groupEnds = [];
    let start = this.#firstNew;
    this.#firstNew = found.count;
    const fresh: number[] = [];
    for (const end of ends) {
      const group = found.range(start, end).filter((doc) => !this.#lost.has(found.shard(doc)));
      for (const doc of yield* this.#letThrough(group)) fresh.push(doc);
      start = end;
    }
    const moved = this.#moved;
    if (moved !== undefined) fresh.push(moved);
    const others = this.#docs.filter((doc) => doc !== moved);
    const sorted = yield* sortDocs({ found, docs: new Uint32Array(fresh) }, this.#context);
    const docs = yield* mergeDocs(found, others, sorted, this.#context);
    if (this.#isClosed) return;
    this.#docs = withDiversity({ found, docs }, this.#context).docs;
    this.#moved = this.#docs[2] === docs[2] ? undefined : this.#docs[2];
  }

  /** The docs of a group that the remaining ranges admit: all of them, or the best. */
  *#letThrough(group: Uint32Array): Steps<Uint32Array> {
    const found = this.#found;
    const ranges = group.reduce((sum, doc) => sum + found.rangeCount(doc), 0);
    const list = { found, docs: group };
    const docs = ranges <= this.#remainingRanges ? group : yield* sortDocs(list, this.#context);
    const through = cutDocs({ found, docs }, this.#remainingRanges).docs;
    this.#forget(docs.subarray(through.length));
    this.#remainingRanges -= found.rangeMaxOf(through);
    return through;
  }

  #forget(docs: Uint32Array): void {
    this.#count -= docs.length;
    for (const doc of docs) this.#rangeCount -= this.#found.rangeCount(doc);
  }

  /** The best docs, about one chunk. One call at a time. */
  *takeBatch(isOver: boolean): Steps<Batch> {
    yield* this.#sort();
    const isEarly = !isOver && !this.#hasDelivered;
    const fitting = this.#fittingCount();
    const count = isEarly ? Math.min(FIRST_DOCS, fitting) : fitting;
    const isFull = this.#isFull() && !isEarly;
    const docs = this.#docs.subarray(0, count);
    this.#forget(docs);
    this.#docs = this.#docs.subarray(count);
    if (this.#docs.subarray(0, 3).every((doc) => doc !== this.#moved)) this.#moved = undefined;
    this.#hasDelivered = true;
    return { found: this.#found, docs, reason: this.#reason(isOver, isFull) };
  }

  /**
   * Drops past and future docs of a shard.
   *
   * @param batch  the last batch taken, or the rest of it
   * @returns      its docs in other shards
   */
  lose(shard: number, batch: Uint32Array): Uint32Array {
    const found = this.#found;
    const isLost = (doc: number): boolean => found.shard(doc) === shard;
    this.#lost.add(shard);
    const lostSorted = this.#docs.filter(isLost);
    const waiting = found.range(this.#firstNew, found.count).filter(isLost);
    const lost = batch.filter(isLost);
    for (const doc of [...lost, ...lostSorted]) this.#remainingRanges += found.rangeMax(doc);
    for (const doc of [...lost, ...lostSorted, ...waiting]) this.lostCount += found.rangeCount(doc);
    this.#forget(lostSorted);
    this.#forget(waiting);
    this.#docs = this.#docs.filter((doc) => !isLost(doc));
    if (this.#moved !== undefined && isLost(this.#moved)) this.#moved = undefined;
    return batch.filter((doc) => !isLost(doc));
  }

  #reason(isOver: boolean, isFull: boolean): FlushReason {
    if (isOver && this.#count === 0) return 'FINAL_FLUSH';
    return isOver || isFull ? 'MAX_SIZE' : 'TIMER_EXPIRED';
  }

  /** Returns nothing from now on. */
  close(): void {
    this.#isClosed = true;
    this.#count = 0;
    this.#docs = new Uint32Array();
    this.#groupEnds = [];
  }
}

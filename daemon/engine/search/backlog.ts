// Docs that a stream has found and not sent: when a batch is due, and its docs, the best known ones. The limit admits docs in
// the order of the search (unit-order.ts): the best of all heads, then the best of each other unit. So a limited stream
// always sends the same docs.

import type { UnitFinding } from '../host/search-messages.ts';
import type { FlushReason } from './answer.ts';
import type { Steps } from '../../base/steps.ts';
import { type DocList, FoundDocs } from './found-docs.ts';
import { cutDocs, mergeDocs, type OrderContext, sortDocs, withDiversity } from './order.ts';

/** Bytes of file results that fill a chunk. */
export const CHUNK_SIZE_MAX = 262_144;
/** How long results wait for more. Threads may have held them for 10 ms before. */
const FLUSH_MS = 25;
/** How long the first results wait for FIRST_DOCS docs. */
const FIRST_MS = 20;
/** Guess: docs of the first batch while the search runs; fewer docs leave sooner. */
const FIRST_DOCS = 50;
/** Bytes of a range in a file result, its line included. Measured 2026-12-01, ten queries over this checkout: 240 to 500. */
const RANGE_SIZE = 300;

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
  /** Of the groups of new docs: all heads together, then each unit. */
  #groupEnds: number[] = [];
  #moved: number | undefined;
  /** Number of docs not yet sent, sorted or not. */
  #count = 0;
  #rangeCount = 0;
  /** When the oldest doc arrived (performance.now). */
  #sinceMs = 0;
  #hasDelivered = false;
  #isClosed = false;
  readonly #lost = new Set<number>();
  /** Ranges found in shards whose docs cannot be rendered. */
  lostCount = 0;

  /** @param limit  most ranges in total */
  constructor(context: OrderContext, limit: number, returnsContent: boolean) {
    this.#context = context;
    this.#remainingRanges = limit;
    // Before the first result is rendered. Measured 2026-12-01, eight queries over this checkout: 470 to 3,200 bytes a doc with
    // matches of few lines, 6,800 to 11,700 with the content.
    this.#docSize = returnsContent ? 16_384 : 2048;
  }

  /** Units come in the order of the search; all heads before the first batch. */
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

  /** `docSize`: average bytes of a file result. */
  noteSize(docSize: number): void {
    this.#docSize = docSize;
  }

  /** Until a batch is due, 0: now; undefined: there is nothing. `isOver`: nothing more will be added. */
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

  /** Docs that fill a chunk, at least one; not more, as a rendering call cannot be cancelled. */
  #fittingCount(): number {
    let size = 0;
    let count = 0;
    for (; count < this.#docs.length && size < CHUNK_SIZE_MAX; count++)
      size += Math.max(this.#docSize, this.#found.rangeCount(this.#docs[count]!) * RANGE_SIZE);
    return count;
  }

  /** Docs added meanwhile wait for the next call. */
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

  /** All docs of a group, or the best, as the remaining ranges admit. */
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

  /** Drops past and future docs of a shard; returns the docs of `batch`, the rest of the last one, in other shards. */
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

  close(): void {
    this.#isClosed = true;
    this.#count = 0;
    this.#docs = new Uint32Array();
    this.#groupEnds = [];
  }
}

// The docs that a search found, as rows of numbers. Not objects: creating and reading one for each of 100,000 docs took
// longer than sorting them.

import { MATCH_ROW_SIZE, MATCH_TIER_SHIFT } from '../../../core/shared/plan.ts';
import { sumOf } from '../../base/lists.ts';
import type { UnitFinding } from '../host/search-messages.ts';
import { KEPT_WORDS } from '../host/searcher.ts';

/** Words of a unit's row. */
const MATCH_WORDS = MATCH_ROW_SIZE / 4;
const SCORE_MASK = (1 << MATCH_TIER_SHIFT) - 1;
const TIER_BITS = 32 - MATCH_TIER_SHIFT;

/** Words of a doc's row. */
const DOC_ID = 0;
const COUNT = 1;
const RANK = 2;
const PATH_RANK = 3;
const SHARD = 4;
const KEPT_START = 5;
const KEPT_COUNT = 6;
const RANGE_MAX = 7;
const DOC_WORDS = 8;

/** Rows of `found` in an order that the function which returns the list defines. */
export interface DocList {
  readonly found: FoundDocs;
  /** Row numbers. */
  readonly docs: Uint32Array;
}

export class FoundDocs {
  #count = 0;
  #words: Uint32Array<ArrayBuffer>;
  #kept: Uint32Array<ArrayBuffer>;
  #keptSize = 0;

  /** Sized for these units, or growing: discarded buffers outside the heap trigger collections. */
  constructor(units: readonly UnitFinding[] = []) {
    this.#words = new Uint32Array(
      sumOf(units, ({ rows }) => rows.length / MATCH_WORDS) * DOC_WORDS,
    );
    this.#kept = new Uint32Array(sumOf(units, ({ kept }) => kept?.length ?? 0));
  }

  add({ shard, rows, kept = new Uint32Array() }: UnitFinding): void {
    const first = this.#count;
    this.#count += rows.length / MATCH_WORDS;
    this.#words = withCapacity(this.#words, this.#count * DOC_WORDS);
    this.#kept = withCapacity(this.#kept, this.#keptSize + kept.length);
    this.#kept.set(kept, this.#keptSize);
    const words = this.#words;
    let next = 0;
    for (let doc = first, row = 0; doc < this.#count; doc++, row += MATCH_WORDS) {
      const keptCount = kept[next] ?? 0;
      const scoreAndTier = rows[row + 2]!;
      const start = doc * DOC_WORDS;
      words[start + DOC_ID] = rows[row]!;
      words[start + COUNT] = rows[row + 1]!;
      words[start + RANK] =
        ((SCORE_MASK - (scoreAndTier & SCORE_MASK)) << TIER_BITS) |
        (scoreAndTier >>> MATCH_TIER_SHIFT);
      words[start + PATH_RANK] = rows[row + 3]!;
      words[start + SHARD] = shard;
      words[start + KEPT_START] = this.#keptSize + next + 1;
      words[start + KEPT_COUNT] = keptCount;
      next += 1 + keptCount * KEPT_WORDS;
    }
    this.#keptSize += kept.length;
  }

  get count(): number {
    return this.#count;
  }

  range(start: number, end: number): Uint32Array {
    const numbers = new Uint32Array(end - start);
    for (let index = 0; index < numbers.length; index++) numbers[index] = start + index;
    return numbers;
  }

  /** Index in the run. */
  shard(doc: number): number {
    return this.#words[doc * DOC_WORDS + SHARD]!;
  }

  docId(doc: number): number {
    return this.#words[doc * DOC_WORDS + DOC_ID]!;
  }

  /** Ranges found. */
  rangeCount(doc: number): number {
    return this.#words[doc * DOC_WORDS + COUNT]!;
  }

  /** Smaller for docs that sort first by score, then tier. */
  rank(doc: number): number {
    return this.#words[doc * DOC_WORDS + RANK]!;
  }

  score(doc: number): number {
    return SCORE_MASK - (this.rank(doc) >>> TIER_BITS);
  }

  tier(doc: number): number {
    return this.rank(doc) & ((1 << TIER_BITS) - 1);
  }

  /** Order of the path within its shard. */
  pathRank(doc: number): number {
    return this.#words[doc * DOC_WORDS + PATH_RANK]!;
  }

  /** Kept ranges (engine/host/searcher.ts). */
  keptCount(doc: number): number {
    return this.#words[doc * DOC_WORDS + KEPT_COUNT]!;
  }

  /** Most ranges in the answer; 0 until set. */
  rangeMax(doc: number): number {
    return this.#words[doc * DOC_WORDS + RANGE_MAX]!;
  }

  setRangeMax(doc: number, rangeMax: number): void {
    this.#words[doc * DOC_WORDS + RANGE_MAX] = rangeMax;
  }

  rangeMaxOf(docs: Uint32Array): number {
    return docs.reduce((sum, doc) => sum + this.rangeMax(doc), 0);
  }

  keptOf(docs: readonly number[]): Uint32Array {
    const count = docs.reduce((sum, doc) => sum + this.keptCount(doc), 0);
    const joined = new Uint32Array(count * KEPT_WORDS);
    let next = 0;
    for (const doc of docs) {
      const start = this.#words[doc * DOC_WORDS + KEPT_START]!;
      const end = start + this.keptCount(doc) * KEPT_WORDS;
      for (let i = start; i < end; i++) joined[next++] = this.#kept[i]!;
    }
    return joined;
  }
}

export const NO_DOCS: DocList = { found: new FoundDocs(), docs: new Uint32Array() };

function withCapacity(words: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= words.length) return words;
  const more = new Uint32Array(Math.max(length, words.length * 2));
  more.set(words);
  return more;
}

// The shared words of one search: a word that halts it, and for each shard the next unit to claim, the number of
// its units once a thread has bound it, and a word for each unit: claimed, or finished with the ranges it found. From
// these any thread can tell when the units finished so far, in order and without a gap, hold more ranges
// than the limit: then no new unit is claimed. The answer is made of just those units, so it is the same
// however the threads raced.

const HALT = 0;
const RUNNING = 0;
const PAUSED = 1;
const STOPPED = 2;
const HEAD = 1;
const NEXT = 0;
const COUNT = 1;
const SHARD_HEAD = 2;
/** Words of units that are not finished. */
const FREE = 0;
const CLAIMED = -1;

export class SearchControl {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #bases: number[] = [];

  /**
   * Makes new words, or takes those of another thread.
   *
   * @param unitMaxes  most units of each shard
   */
  constructor(unitMaxes: readonly number[], buffer?: SharedArrayBuffer) {
    let size = HEAD;
    for (const unitMax of unitMaxes) {
      this.#bases.push(size);
      size += SHARD_HEAD + unitMax;
    }
    this.buffer = buffer ?? new SharedArrayBuffer(size * 4);
    this.#words = new Int32Array(this.buffer);
  }

  stop(): void {
    Atomics.store(this.#words, HALT, STOPPED);
  }

  /** Lets every thread leave the search behind its current unit; what is not claimed stays for later. */
  pause(): void {
    Atomics.compareExchange(this.#words, HALT, RUNNING, PAUSED);
  }

  /** Takes a pause back; threads that have left must be called again. */
  resume(): void {
    Atomics.compareExchange(this.#words, HALT, PAUSED, RUNNING);
  }

  /** Stopped or paused: no unit may be claimed. */
  get isHalted(): boolean {
    return Atomics.load(this.#words, HALT) !== RUNNING;
  }

  /** No more work of the search is wanted, not even that of units under way. */
  get isStopped(): boolean {
    return Atomics.load(this.#words, HALT) === STOPPED;
  }

  /** Claims the next unit of a shard that is bound; undefined: all are claimed. */
  claim(shard: number): number | undefined {
    const base = this.#bases[shard]!;
    const count = this.unitCount(shard) ?? 0;
    for (;;) {
      const unit = Atomics.add(this.#words, base + NEXT, 1);
      if (unit >= count) return undefined;
      const word = base + SHARD_HEAD + unit;
      if (Atomics.compareExchange(this.#words, word, FREE, CLAIMED) === FREE) return unit;
    }
  }

  /** Takes the claim of a unit back. Others may have left the shard: who calls must go on with it, or leave it to a call. */
  giveBack(shard: number, unit: number): void {
    const base = this.#bases[shard]!;
    Atomics.store(this.#words, base + SHARD_HEAD + unit, FREE);
    for (;;) {
      const next = Atomics.load(this.#words, base + NEXT);
      if (next <= unit) return;
      if (Atomics.compareExchange(this.#words, base + NEXT, next, unit) === next) return;
    }
  }

  /** Says how many units a shard has; every thread that binds it finds the same number. */
  setUnitCount(shard: number, count: number): void {
    Atomics.store(this.#words, this.#bases[shard]! + COUNT, count + 1);
  }

  /** Units of a shard; undefined: no thread has bound it yet. */
  unitCount(shard: number): number | undefined {
    const count = Atomics.load(this.#words, this.#bases[shard]! + COUNT);
    return count === 0 ? undefined : count - 1;
  }

  /** Whether all units of a shard are claimed: nothing is left to bind it for. */
  isDrained(shard: number): boolean {
    const count = this.unitCount(shard);
    return count !== undefined && Atomics.load(this.#words, this.#bases[shard]! + NEXT) >= count;
  }

  finish(shard: number, unit: number, matches: number): void {
    const capped = Math.min(matches, 0x7ffffff0);
    Atomics.store(this.#words, this.#bases[shard]! + SHARD_HEAD + unit, capped + 1);
  }

  /** Ranges that a finished unit found; undefined: it is not finished. */
  matchesOf(shard: number, unit: number): number | undefined {
    const word = Atomics.load(this.#words, this.#bases[shard]! + SHARD_HEAD + unit);
    return word <= FREE ? undefined : word - 1;
  }
}

/** Walks the finished units in order and sums up what they found. */
export class PrefixSum {
  readonly #control: SearchControl;
  readonly #shardCount: number;
  #shard = 0;
  #unit = 0;
  #sum = 0;

  constructor(control: SearchControl, shardCount: number) {
    this.#control = control;
    this.#shardCount = shardCount;
  }

  /** Ranges in the units finished without a gap, as far as `limit` asks: stops behind the unit that exceeds it. */
  advance(limit: number): number {
    while (this.#shard < this.#shardCount && this.#sum <= limit) {
      const count = this.#control.unitCount(this.#shard);
      if (count === undefined) break;
      if (this.#unit === count) {
        this.#shard++;
        this.#unit = 0;
        continue;
      }
      const matches = this.#control.matchesOf(this.#shard, this.#unit);
      if (matches === undefined) break;
      this.#sum += matches;
      this.#unit++;
    }
    return this.#sum;
  }
}

// The numbers of a stream since the previous event and in total. Each event takes the difference to what was reported before,
// so that sums are exact.

import type { Findings } from '../host/search-messages.ts';
import {
  type FlushReason,
  statsNumbers,
  type StatsNumbers,
  type WorkTimes,
  workTimes,
} from './answer.ts';
import type { RenderSums } from './render.ts';
import type { Counts } from './totals.ts';

export class StatsLedger {
  readonly #counts: Counts;
  readonly #startNs: bigint;
  readonly #rendered: RenderSums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
  #waitNs: number | undefined;
  #work: WorkTimes = workTimes([]);
  #reported: StatsNumbers | undefined;
  #reason: FlushReason = 'UNKNOWN_UNSPECIFIED';

  /** `counts`: running totals of the search; `startNs`: process.hrtime. */
  constructor(counts: Counts, startNs: bigint) {
    this.#counts = counts;
    this.#startNs = startNs;
  }

  addTimes({ times, firstUnitNs }: Findings): void {
    this.#work = workTimes(times, this.#work);
    if (firstUnitNs !== undefined) this.#waitNs ??= Number(firstUnitNs - this.#startNs);
  }

  addReading({ contentBytes, loadCount }: Omit<RenderSums, 'rangeCount'>): void {
    this.#rendered.contentBytes += contentBytes;
    this.#rendered.loadCount += loadCount;
  }

  addRanges(rangeCount: number): void {
    this.#rendered.rangeCount += rangeCount;
  }

  /** The first reason of a chunk becomes that of the stream. */
  noteReason(reason: FlushReason): void {
    if (this.#reason === 'UNKNOWN_UNSPECIFIED') this.#reason = reason;
  }

  /** The numbers since the last call. */
  takeDelta(): StatsNumbers {
    const totals = this.#totals();
    const reported = this.#reported;
    this.#reported = totals;
    return reported === undefined ? totals : difference(totals, reported);
  }

  close(): { totals: StatsNumbers; reason: FlushReason } {
    // A search without a unit waited until its end.
    this.#waitNs ??= this.#sinceStart();
    return { totals: this.#totals(), reason: this.#reason };
  }

  #sinceStart(): number {
    return Number(process.hrtime.bigint() - this.#startNs);
  }

  #totals(): StatsNumbers {
    return statsNumbers(this.#counts, this.#rendered, {
      duration: this.#sinceStart(),
      wait: this.#waitNs ?? 0,
      ...this.#work,
    });
  }
}

function difference(totals: StatsNumbers, reported: StatsNumbers): StatsNumbers {
  const delta = { ...totals };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a plain object of numbers
  for (const name of Object.keys(delta) as (keyof StatsNumbers)[]) delta[name] -= reported[name];
  return delta;
}

// Batches requests to the store: a few at a time, each for as many entries of one day as are waiting. So a burst of users,
// as at midnight, costs a few transactions instead of one each.

import type { Entry } from './entry.ts';

const RUNNING_MAX = 4;
/** Measured: 2026-11-21: a transaction for this many entries blocks the event loop for 2 ms if embedded. */
const BATCH_MAX = 128;

export class UsageBatches {
  readonly #syncEntries: (entries: readonly Entry[]) => Promise<void>;
  /** By day, in order of request. */
  readonly #due = new Map<number, Set<Entry>>();
  #runningCount = 0;
  #onIdle: (() => void)[] = [];

  /** @param syncEntries  sends a request for entries of one day; must not fail */
  constructor(syncEntries: (entries: readonly Entry[]) => Promise<void>) {
    this.#syncEntries = syncEntries;
  }

  /** Requests an entry soon, unless it is requested already. */
  ask(entry: Entry): void {
    if (entry.isAsking) return;
    entry.isAsking = true;
    const ofDay = this.#due.get(entry.day);
    if (ofDay === undefined) this.#due.set(entry.day, new Set([entry]));
    else ofDay.add(entry);
    this.#start();
  }

  /** Resolves when no request is due or running. */
  async idle(): Promise<void> {
    if (this.#runningCount === 0 && this.#due.size === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #start(): void {
    if (this.#runningCount >= RUNNING_MAX) return;
    const entries = this.#takeBatch();
    if (entries.length === 0) return;
    this.#runningCount++;
    void this.#run(entries);
  }

  #takeBatch(): Entry[] {
    const entries: Entry[] = [];
    for (const [day, ofDay] of this.#due) {
      for (const entry of ofDay) {
        if (entries.length === BATCH_MAX) return entries;
        ofDay.delete(entry);
        entries.push(entry);
      }
      this.#due.delete(day);
      // The next batch is for another day.
      if (entries.length > 0) break;
    }
    return entries;
  }

  async #run(entries: readonly Entry[]): Promise<void> {
    await this.#syncEntries(entries);
    this.#runningCount--;
    this.#start();
    if (this.#runningCount > 0 || this.#due.size > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

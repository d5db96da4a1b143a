// Asks the store for many entries: a few requests at a time, each for as many entries of one day as wait
// then. So a burst of users, as at midnight, costs a few transactions instead of one each.

import type { Entry } from './entry.ts';

const RUNNING_MAX = 4;
const BATCH_MAX = 64; // entries; on the embedded store about 3 ms

export class Asking {
  readonly #exchange: (entries: readonly Entry[]) => Promise<void>;
  #due: Entry[] = [];
  #runningCount = 0;
  #onIdle: (() => void)[] = [];

  /** @param exchange  asks for entries of one day; must not fail */
  constructor(exchange: (entries: readonly Entry[]) => Promise<void>) {
    this.#exchange = exchange;
  }

  /** Asks for an entry soon, unless it is asked for already. */
  ask(entry: Entry): void {
    if (entry.isAsking) return;
    entry.isAsking = true;
    this.#due.push(entry);
    this.#start();
  }

  /** Done when nothing is due or on its way. */
  async idle(): Promise<void> {
    if (this.#runningCount === 0 && this.#due.length === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #start(): void {
    const first = this.#due[0];
    if (first === undefined || this.#runningCount >= RUNNING_MAX) return;
    const isNow = (entry: Entry, index: number): boolean =>
      entry.day === first.day && index < BATCH_MAX;
    const entries = this.#due.filter(isNow);
    this.#due = this.#due.filter((entry, index) => !isNow(entry, index));
    this.#runningCount++;
    void this.#run(entries);
  }

  async #run(entries: readonly Entry[]): Promise<void> {
    await this.#exchange(entries);
    this.#runningCount--;
    this.#start();
    if (this.#runningCount > 0 || this.#due.length > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

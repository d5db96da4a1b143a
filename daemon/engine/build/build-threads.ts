// The threads that builds may have, all together. One big build has them all; a build that comes then gets its first one as
// soon as a thread of the other has done what it has begun.

export class BuildThreads {
  readonly #count: number;
  #takenCount = 0;
  readonly #waiting = new Set<() => void>();
  readonly #givers = new Set<() => void>();

  /** @param count  of all builds; for example one for each core */
  constructor(count: number) {
    this.#count = count;
  }

  /** Those in use. */
  get takenCount(): number {
    return this.#takenCount;
  }

  /** A build waits for its first thread: whoever has more than one gives one back. */
  get isWanted(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves with the first thread of a build, which is then to be given back. Errors: the reason of the signal. */
  async take(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(onTurn);
        reject(signal?.reason);
      };
      const onTurn = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onTurn);
      for (const give of this.#givers) give();
    });
  }

  /** A further thread; false: there is none now. */
  tryTake(): boolean {
    if (this.#takenCount >= this.#count || this.isWanted) return false;
    this.#takenCount++;
    return true;
  }

  /** Gives a thread back. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#takenCount--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  /** Calls `give` when a build waits for a thread that nobody has to spare; returns what ends that. */
  onWanted(give: () => void): () => void {
    this.#givers.add(give);
    return () => void this.#givers.delete(give);
  }
}

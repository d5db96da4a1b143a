// Monotonic time and timers for the ledger: real ones, or those of a test.

export interface LedgerClock {
  /** Monotonic milliseconds from any origin. */
  nowMs(): number;
  /** Calls `run` repeatedly; the result ends it. */
  every(ms: number, run: () => void): () => void;
  /** Calls `run` once; the result cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** The clock of the machine. Repeating timers do not keep the process alive. */
export const SYSTEM_CLOCK: LedgerClock = {
  nowMs: () => performance.now(),
  every: (ms, run) => {
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

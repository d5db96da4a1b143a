// The time that passes and timers, for the ledger: real ones, or those of a test.

export interface LedgerClock {
  /** Milliseconds that never go back, from any beginning. */
  nowMs(): number;
  /** Calls `run` again and again; returns what ends it. */
  every(ms: number, run: () => void): () => void;
  /** Calls `run` once; returns what prevents it. */
  after(ms: number, run: () => void): () => void;
}

/** The clock of the machine. What repeats does not keep the process alive. */
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

// A search's permit to run: it says when to pause for others. Created by the admission of searches (http/admission.ts); on
// the command line there is none, and a search never pauses.

export interface PausableSearch {
  pause(): void;
  resume(): void;
}

export interface SearchPermit {
  /** Whom the search is for: clients alternate (base/next-time-slice.ts). */
  readonly clientKey: string;
  /** Arrival of the request (performance.now); the deadline counts from here. */
  readonly arrivedMs: number;
  /** Registers the search to pause and resume; paused at once if others are due. */
  attach(search: PausableSearch): void;
  /** Resolves when the search may run, or is over; undefined: it may run now. */
  whenRunning(): Promise<void> | undefined;
  /** Returns the permit until `want`: the search has nothing to do. */
  rest(): void;
  want(): void;
}

/** When the request arrived, as process.hrtime has it, which all threads share. No permit: now. */
export function arrivalNs(permit: Pick<SearchPermit, 'arrivedMs'> | undefined): bigint {
  const waitedMs = permit === undefined ? 0 : performance.now() - permit.arrivedMs;
  return process.hrtime.bigint() - BigInt(Math.round(waitedMs * 1e6));
}

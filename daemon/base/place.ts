// What a search knows of the others: when it is its turn. Whoever admits searches tells it (http/admission.ts); alone,
// as on the command line, it has no place and always goes on.

/** What can be held up while others have their turn. */
export interface PausableSearch {
  pause(): void;
  resume(): void;
}

export interface SearchPlace {
  /** Who searches: holders take turns (base/next-turn.ts). */
  readonly holder: string;
  /** When the request came (performance.now): the deadline counts from here. */
  readonly arrivedMs: number;
  /** Says what to pause and resume; it is paused at once where it is not its turn. */
  attach(search: PausableSearch): void;
  /** Resolves when it is the turn of the search, or when that is over; undefined: it is so now. */
  turn(): Promise<void> | undefined;
  /** Gives the place away until `want`: the search has nothing to do. */
  rest(): void;
  want(): void;
}

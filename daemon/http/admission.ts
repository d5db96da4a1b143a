// Admission control of searches: so many run, so many wait, the next one is refused. A holder may have all places that
// nobody else wants; as soon as another one comes, searches of whoever holds more than half of those that run give way
// at once, and in a full queue whoever holds most of it makes room. A place that becomes free goes to the holder with
// the fewest running searches. Where all run for long, they take turns: one that has run for a turn gives its place to
// one that waits, and waits itself; new searches come first, so that a short one waits for a turn, not for the end of
// a long one, unless an older one has waited for long. A search keeps its place from its deadline on, or is
// rid of it if it has none then: it has only to say so.

import { ApiError } from '../api/shapes/api-error.ts';
import { type Deferred, deferred } from '../base/deferred.ts';
import type { PausableSearch, SearchPlace } from '../base/place.ts';
import { ClientGoneError } from './adapters/adapter.ts';

/**
 * How long a search runs before it gives way to one that waits.
 * Guess: long beside what it costs to leave and to come back, short beside what people notice.
 */
const TURN_MS = 20;
/** How long a search that has run waits at most for those that are new. Guess: some turns of several holders. */
const AGE_MS = 250;

/** The searches of one holder; kept while there are any. */
interface Share {
  readonly holder: string;
  runningCount: number;
  /** In order of their tickets. */
  readonly waiting: Set<Place>;
  /** Those whose readers do not read. */
  restingCount: number;
}

export interface AdmissionBounds {
  /** Searches that run at a time. */
  readonly runningMax: number;
  /** Searches that wait, those that gave their place away included; and most that rest of one holder. */
  readonly waitingMax: number;
  /** Deadline of a search, waiting included; 0: none. */
  readonly timeoutMs?: number;
}

export interface AdmissionOptions extends AdmissionBounds {
  /** How long a search runs before it gives way; default: 20. */
  readonly turnMs?: number;
  /** How long one that has run waits for new ones; default: 250. */
  readonly ageMs?: number;
}

export class Admission {
  #runningMax = 0;
  #waitingMax = 0;
  #timeoutMs = 0;
  readonly #turnMs: number;
  readonly #ageMs: number;
  readonly #shares = new Map<string, Share>();
  /** Those that came first, or got their place back first, first. */
  readonly #running = new Set<Place>();
  #waitingCount = 0;
  #nextTicket = 0;
  #timer: NodeJS.Timeout | undefined;
  #refusedCount = 0;

  constructor({ turnMs = TURN_MS, ageMs = AGE_MS, ...bounds }: AdmissionOptions) {
    this.#turnMs = turnMs;
    this.#ageMs = ageMs;
    this.setBounds(bounds);
  }

  /** Who runs or waits already stays. */
  setBounds({ runningMax, waitingMax, timeoutMs = 0 }: AdmissionBounds): void {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
    this.#timeoutMs = timeoutMs;
    this.#serve();
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** For metrics; `refused` since the start. */
  get counts(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    const { runningCount: running, waitingCount: waiting } = this;
    return { running, waiting, refused: this.#refusedCount };
  }

  /**
   * Takes a place for `holder`, waiting for one if need be. At the deadline it resolves without a place: the search
   * has only to say so.
   *
   * @param signal  aborted when the client goes away; a waiting holder then leaves the queue
   *
   * Errors: ApiError SERVER_OVERLOADED if there is no room to wait; ClientGoneError.
   */
  async acquire(holder: string, signal: AbortSignal): Promise<Place> {
    if (signal.aborted) throw new ClientGoneError();
    const place = new Place(this, this.#shareOf(holder), signal);
    if (!this.#hasRoomFor(place.share)) {
      this.#forgetIdle(place.share);
      throw this.#overloaded();
    }
    this.#enqueue(place);
    this.#serve();
    if (this.#timeoutMs > 0) place.expireIn(this.#timeoutMs);
    await place.admitted();
    return place;
  }

  #overloaded(): ApiError {
    this.#refusedCount++;
    return new ApiError('SERVER_OVERLOADED', 'Too many searches.', { 'Retry-After': '1' });
  }

  #shareOf(holder: string): Share {
    let share = this.#shares.get(holder);
    if (share === undefined) {
      share = { holder, runningCount: 0, waiting: new Set(), restingCount: 0 };
      this.#shares.set(holder, share);
    }
    return share;
  }

  /** Places that a holder keeps while others wait. */
  get #callerMax(): number {
    return Math.max(1, Math.floor(this.#runningMax / 2));
  }

  /** Whether a new search may come; in a full queue the holder with the most in it makes room for another one. */
  #hasRoomFor(share: Share): boolean {
    if (share.restingCount >= this.#waitingMax) return false;
    if (this.#running.size < this.#runningMax || this.#waitingCount < this.#waitingMax) return true;
    let most = share;
    for (const one of this.#shares.values()) if (one.waiting.size > most.waiting.size) most = one;
    const newest = [...most.waiting].findLast((place) => place.isNew);
    if (most.waiting.size <= share.waiting.size + 1 || newest === undefined) return false;
    newest.refuse(this.#overloaded());
    return true;
  }

  #enqueue(place: Place): void {
    place.state = 'waiting';
    place.ticket = this.#nextTicket++;
    place.sinceMs = performance.now();
    place.share.waiting.add(place);
    this.#waitingCount++;
  }

  /** Takes a place out of what it is in. */
  #remove(place: Place): void {
    const { share, state } = place;
    if (state === 'over') return;
    if (state === 'running') {
      this.#running.delete(place);
      share.runningCount--;
    } else if (state === 'waiting') {
      share.waiting.delete(place);
      this.#waitingCount--;
    } else share.restingCount--;
    place.state = 'over';
  }

  #start(place: Place): void {
    this.#remove(place);
    place.state = 'running';
    place.sinceMs = performance.now();
    place.share.runningCount++;
    this.#running.add(place);
    place.onStart();
  }

  /** Gives free places away, then those of holders with too many, and of searches that have run for a turn. */
  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next);
    const nowMs = performance.now();
    for (const place of this.#running) {
      if (place.isExpired) continue;
      const isOver = nowMs - place.sinceMs >= this.#turnMs;
      if (!isOver && place.share.runningCount <= this.#callerMax) continue;
      const next = this.#next(place, isOver);
      if (next === undefined) continue;
      this.#remove(place);
      this.#enqueue(place);
      place.onStop();
      this.#start(next);
    }
    this.#watch();
  }

  /** Looks again once the first of those that run has run for a turn, as long as somebody waits. */
  #watch(): void {
    const [first] = this.#running;
    if (this.#timer !== undefined || first === undefined) return;
    if (![...this.#shares.values()].some(({ waiting }) => waiting.size > 0)) return;
    const leftMs = first.sinceMs + this.#turnMs - performance.now();
    // Why at least 5: one that nobody who waits may take the place of is looked at again and again.
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#serve();
      },
      Math.max(5, leftMs),
    ).unref();
  }

  /**
   * Who gets the next free place, or that of `leaving`; undefined: nobody.
   *
   * @param isOver  the turn of `leaving` is over: others of its holder may have the place
   */
  #next(leaving?: Place, isOver = false): Place | undefined {
    if (leaving === undefined && this.#running.size >= this.#runningMax) return undefined;
    let best: Place | undefined;
    let bestCount = Infinity;
    const oldMs = performance.now() - this.#ageMs;
    for (const share of this.#shares.values()) {
      if (share.waiting.size === 0) continue;
      const isOwn = leaving?.share === share;
      if (isOwn && !isOver) continue;
      if (leaving !== undefined && !isOwn && share.runningCount >= this.#callerMax) continue;
      const count = share.runningCount - (isOwn ? 1 : 0);
      if (count > bestCount) continue;
      const place = firstOf(share, oldMs);
      if (count === bestCount && best !== undefined && !isBefore(place, best, oldMs)) continue;
      best = place;
      bestCount = count;
    }
    return best;
  }

  /** The search does nothing until `want`: its place is free. */
  rest(place: Place): void {
    if (place.state !== 'running' && place.state !== 'waiting') return;
    const wasRunning = place.state === 'running';
    this.#remove(place);
    place.state = 'resting';
    place.share.restingCount++;
    if (wasRunning) place.onStop();
    this.#serve();
  }

  /** The search wants to go on. */
  want(place: Place): void {
    if (place.state !== 'resting') return;
    this.#remove(place);
    this.#enqueue(place);
    this.#serve();
  }

  /** The deadline is over: the search ends as soon as it can, and nobody makes it wait any more. */
  expire(place: Place): void {
    place.isExpired = true;
    if (place.state !== 'running') this.release(place);
  }

  /** The search is over. Further calls do nothing. */
  release(place: Place): void {
    if (place.state === 'over') return;
    this.#remove(place);
    this.#forgetIdle(place.share);
    this.#serve();
  }

  #forgetIdle(share: Share): void {
    const { holder, runningCount, waiting, restingCount } = share;
    if (runningCount + waiting.size + restingCount === 0) this.#shares.delete(holder);
  }
}

/** Whose turn it is of the searches of a holder; those that wait since before `oldMs` are old. */
function firstOf({ waiting }: Share, oldMs: number): Place {
  let first: Place | undefined;
  for (const place of waiting)
    if (first === undefined || isBefore(place, first, oldMs)) first = place;
  // Safety: nobody asks where nobody waits.
  return first!;
}

function isBefore(a: Place, b: Place, oldMs: number): boolean {
  const isFirstOfAll = (place: Place): boolean => place.isNew || place.sinceMs <= oldMs;
  return isFirstOfAll(a) === isFirstOfAll(b) ? a.ticket < b.ticket : isFirstOfAll(a);
}

type PlaceState = 'waiting' | 'running' | 'resting' | 'over';

/** The place of one search, from its arrival to its end. */
export class Place implements SearchPlace {
  readonly arrivedMs = performance.now();
  readonly share: Share;
  readonly holder: string;
  readonly #admission: Admission;
  readonly #signal: AbortSignal;
  state: PlaceState = 'waiting';
  /** It has not run yet. */
  isNew = true;
  ticket = 0;
  /** Since when it is in its state. */
  sinceMs = 0;
  /** Its deadline is over. */
  isExpired = false;
  #deadline: NodeJS.Timeout | undefined;
  #search: PausableSearch | undefined;
  #turn: Deferred | undefined;
  #refusal: Error | undefined;

  constructor(admission: Admission, share: Share, signal: AbortSignal) {
    this.#admission = admission;
    this.share = share;
    this.holder = share.holder;
    this.#signal = signal;
  }

  expireIn(timeoutMs: number): void {
    this.#deadline = setTimeout(() => {
      this.#admission.expire(this);
      this.#wake();
    }, timeoutMs);
  }

  /** Resolves when it runs for the first time, or at the deadline. Errors: why it never will. */
  async admitted(): Promise<void> {
    if (this.state === 'running') return;
    const leave = (): void => this.refuse(new ClientGoneError());
    this.#signal.addEventListener('abort', leave, { once: true });
    await this.turn();
    this.#signal.removeEventListener('abort', leave);
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  refuse(reason: Error): void {
    this.#refusal = reason;
    this.release();
  }

  onStart(): void {
    this.isNew = false;
    this.#wake();
    this.#search?.resume();
  }

  onStop(): void {
    this.#search?.pause();
  }

  #wake(): void {
    this.#turn?.resolve();
    this.#turn = undefined;
  }

  attach(search: PausableSearch): void {
    this.#search = search;
    if (this.state === 'waiting' || this.state === 'resting') search.pause();
  }

  turn(): Promise<void> | undefined {
    if (this.state === 'running' || this.state === 'over') return undefined;
    this.#turn ??= deferred();
    return this.#turn.promise;
  }

  rest(): void {
    this.#admission.rest(this);
  }

  want(): void {
    this.#admission.want(this);
  }

  release(): void {
    clearTimeout(this.#deadline);
    this.#admission.release(this);
    // Why: the sets that this was in may keep it until the next full collection, and with it what was found.
    this.#search = undefined;
    this.#wake();
  }
}

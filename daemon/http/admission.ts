// Admission of searches: some run, some wait, further ones are refused. Permits and places in the queue are shared
// fairly by clients. A search that has used its time slice yields to waiting ones; new searches go first, unless an
// older one has waited too long. After its deadline a search never waits again: it only reports the timeout.

import { ApiError } from '../api/shapes/api-error.ts';
import type { Cancellation } from '../base/cancellation.ts';
import { type Deferred, deferred } from '../base/deferred.ts';
import type { PausableSearch, SearchPermit } from '../base/search-permit.ts';
import { ClientGoneError } from './adapters/adapter.ts';

/** Measured 2026-11-22, 32 costly searches: a guest's p50 is 55 ms, 1,295 without slices (daemon/DECISIONS.md). */
const QUANTUM_MS = 20;
/** Bound: wait of a search that has run while new ones keep arriving. */
const AGE_MS = 250;

/** The searches of one client; deleted when there are none. */
interface Share {
  readonly clientKey: string;
  runningCount: number;
  /** In order of arrival. */
  readonly waiting: Set<Permit>;
  /** Searches whose clients do not read. */
  idleCount: number;
}

export interface AdmissionBounds {
  readonly runningMax: number;
  /** Limit for waiting searches, those that yielded included; also for the paused searches of one client. */
  readonly waitingMax: number;
  /** Deadline of a search with its waiting time; 0: none. */
  readonly timeoutMs?: number;
}

export interface AdmissionOptions extends AdmissionBounds {
  /** Time slice; default: 20. */
  readonly quantumMs?: number;
  /** A search that yielded waits at most this long for new ones; default: 250. */
  readonly ageMs?: number;
}

export class Admission {
  #runningMax = 0;
  #waitingMax = 0;
  #timeoutMs = 0;
  readonly #quantumMs: number;
  readonly #ageMs: number;
  readonly #shares = new Map<string, Share>();
  readonly #running = new Set<Permit>();
  #waitingCount = 0;
  #nextTicket = 0;
  #timer: NodeJS.Timeout | undefined;
  #refusedCount = 0;

  constructor({ quantumMs = QUANTUM_MS, ageMs = AGE_MS, ...bounds }: AdmissionOptions) {
    this.#quantumMs = quantumMs;
    this.#ageMs = ageMs;
    this.setBounds(bounds);
  }

  /** Running and waiting searches stay. */
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

  /** `refused`: since the start. */
  get counts(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    const { runningCount: running, waitingCount: waiting } = this;
    return { running, waiting, refused: this.#refusedCount };
  }

  /**
   * At the deadline it resolves without a permit, so that the search reports the timeout. Errors: SERVER_OVERLOADED if
   * the queue is full; ClientGoneError.
   */
  async acquire(clientKey: string, signal: Cancellation): Promise<Permit> {
    if (signal.aborted) throw new ClientGoneError();
    const permit = new Permit(this, this.#shareOf(clientKey), signal);
    if (!this.#canQueue(permit.share)) {
      this.#forgetIdle(permit.share);
      throw this.#overloaded();
    }
    if (this.#timeoutMs > 0) permit.deadlineMs = permit.arrivedMs + this.#timeoutMs;
    this.#enqueue(permit);
    this.#serve();
    await permit.admitted();
    return permit;
  }

  #overloaded(): ApiError {
    this.#refusedCount++;
    return new ApiError('SERVER_OVERLOADED', 'Too many searches.');
  }

  #shareOf(clientKey: string): Share {
    let share = this.#shares.get(clientKey);
    if (share === undefined) {
      share = { clientKey, runningCount: 0, waiting: new Set(), idleCount: 0 };
      this.#shares.set(clientKey, share);
    }
    return share;
  }

  /** Permits that a client keeps while others wait. */
  get #callerMax(): number {
    return Math.max(1, Math.floor(this.#runningMax / 2));
  }

  /** Whether a new search may enter; in a full queue the client with the most entries makes room for another client. */
  #canQueue(share: Share): boolean {
    if (share.idleCount >= this.#waitingMax) return false;
    if (this.#running.size < this.#runningMax || this.#waitingCount < this.#waitingMax) return true;
    let most = share;
    for (const one of this.#shares.values()) if (one.waiting.size > most.waiting.size) most = one;
    const newest = [...most.waiting].findLast((permit) => permit.isNew);
    if (most.waiting.size <= share.waiting.size + 1 || newest === undefined) return false;
    newest.refuse(this.#overloaded());
    return true;
  }

  #enqueue(permit: Permit): void {
    permit.state = 'waiting';
    permit.ticket = this.#nextTicket++;
    permit.sinceMs = performance.now();
    permit.share.waiting.add(permit);
    this.#waitingCount++;
  }

  #remove(permit: Permit): void {
    const { share, state } = permit;
    if (state === 'over') return;
    if (state === 'running') {
      this.#running.delete(permit);
      share.runningCount--;
    } else if (state === 'waiting') {
      share.waiting.delete(permit);
      this.#waitingCount--;
    } else share.idleCount--;
    permit.state = 'over';
  }

  #start(permit: Permit): void {
    this.#remove(permit);
    permit.state = 'running';
    permit.sinceMs = performance.now();
    permit.share.runningCount++;
    this.#running.add(permit);
    permit.onStart();
  }

  /** Grants free permits, then takes those of clients with too many and of searches that used up their time slice. */
  #serve(): void {
    while (this.#waitingCount > 0) {
      const next = this.#next();
      if (next === undefined) break;
      this.#start(next);
    }
    // Nearly always.
    if (this.#waitingCount === 0) return;
    const nowMs = performance.now();
    for (const permit of this.#running) {
      if (permit.isExpired) continue;
      const isOver = nowMs - permit.sinceMs >= this.#quantumMs;
      if (!isOver && permit.share.runningCount <= this.#callerMax) continue;
      const next = this.#next(permit, isOver);
      if (next === undefined) continue;
      this.#remove(permit);
      this.#enqueue(permit);
      permit.awaitDeadline();
      permit.onStop();
      this.#start(next);
    }
    this.#watch();
  }

  /** While searches wait, sets a timer for the end of the first time slice. */
  #watch(): void {
    const [first] = this.#running;
    if (this.#timer !== undefined || first === undefined) return;
    if (![...this.#shares.values()].some(({ waiting }) => waiting.size > 0)) return;
    const remainingMs = first.sinceMs + this.#quantumMs - performance.now();
    // At least 5: if no waiting search may replace the expired one, the timer fires again and again.
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#serve();
      },
      Math.max(5, remainingMs),
    ).unref();
  }

  /** `isOver`: the time slice of `leaving` is over, so other searches of its client may get the permit. */
  #next(leaving?: Permit, isOver = false): Permit | undefined {
    if (leaving === undefined && this.#running.size >= this.#runningMax) return undefined;
    let best: Permit | undefined;
    let bestCount = Infinity;
    const oldMs = performance.now() - this.#ageMs;
    for (const share of this.#shares.values()) {
      if (share.waiting.size === 0) continue;
      const isOwn = leaving?.share === share;
      if (isOwn && !isOver) continue;
      if (leaving !== undefined && !isOwn && share.runningCount >= this.#callerMax) continue;
      const count = share.runningCount - (isOwn ? 1 : 0);
      if (count > bestCount) continue;
      const permit = firstOf(share, oldMs);
      if (count === bestCount && best !== undefined && !isBefore(permit, best, oldMs)) continue;
      best = permit;
      bestCount = count;
    }
    return best;
  }

  /** Pauses a search until `want` and frees its permit. */
  rest(permit: Permit): void {
    if (permit.state !== 'running' && permit.state !== 'waiting') return;
    const wasRunning = permit.state === 'running';
    this.#remove(permit);
    permit.state = 'idle';
    permit.share.idleCount++;
    permit.awaitDeadline();
    if (wasRunning) permit.onStop();
    this.#serve();
  }

  want(permit: Permit): void {
    if (permit.state !== 'idle') return;
    this.#remove(permit);
    this.#enqueue(permit);
    this.#serve();
  }

  /** The search is over. Further calls do nothing. */
  release(permit: Permit): void {
    if (permit.state === 'over') return;
    this.#remove(permit);
    this.#forgetIdle(permit.share);
    this.#serve();
  }

  #forgetIdle(share: Share): void {
    const { clientKey, runningCount, waiting, idleCount } = share;
    if (runningCount + waiting.size + idleCount === 0) this.#shares.delete(clientKey);
  }
}

/** The next search of a client; those that wait since before `oldMs` are old. */
function firstOf({ waiting }: Share, oldMs: number): Permit {
  let first: Permit | undefined;
  for (const permit of waiting)
    if (first === undefined || isBefore(permit, first, oldMs)) first = permit;
  // Safety: called only if a search waits.
  return first!;
}

function isBefore(a: Permit, b: Permit, oldMs: number): boolean {
  const isFirstOfAll = (permit: Permit): boolean => permit.isNew || permit.sinceMs <= oldMs;
  return isFirstOfAll(a) === isFirstOfAll(b) ? a.ticket < b.ticket : isFirstOfAll(a);
}

type PermitState = 'waiting' | 'running' | 'idle' | 'over';

export class Permit implements SearchPermit {
  readonly arrivedMs = performance.now();
  readonly share: Share;
  readonly clientKey: string;
  readonly #admission: Admission;
  readonly #signal: Cancellation;
  state: PermitState = 'waiting';
  isNew = true;
  ticket = 0;
  /** When it entered its state. */
  sinceMs = 0;
  deadlineMs = Infinity;
  #deadline: NodeJS.Timeout | undefined;
  #search: PausableSearch | undefined;
  #started: Deferred | undefined;
  #refusal: Error | undefined;

  constructor(admission: Admission, share: Share, signal: Cancellation) {
    this.#admission = admission;
    this.share = share;
    this.clientKey = share.clientKey;
    this.#signal = signal;
  }

  get isExpired(): boolean {
    return performance.now() >= this.deadlineMs;
  }

  /** Sets the timer of a search that does not run. Most searches run at once, and need none. */
  awaitDeadline(): void {
    if (this.deadlineMs === Infinity) return;
    this.#deadline ??= setTimeout(() => {
      // A timer may fire a moment early.
      this.deadlineMs = 0;
      if (this.state !== 'running') this.#admission.release(this);
      this.#wake();
    }, this.deadlineMs - performance.now());
  }

  /** Resolves when it first runs, or at the deadline. Errors: why it will never run. */
  async admitted(): Promise<void> {
    if (this.state === 'running') return;
    this.awaitDeadline();
    const leave = (): void => this.refuse(new ClientGoneError());
    this.#signal.addEventListener('abort', leave, { once: true });
    await this.whenRunning();
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
    this.#started?.resolve();
    this.#started = undefined;
  }

  attach(search: PausableSearch): void {
    this.#search = search;
    if (this.state === 'waiting' || this.state === 'idle') search.pause();
  }

  whenRunning(): Promise<void> | undefined {
    if (this.state === 'running' || this.state === 'over') return undefined;
    this.#started ??= deferred();
    return this.#started.promise;
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
    // The sets that held this may keep it, with its results, until the next full collection.
    this.#search = undefined;
    this.#wake();
  }
}

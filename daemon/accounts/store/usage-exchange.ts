// How the requests of one user on one day are shared among daemons, as arithmetic on one row: what is used,
// and leases, which are numbers of requests that a daemon may admit before it reports them. Reading and
// writing the row is in usage.ts; when to ask is for daemon/accounts/limits/.
//
// Invariant: used + sizes of all live leases <= the limit that each of them was taken from, also while daemons
// know of different limits: so together they admit no more than the limit, without asking for each request.
// A lease that its daemon does not renew ends by itself, and nothing of it counts but what was reported.

/** Numbers that one daemon may admit. */
export interface UsageLease {
  /** The daemon, or rather one run of it. */
  readonly holder: string;
  /** Requests that it may admit and has not yet reported. */
  readonly size: number;
  /** That it was taken from. */
  readonly limit: number;
  /** All that it has reported since it holds this lease: a report that arrives twice counts once. */
  readonly total: number;
  /** Milliseconds since the epoch by the clock of the store. */
  readonly expiresAt: number;
}

/** The row of a user and a day. */
export interface UsageState {
  readonly used: number;
  readonly leases: readonly UsageLease[];
  /** Until then a daemon lacks numbers that others hold: nobody gets more than it needs at once. */
  readonly wantedUntil: number;
}

/** What a daemon reports and asks for, for one user. */
export interface UsageRequest {
  readonly userId: string;
  readonly holder: string;
  /** All requests that it has admitted for this user and day, since its lease began. */
  readonly total: number;
  /** The highest total that it sent before, whether an answer came or not. */
  readonly baseline: number;
  /** Requests that wait to be admitted. */
  readonly need: number;
  /** What is left of its lease and stays: it may be used while this request is on its way. */
  readonly keep: number;
  /** Further numbers that would be useful. */
  readonly want: number;
  readonly limit: number;
  /** Others may be waiting for what this request reports or gives back. */
  readonly isReturn: boolean;
  /** It has no more use for this row. */
  readonly isFinal: boolean;
}

export interface UsageAnswer {
  /** By all daemons, as far as reported, with those that are admitted now. */
  readonly used: number;
  /** How many of `need` are admitted; they count as used from here on. */
  readonly admitted: number;
  /** Requests that it may admit from here on, what it kept included. */
  readonly size: number;
  readonly leasedByOthers: number;
  /** Others lack numbers: give back what is not needed. */
  readonly isWanted: boolean;
}

/** The conditions of the store. */
export interface UsageTerms {
  readonly nowMs: number;
  /** How long a lease is live, if that is a matter of time. */
  readonly leaseMs: number;
  /** 1: a lease may take all that is left; n: an n-th of it, so that other daemons find some too. */
  readonly shareCount: number;
  readonly isLive: (lease: UsageLease) => boolean;
}

export const NO_USAGE: UsageState = { used: 0, leases: [], wantedUntil: 0 };

const WANTED_MS = 2_000;
/** How long what a daemon has reported is known after its lease ended, in case its last answer was lost. */
const MEMORY_MS = 600_000;

export interface UsageOutcome {
  readonly state: UsageState;
  readonly answer: UsageAnswer;
  /** Numbers are wanted that other daemons hold. */
  readonly isShort: boolean;
}

/** The row after a request, and the answer. */
export function exchange(
  state: UsageState,
  request: UsageRequest,
  terms: UsageTerms,
): UsageOutcome {
  const { nowMs } = terms;
  const own = state.leases.find(({ holder }) => holder === request.holder);
  const others = state.leases.filter((lease) => lease !== own && isRemembered(lease, terms));
  const held = others.filter((lease) => lease.size > 0 && terms.isLive(lease));
  const leasedByOthers = held.reduce((size, lease) => size + lease.size, 0);
  // Why: beyond a lower limit, whoever holds numbers below it could not tell that they are used up.
  const limit = Math.min(request.limit, ...held.map((lease) => lease.limit));
  // A request whose answer was lost may have counted what was then not admitted: this takes it back.
  const reported = request.total - (own?.total ?? request.baseline);
  const usedBefore = Math.max(0, state.used + reported);
  const free = Math.max(0, limit - usedBefore - leasedByOthers);
  // Why: a lease that lives was taken from what is free; one that has ended may be others' by now.
  const keep = own !== undefined && terms.isLive(own) ? request.keep : Math.min(request.keep, free);
  const left = Math.max(0, free - keep);
  const admitted = Math.min(request.need, left);
  const used = usedBefore + admitted;
  const isShort = admitted < request.need && leasedByOthers > 0 && used < request.limit;
  const wantedUntil = isShort ? nowMs + WANTED_MS : state.wantedUntil;
  const isWanted = wantedUntil > nowMs;
  const share = Math.floor((left - admitted) / terms.shareCount);
  const size = keep + (isWanted ? 0 : Math.min(request.want, share));
  const lease = {
    holder: request.holder,
    size,
    limit: request.limit,
    total: request.total + admitted,
    expiresAt: nowMs + terms.leaseMs,
  };
  return {
    state: { used, leases: request.isFinal ? others : [...others, lease], wantedUntil },
    answer: { used, admitted, size, leasedByOthers, isWanted },
    isShort,
  };
}

function isRemembered(lease: UsageLease, terms: UsageTerms): boolean {
  return terms.isLive(lease) || lease.expiresAt + MEMORY_MS > terms.nowMs;
}

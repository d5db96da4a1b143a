// Slows down guessing of passwords: after 10 failed sign-ins for one e-mail or from one address within 15
// minutes, further ones are refused until the oldest of the 10 is 15 minutes old. Counts in memory, which a
// restart empties; the number of e-mails and addresses that are remembered is bounded.
//
// An address where somebody has signed in, or uses a session, has 10 failures of its own for the e-mail of that person:
// so nobody who fails on purpose can lock others out of where they work.

import { LRUCache } from 'lru-cache';
import { entryBound } from '../base/entry-bound.ts';

const FAILURE_COUNT_MAX = 10;
const WINDOW_MS = 15 * 60_000;

/**
 * E-mails and addresses remembered, each. Bound: with 10 failures and an e-mail of 320 characters about 20 MB.
 * Whoever wants an e-mail forgotten has to fail with that many others, from a tenth as many addresses.
 */
const REMEMBERED_MAX = 20_000;

/** Longer e-mails are cut; none so long can exist. */
const NAME_LENGTH_MAX = 320;

/** What is known of one e-mail or address. */
interface Tries {
  /** Times of failures that still count, oldest first. */
  failures: number[];
  /** Sign-ins under way. */
  pendingCount: number;
}

/** Who tries. */
export interface SignInAttempt {
  readonly email: string;
  /** Of the client, as text. */
  readonly address: string;
}

/** `abandoned`: nothing was learnt of the password. */
export type SignInOutcome = 'succeeded' | 'failed' | 'abandoned';

export class SignInLimiter {
  readonly #byEmail: LRUCache<string, Tries>;
  readonly #byAddress: LRUCache<string, Tries>;
  /** By e-mail and address where that person is at home. */
  readonly #byHome: LRUCache<string, Tries>;
  /** Where sign-ins under way are counted: what is home may change meanwhile. */
  readonly #underWay = new WeakMap<SignInAttempt, readonly Tries[]>();

  constructor({ rememberedMax = REMEMBERED_MAX }: { readonly rememberedMax?: number } = {}) {
    this.#byEmail = new LRUCache(entryBound(rememberedMax));
    this.#byAddress = new LRUCache(entryBound(rememberedMax));
    this.#byHome = new LRUCache(entryBound(rememberedMax));
  }

  /** The person of this e-mail has shown at this address who it is. */
  noteHome(attempt: SignInAttempt): void {
    const key = homeKey(attempt);
    if (!this.#byHome.has(key)) this.#byHome.set(key, { failures: [], pendingCount: 0 });
  }

  /**
   * May this sign-in be tried now? If so, `end` must follow. Those under way count like failures, so that
   * many at once are no way around the limit; a refused one counts for nothing.
   *
   * @returns  0: it may; else the seconds to wait, at least 1
   */
  begin(attempt: SignInAttempt, nowMs: number): number {
    const tries = this.#triesOf(attempt, nowMs);
    const waitMs = Math.max(...tries.map((one) => waitOf(one, nowMs)));
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    for (const one of tries) one.pendingCount++;
    this.#underWay.set(attempt, tries);
    return 0;
  }

  /** @param attempt  the same object that `begin` admitted */
  end(attempt: SignInAttempt, outcome: SignInOutcome, nowMs: number): void {
    const tries = this.#underWay.get(attempt) ?? [];
    for (const one of tries) {
      one.pendingCount = Math.max(0, one.pendingCount - 1);
      if (outcome === 'failed') one.failures.push(nowMs);
    }
    if (outcome !== 'succeeded') return;
    // Why not those of the address: whoever has an account could clear it for guesses at other ones.
    const [first] = tries;
    if (first !== undefined) first.failures = [];
    this.noteHome(attempt);
  }

  /** The first is that of the e-mail. */
  #triesOf(attempt: SignInAttempt, nowMs: number): Tries[] {
    const home = homeKey(attempt);
    if (this.#byHome.has(home)) return [recent(this.#byHome, home, nowMs)];
    const ofEmail = recent(this.#byEmail, nameOf(attempt), nowMs);
    return [ofEmail, recent(this.#byAddress, attempt.address, nowMs)];
  }
}

function nameOf({ email }: SignInAttempt): string {
  return email.trim().toLowerCase().slice(0, NAME_LENGTH_MAX);
}

function homeKey(attempt: SignInAttempt): string {
  return `${attempt.address} ${nameOf(attempt)}`;
}

/** What is remembered of `key`, without failures that no longer count. */
function recent(table: LRUCache<string, Tries>, key: string, nowMs: number): Tries {
  const tries = table.get(key) ?? { failures: [], pendingCount: 0 };
  // Why min: after the clock was set back nobody is to wait for longer than the window.
  tries.failures = tries.failures
    .map((timeMs) => Math.min(timeMs, nowMs))
    .filter((timeMs) => timeMs + WINDOW_MS > nowMs);
  table.set(key, tries);
  return tries;
}

/** Milliseconds until one more may be tried. */
function waitOf({ failures, pendingCount }: Tries, nowMs: number): number {
  const oldest = failures.at(-FAILURE_COUNT_MAX);
  if (oldest !== undefined) return oldest + WINDOW_MS - nowMs;
  return failures.length + pendingCount >= FAILURE_COUNT_MAX ? 1000 : 0;
}

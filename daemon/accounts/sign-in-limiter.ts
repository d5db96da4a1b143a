// Slows down password guessing: after 10 failed sign-ins for one e-mail or from one address within 15 minutes, further ones
// are refused until the oldest of the 10 is 15 minutes old. Counts are in memory, lost at a restart; the number of
// remembered e-mails and addresses is limited.
//
// A known address is one where the person with an e-mail has signed in, or uses a session. It has its own 10 failures for
// that e-mail, so that failures from elsewhere cannot lock the person out there.

import { LRUCache } from 'lru-cache';
import { entryBound } from '../base/entry-bound.ts';

const FAILURE_COUNT_MAX = 10;
const WINDOW_MS = 15 * 60_000;

/**
 * E-mails and addresses remembered, each. Bound: with 10 failures and an e-mail of 320 characters about 20 MB. To make it
 * forget an e-mail, an attacker must fail with that many others, from a tenth as many addresses.
 */
const REMEMBERED_MAX = 20_000;

interface Tries {
  /** Times of failures that still count, oldest first. */
  failures: number[];
  pendingCount: number;
}

export interface SignInAttempt {
  readonly email: string;
  readonly address: string;
}

/** `abandoned`: the password was not checked. */
export type SignInOutcome = 'succeeded' | 'failed' | 'abandoned';

export class SignInLimiter {
  readonly #byEmail: LRUCache<string, Tries>;
  readonly #byAddress: LRUCache<string, Tries>;
  /** By known address and e-mail. */
  readonly #byKnownAddress: LRUCache<string, Tries>;
  /** The counts that include a running sign-in. Why: an address may become known before it ends. */
  readonly #inFlight = new WeakMap<SignInAttempt, readonly Tries[]>();

  constructor({ rememberedMax = REMEMBERED_MAX }: { readonly rememberedMax?: number } = {}) {
    this.#byEmail = new LRUCache(entryBound(rememberedMax));
    this.#byAddress = new LRUCache(entryBound(rememberedMax));
    this.#byKnownAddress = new LRUCache(entryBound(rememberedMax));
  }

  /** The person with this e-mail has been authenticated at this address. */
  noteKnownAddress(attempt: SignInAttempt): void {
    const key = knownAddressKey(attempt);
    if (!this.#byKnownAddress.has(key))
      this.#byKnownAddress.set(key, { failures: [], pendingCount: 0 });
  }

  /**
   * Whether this sign-in may be tried now. If so, `end` must follow. Running ones count like failures, so that concurrency
   * is no way around the limit; refused ones do not count.
   *
   * @returns  0: allowed; else the seconds to wait, at least 1
   */
  begin(attempt: SignInAttempt, nowMs: number): number {
    const tries = this.#triesOf(attempt, nowMs);
    const waitMs = Math.max(...tries.map((one) => waitOf(one, nowMs)));
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    for (const one of tries) one.pendingCount++;
    this.#inFlight.set(attempt, tries);
    return 0;
  }

  /** @param attempt  the same object that `begin` admitted */
  end(attempt: SignInAttempt, outcome: SignInOutcome, nowMs: number): void {
    const tries = this.#inFlight.get(attempt) ?? [];
    for (const one of tries) {
      one.pendingCount = Math.max(0, one.pendingCount - 1);
      if (outcome === 'failed') one.failures.push(nowMs);
    }
    if (outcome !== 'succeeded') return;
    // Why not the failures of the address: an account's owner could clear them to guess other passwords.
    const [first] = tries;
    if (first !== undefined) first.failures = [];
    this.noteKnownAddress(attempt);
  }

  /** The counts that apply to an attempt; the first one is that of its e-mail. */
  #triesOf(attempt: SignInAttempt, nowMs: number): Tries[] {
    const known = knownAddressKey(attempt);
    if (this.#byKnownAddress.has(known)) return [recent(this.#byKnownAddress, known, nowMs)];
    const ofEmail = recent(this.#byEmail, nameOf(attempt), nowMs);
    return [ofEmail, recent(this.#byAddress, attempt.address, nowMs)];
  }
}

function nameOf({ email }: SignInAttempt): string {
  // No longer e-mail can exist.
  return email.trim().toLowerCase().slice(0, 320);
}

function knownAddressKey(attempt: SignInAttempt): string {
  return `${attempt.address} ${nameOf(attempt)}`;
}

/** Attempts of `key`, without failures that no longer count. */
function recent(table: LRUCache<string, Tries>, key: string, nowMs: number): Tries {
  const tries = table.get(key) ?? { failures: [], pendingCount: 0 };
  // Why min: after the clock was set back nobody may wait longer than the window.
  tries.failures = tries.failures
    .map((timeMs) => Math.min(timeMs, nowMs))
    .filter((timeMs) => timeMs + WINDOW_MS > nowMs);
  table.set(key, tries);
  return tries;
}

/** Milliseconds until the next attempt is allowed. */
function waitOf({ failures, pendingCount }: Tries, nowMs: number): number {
  const oldest = failures.at(-FAILURE_COUNT_MAX);
  if (oldest !== undefined) return oldest + WINDOW_MS - nowMs;
  return failures.length + pendingCount >= FAILURE_COUNT_MAX ? 1000 : 0;
}

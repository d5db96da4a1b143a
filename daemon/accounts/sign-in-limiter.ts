// Slows down guessing of passwords: after 10 failed sign-ins for one e-mail or from one address within 15
// minutes, further ones are refused until the oldest of the 10 is 15 minutes old. Counts in memory, which a
// restart empties; the number of e-mails and addresses that are remembered is bounded.

import { LRUCache } from 'lru-cache';

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

  constructor({ rememberedMax = REMEMBERED_MAX }: { readonly rememberedMax?: number } = {}) {
    this.#byEmail = new LRUCache({ max: rememberedMax });
    this.#byAddress = new LRUCache({ max: rememberedMax });
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
    return 0;
  }

  /** The end of a sign-in that `begin` admitted. */
  end(attempt: SignInAttempt, outcome: SignInOutcome, nowMs: number): void {
    const [ofEmail, ofAddress] = this.#triesOf(attempt, nowMs);
    for (const one of [ofEmail, ofAddress]) {
      one.pendingCount = Math.max(0, one.pendingCount - 1);
      if (outcome === 'failed') one.failures.push(nowMs);
    }
    // Why not those of the address: whoever has an account could clear it for guesses at other ones.
    if (outcome === 'succeeded') ofEmail.failures = [];
  }

  #triesOf({ email, address }: SignInAttempt, nowMs: number): [Tries, Tries] {
    const key = email.trim().toLowerCase().slice(0, NAME_LENGTH_MAX);
    return [recent(this.#byEmail, key, nowMs), recent(this.#byAddress, address, nowMs)];
  }
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

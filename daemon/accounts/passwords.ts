// Passwords: length rules, hashing (argon2id) and verification. A hash takes ten milliseconds of a core and 19 MiB, so only
// a few run at a time and few more wait: sign-ins cannot starve searches. sign-in-limiter.ts limits attempts.

import { availableParallelism } from 'node:os';
import { Slots } from '../base/slots.ts';
import { AccountError } from './error.ts';

export const PASSWORD_LENGTH_MIN = 8; // characters (code points)
export const PASSWORD_LENGTH_MAX = 256;

/**
 * Parameters of OWASP's password storage cheat sheet for argon2id; a hash contains its parameters, so that hashes made with
 * others stay valid.
 * Measured: 2026-11-21, 2 cores: 8 ms a hash (p99 18).
 */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }; // KiB, passes, lanes; id is the default

/** A hash with these parameters of random bytes, which no known password matches. */
export const NOBODY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$z1lDlbLHVEYjQ9csjj/VCw$Px3kxZMJrYXuKXl8OqQN8MrjIhc+KHf0bhqbA2eb1kQ';

/** Hashes at a time: half of the cores, as the rest is for searches. */
const RUNNING_MAX = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));

/** Loaded on first use: that takes 6 ms of a start, and many daemons have no passwords. */
const argon2 = () => import('@node-rs/argon2');

export function isPasswordAllowed(password: string): boolean {
  if (password.length > PASSWORD_LENGTH_MAX * 2) return false;
  const length = Array.from(normalized(password)).length;
  return length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX;
}

function newQueue(runningMax: number, waitingMax: number): Slots {
  const text = 'too many sign-ins at once; try again in a second';
  return new Slots({
    runningMax,
    waitingMax,
    busyError: () => new AccountError('SERVER_OVERLOADED', text, 1),
  });
}

/** Hashes and verifies passwords with a queue. One for the whole daemon. */
export class Passwords {
  readonly #checks: Slots;
  /** New passwords are few and have their own queue, so that they do not delay sign-ins. */
  readonly #makes = newQueue(1, 8);

  /** With one at a time the last of 32 waits about a second. */
  constructor({ runningMax = RUNNING_MAX, waitingMax = 32 } = {}) {
    this.#checks = newQueue(runningMax, waitingMax);
  }

  /**
   * The stored form of an allowed password: an argon2id text with its own salt.
   * Errors: RangeError if the length is not allowed; SERVER_OVERLOADED.
   */
  async hash(password: string): Promise<string> {
    if (!isPasswordAllowed(password)) {
      throw new RangeError(
        `a password has ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
      );
    }
    return this.#makes.run('', undefined, async () =>
      (await argon2()).hash(normalized(password), ARGON2ID),
    );
  }

  /**
   * Whether the password matches.
   *
   * @param kept  the stored text; null or undefined: there is no such user or no password. The answer
   * is then false, in the time that a wrong password takes.
   * Errors: SERVER_OVERLOADED; throws if `kept` is no argon2 text.
   */
  async verify(kept: string | null | undefined, password: string): Promise<boolean> {
    const candidate = normalized(password.slice(0, PASSWORD_LENGTH_MAX * 2 + 1));
    const fits = await this.#checks.run('', undefined, async () =>
      (await argon2()).verify(kept ?? NOBODY_HASH, candidate),
    );
    return fits && kept !== null && kept !== undefined && isPasswordAllowed(password);
  }
}

/** Why: keyboards differ in whether an accented letter is one character or two. */
function normalized(password: string): string {
  return password.normalize('NFC');
}

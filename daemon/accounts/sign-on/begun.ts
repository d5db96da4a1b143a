// A pending sign-on, stored in the browser's cookie: sealed under the instance secret, so that nobody else can create or
// read one, and this daemon stores nothing for it. It is valid once, for ten minutes, and only together with the state that
// went to the issuer and back.

import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { BEGUN_SECONDS } from './begun-life.ts';
import type { Challenge } from './way-back.ts';

export interface Begun extends Challenge {
  /** Id in the configuration. */
  readonly provider: string;
  /** Our path to continue at. */
  readonly returnTo: string;
}

const begunSchema = z.object({
  provider: z.string(),
  returnTo: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
});

/** Bound: those that returned within ten minutes; a hundred bytes each. */
const USED_MAX = 50_000;

export class BegunSignOns {
  readonly #key: Uint8Array;
  readonly #now: () => number;
  readonly #used = new LRUCache<string, true>({ max: USED_MAX, ttl: 2 * BEGUN_SECONDS * 1000 });

  constructor(secret: Buffer, now: () => number) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'trawl sign-on', 32));
    this.#now = now;
  }

  /** For the cookie. */
  seal({ provider, returnTo, state, nonce, verifier }: Begun): Promise<string> {
    return new EncryptJWT({ provider, returnTo, state, nonce, verifier })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(this.#now() / 1000) + BEGUN_SECONDS)
      .encrypt(this.#key);
  }

  /** Opens and consumes a cookie's value; undefined: not ours, of another provider or state, expired or used. */
  async take(
    sealed: string | undefined,
    provider: string,
    state: string | null,
  ): Promise<Begun | undefined> {
    if (sealed === undefined || state === null) return undefined;
    const begun = await this.#unseal(sealed);
    if (begun === undefined || begun.provider !== provider || begun.state !== state)
      return undefined;
    if (this.#used.has(state)) return undefined;
    this.#used.set(state, true);
    return begun;
  }

  async #unseal(sealed: string): Promise<Begun | undefined> {
    try {
      const { payload } = await jwtDecrypt(sealed, this.#key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: new Date(this.#now()),
      });
      return begunSchema.parse(payload);
    } catch {
      return undefined;
    }
  }
}

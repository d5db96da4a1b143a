// A pending sign-on, stored in the browser's cookie: sealed under the instance secret, so that nobody else can create or
// read one, and this daemon stores nothing for it. It is valid once, for ten minutes, and only together with the state that
// went to the issuer and back.

import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { PENDING_SECONDS } from './return-path.ts';

const pendingSchema = z.object({
  /** Id in the configuration. */
  provider: z.string(),
  /** Our path to continue at. */
  returnTo: z.string(),
  /** Those of a Challenge. */
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
});

export type PendingSignOn = Readonly<z.infer<typeof pendingSchema>>;

export class PendingSignOns {
  readonly #key: Uint8Array;
  readonly #now: () => number;
  /** States of those that returned; a hundred bytes each. */
  readonly #used = new LRUCache<string, true>({ max: 50_000, ttl: 2 * PENDING_SECONDS * 1000 });

  constructor(secret: Buffer, now: () => number) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'trawl sign-on', 32));
    this.#now = now;
  }

  seal(pending: PendingSignOn): Promise<string> {
    return new EncryptJWT({ ...pending })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(this.#now() / 1000) + PENDING_SECONDS)
      .encrypt(this.#key);
  }

  /** Opens and consumes a cookie's value; undefined: not ours, of another provider or state, expired or used. */
  async take(
    sealed: string | undefined,
    provider: string,
    state: string | null,
  ): Promise<PendingSignOn | undefined> {
    if (sealed === undefined || state === null) return undefined;
    const pending = await this.#unseal(sealed);
    if (pending === undefined || pending.provider !== provider || pending.state !== state)
      return undefined;
    if (this.#used.has(state)) return undefined;
    this.#used.set(state, true);
    return pending;
  }

  async #unseal(sealed: string): Promise<PendingSignOn | undefined> {
    try {
      const { payload } = await jwtDecrypt(sealed, this.#key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: new Date(this.#now()),
      });
      return pendingSchema.parse(payload);
    } catch {
      return undefined;
    }
  }
}

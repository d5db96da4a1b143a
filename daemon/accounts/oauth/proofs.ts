// Whether a valid access token may be used for a request: its resource, and its key. A DPoP proof (RFC 9449) shows that the
// sender has the key: a signed statement about one request, valid once and for a minute. The library checks signatures.
//
// Used ids are kept in memory: a restarted daemon, or another one on the same store, does not know them.

import { createHash } from 'node:crypto';
import { OAuthError } from './error.ts';
import { isForPath } from './resources.ts';

/** Tolerance for a client's clock, and maximum age of a proof. */
const SKEW_MS = 60_000;
/** Bound: ids of two minutes, 200 bytes each. */
const USED_MAX = 100_000;

export interface ProvenRequest {
  readonly method: string;
  /** Of this daemon. */
  readonly origins: readonly string[];
  /** Including that of the base URL. */
  readonly path: string;
}

interface Claims {
  readonly jti?: unknown;
  readonly htm?: unknown;
  readonly htu?: unknown;
  readonly iat?: unknown;
  readonly ath?: unknown;
}

/** Why not with the rest: a start does not need it. */
const loadJose = () => import('jose');

export class Proofs {
  readonly #now: () => number;
  /** Expiry by id, in order. */
  readonly #used = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Checks a proof and consumes it.
   *
   * @param token    that the proof is bound to; absent: the request asks for one
   * @param keyHash  of the key that must have signed it; absent: any
   * @returns        the thumbprint of the key
   * Errors: OAuthError invalid_dpop_proof.
   */
  async check(
    proof: string,
    request: ProvenRequest,
    { token, keyHash }: { readonly token?: string; readonly keyHash?: string } = {},
  ): Promise<string> {
    const { claims, thumbprint } = await this.#read(proof);
    const isSameRequest =
      isAbout(claims, request) && (token === undefined || claims.ath === hash(token));
    if (!isSameRequest) throw refused('it is about another request');
    if (typeof claims.iat !== 'number' || Math.abs(this.#now() - claims.iat * 1000) > SKEW_MS)
      throw refused('it is too old, or dated in the future');
    if (keyHash !== undefined && thumbprint !== keyHash) throw refused('another key has signed it');
    const { jti } = claims;
    if (typeof jti !== 'string' || jti === '' || jti.length > 256) throw refused('it has no id');
    this.#use(hash(`${thumbprint} ${jti}`));
    return thumbprint;
  }

  async #read(proof: string): Promise<{ claims: Claims; thumbprint: string }> {
    if (proof.length > 4096) throw refused('it is too long');
    const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await loadJose();
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        algorithms: ['ES256'],
        typ: 'dpop+jwt',
        currentDate: new Date(this.#now()),
      });
      const { jwk } = protectedHeader;
      if (jwk === undefined) throw refused('it has no key');
      return { claims: payload, thumbprint: await calculateJwkThumbprint(jwk) };
    } catch (error) {
      if (error instanceof OAuthError) throw error;
      throw refused('it is malformed, or its signature is wrong');
    }
  }

  /** Errors: OAuthError if the id was used, or the table is full. */
  #use(id: string): void {
    const nowMs = this.#now();
    for (const [old, endMs] of this.#used) {
      if (endMs > nowMs) break;
      this.#used.delete(old);
    }
    if (this.#used.has(id)) throw refused('it was used before');
    if (this.#used.size >= USED_MAX) throw refused('too many come at once');
    // A proof dated in the future is valid for that much longer.
    this.#used.set(id, nowMs + 2 * SKEW_MS + 1000);
  }
}

function refused(reason: string): OAuthError {
  return new OAuthError('invalid_dpop_proof', `DPoP proof: ${reason}`);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isAbout({ htm, htu }: Claims, { method, origins, path }: ProvenRequest): boolean {
  if (htm !== method || typeof htu !== 'string' || !URL.canParse(htu)) return false;
  const { origin, pathname } = new URL(htu);
  return origins.includes(origin) && pathname === new URL(path, origin).pathname;
}

export interface TokenBounds {
  readonly resource: string;
  /** Thumbprint of its key; null: not bound to a key. */
  readonly keyHash: string | null;
}

export interface PresentedToken {
  readonly value: string;
  readonly scheme: 'bearer' | 'dpop';
  /** Of the header `DPoP`. */
  readonly proof: string | undefined;
  readonly request: ProvenRequest;
}

/** A test of a token's bounds that may be called repeatedly; a request's proof is checked once. */
export function tokenUse(
  proofs: Proofs,
  presented: PresentedToken,
  baseUrl: string,
): (bounds: TokenBounds) => boolean | Promise<boolean> {
  let isProven: Promise<boolean> | undefined;
  return ({ resource, keyHash }) => {
    if (!isForPath(resource, presented.request.path, baseUrl)) return false;
    if (keyHash === null) return presented.scheme === 'bearer';
    if (presented.scheme !== 'dpop') return false;
    isProven ??= prove(proofs, presented, keyHash);
    return isProven;
  };
}

async function prove(
  proofs: Proofs,
  { proof, request, value }: PresentedToken,
  keyHash: string,
): Promise<boolean> {
  if (proof === undefined) return false;
  try {
    await proofs.check(proof, request, { token: value, keyHash });
    return true;
  } catch {
    // No answer reveals why a credential is refused.
    return false;
  }
}

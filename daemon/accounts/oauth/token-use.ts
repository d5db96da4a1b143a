// Whether a valid access token may be used for a request: checks its resource and its key.

import type { Proofs, ProvenRequest } from './proofs.ts';
import { isForPath } from './resources.ts';

export interface TokenBounds {
  readonly resource: string;
  /** Thumbprint of its key; null: not bound to a key. */
  readonly keyHash: string | null;
}

/** A token as presented by a request. */
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

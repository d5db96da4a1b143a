// Whether a good access token may be used as a request uses it: where it is meant for, and by whom it is held.

import type { Proofs, ProvenRequest } from './proofs.ts';
import { isForPath } from './resources.ts';

/** What an access token is bound to. */
export interface TokenBounds {
  readonly resource: string;
  /** Thumbprint of its key; null: whoever has it may use it. */
  readonly keyHash: string | null;
}

/** A token as a request presents it. */
export interface ShownToken {
  readonly value: string;
  readonly scheme: 'bearer' | 'dpop';
  /** Of the header `DPoP`. */
  readonly proof: string | undefined;
  readonly request: ProvenRequest;
}

/** Tells it for the bounds of the token, as often as is asked; the proof of a request is looked at once. */
export function tokenUse(
  proofs: Proofs,
  shown: ShownToken,
  baseUrl: string,
): (bounds: TokenBounds) => boolean | Promise<boolean> {
  let isProven: Promise<boolean> | undefined;
  return ({ resource, keyHash }) => {
    if (!isForPath(resource, shown.request.path, baseUrl)) return false;
    if (keyHash === null) return shown.scheme === 'bearer';
    if (shown.scheme !== 'dpop') return false;
    isProven ??= prove(proofs, shown, keyHash);
    return isProven;
  };
}

async function prove(
  proofs: Proofs,
  { proof, request, value }: ShownToken,
  keyHash: string,
): Promise<boolean> {
  if (proof === undefined) return false;
  try {
    await proofs.check(proof, request, { token: value, keyHash });
    return true;
  } catch {
    // No answer tells why a credential is none.
    return false;
  }
}

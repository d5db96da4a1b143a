// PKCE (RFC 7636), S256 only: the client that redeems a code presents the preimage of the challenge sent with the request.

import { createHash } from 'node:crypto';
import { OAuthError } from './error.ts';
import type { Parameters } from './parameters.ts';

/** SHA-256 as base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** The challenge of a request. Errors: OAuthError invalid_request if it is missing, or uses another method. */
export function challengeOf(parameters: Parameters): string {
  const challenge = parameters.require('code_challenge');
  if (parameters.get('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'code_challenge_method: expected S256');
  if (!CHALLENGE.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge: expected 43 characters of base64url');
  return challenge;
}

export function isVerified(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

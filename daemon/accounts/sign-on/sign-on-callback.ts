// Common to all kinds of providers: binding the return to its start, and exchanging the code for tokens. openid-client
// implements the protocol.

import * as client from 'openid-client';
import { messageOf } from '../../base/caught.ts';
import { readSecretSource, type SecretSource } from '../../base/config/secret-source.ts';
import type { Environment } from '../../base/config/dispatcher.ts';
import { SignOnRefusal } from './refusals.ts';

/** Binds a return to its start. */
export interface Challenge {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export function newChallenge(): Challenge {
  return {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  };
}

export type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

/** Error codes for an expired or used code: that of RFC 6749, and GitHub's. */
const STALE_CODES = new Set(['invalid_grant', 'bad_verification_code']);

/** @param url  the redirect address, with the provider's parameters. Errors: SignOnRefusal. */
export async function exchangeCode(
  configuration: client.Configuration,
  url: URL,
  checks: client.AuthorizationCodeGrantChecks,
): Promise<Tokens> {
  try {
    return await client.authorizationCodeGrant(configuration, url, checks);
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError)
      throw new SignOnRefusal('declined', error);
    if (error instanceof client.ResponseBodyError)
      throw new SignOnRefusal(STALE_CODES.has(error.error) ? 'stale' : 'invalid', error);
    throw new SignOnRefusal(isOfNetwork(error) ? 'unreachable' : 'invalid', error);
  }
}

/** The provider gave no answer, or an unrelated one. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof client.ClientError)) return false;
  return error.code === undefined || error.code === 'OAUTH_TIMEOUT';
}

/** Current: it may have been replaced. Errors: SignOnRefusal if it is missing. */
export function secretNow(source: SecretSource, env: Environment): string {
  try {
    return readSecretSource(source, env).reveal();
  } catch (error) {
    throw new SignOnRefusal('unreachable', error);
  }
}

/** The chain of causes: the library's own message is "something went wrong". */
export function causesOf(error: unknown): string {
  const texts = [messageOf(error)];
  for (let at = error; at instanceof Error && at.cause instanceof Error; at = at.cause)
    texts.push(messageOf(at.cause));
  return texts.join(': ');
}

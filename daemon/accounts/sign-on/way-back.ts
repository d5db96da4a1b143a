// What providers of every kind have in common: what binds the way back to the way there, and tokens for the code that comes
// back. openid-client holds the protocol.

import * as client from 'openid-client';
import { messageOf } from '../../base/caught.ts';
import { readSecretSource, type SecretSource } from '../../base/config/secret-source.ts';
import type { Environment } from '../../base/config/way.ts';
import { SignOnRefusal } from './refusals.ts';

/** What binds the way back to the way there. */
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

/** What says that a code is too old or was used: the word of RFC 6749, and GitHub's. */
const STALE_CODES = new Set(['invalid_grant', 'bad_verification_code']);

/** @param url  the redirect address, with what the provider added. Errors: SignOnRefusal. */
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

/** No answer of the provider, or none that has to do with what was asked. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof client.ClientError)) return false;
  return error.code === undefined || error.code === 'OAUTH_TIMEOUT';
}

/** Of this moment: it may have been exchanged. Errors: SignOnRefusal, where there is none. */
export function secretNow(source: SecretSource, env: Environment): string {
  try {
    return readSecretSource(source, env).reveal();
  } catch (error) {
    throw new SignOnRefusal('unreachable', error);
  }
}

/** What went wrong, down to the first cause: the library's own words are "something went wrong". */
export function causesOf(error: unknown): string {
  const texts = [messageOf(error)];
  for (let at = error; at instanceof Error && at.cause instanceof Error; at = at.cause)
    texts.push(messageOf(at.cause));
  return texts.join(': ');
}

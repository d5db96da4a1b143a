// Addresses of the OAuth endpoints, and the header that tells callers where to get a token.

import { TOOL_SERVER_PATH } from '../../accounts/oauth/resources.ts';

export const SERVER_PATH = '/.well-known/oauth-authorization-server';
export const RESOURCE_PATH = `/.well-known/oauth-protected-resource${TOOL_SERVER_PATH}`;
export const AUTHORIZE_PATH = '/oauth/authorize';
export const TOKEN_PATH = '/api/ee/oauth/token';
export const REGISTER_PATH = '/api/ee/oauth/register';
export const REVOKE_PATH = '/api/ee/oauth/revoke';

/** For anonymous callers of the tool server (API.md 17.1). */
export function toolServerChallenge(baseUrl: string): string {
  const where = `resource_metadata="${baseUrl}${RESOURCE_PATH}"`;
  return `Bearer ${where}, DPoP ${where}, algs="ES256"`;
}

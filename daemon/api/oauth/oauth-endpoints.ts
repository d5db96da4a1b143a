// The OAuth endpoints for tool clients (RFC 8414, RFC 9728; API.md 16).

import { z } from 'zod';
import { OAuthError } from '../../accounts/oauth/error.ts';
import { Parameters } from '../../accounts/oauth/parameters.ts';
import { TOOL_SERVER_PATH } from '../../accounts/oauth/resources.ts';
import { ApiError } from '../shapes/api-error.ts';
import { type CallContext, type Endpoint, endpoint } from '../shapes/endpoint.ts';
import { ownOrigins } from '../shapes/own-origins.ts';
import {
  AUTHORIZE_PATH,
  REGISTER_PATH,
  RESOURCE_PATH,
  REVOKE_PATH,
  SERVER_PATH,
  TOKEN_PATH,
} from './addresses.ts';
import { authorize } from './authorize-endpoint.ts';
import { count, json, oauthEndpoint, readText } from './oauth-answers.ts';

/** A metadata document; without the entitlement it does not exist, so clients conclude that there is no OAuth. */
function metadata(path: string, valueOf: (baseUrl: string) => object): Endpoint {
  return endpoint(
    {
      method: 'GET',
      path,
      access: 'none',
      isDescribed: false,
      responses: { 200: { body: z.unknown() } },
    },
    (_, { accounts, baseUrl }) => {
      if (!accounts.isEntitled('oauth')) throw new ApiError('NOT_FOUND', 'Not found.');
      return json(200, valueOf(baseUrl));
    },
  );
}

const getServer = metadata(SERVER_PATH, (baseUrl) => ({
  issuer: baseUrl,
  authorization_endpoint: baseUrl + AUTHORIZE_PATH,
  token_endpoint: baseUrl + TOKEN_PATH,
  registration_endpoint: baseUrl + REGISTER_PATH,
  revocation_endpoint: baseUrl + REVOKE_PATH,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  dpop_signing_alg_values_supported: ['ES256'],
  authorization_response_iss_parameter_supported: true,
}));

const getResource = metadata(RESOURCE_PATH, (baseUrl) => ({
  resource: baseUrl + TOOL_SERVER_PATH,
  authorization_servers: [baseUrl],
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: ['ES256'],
}));

function register(path: string): Endpoint {
  return oauthEndpoint(
    { method: 'POST', path, status: 201, requiresSameOrigin: true },
    async (context) => {
      count(context);
      const { accounts, address, clientKey } = context;
      const said = parseJson(await readText(context));
      return json(201, await accounts.oauth.clients.register(said, address, clientKey));
    },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OAuthError('invalid_request', 'body: not valid JSON');
  }
}

async function readForm(context: CallContext): Promise<Parameters> {
  return new Parameters(new URLSearchParams(await readText(context)));
}

const giveTokens = oauthEndpoint(
  { method: 'POST', path: TOKEN_PATH, requiresSameOrigin: true },
  async (context) => {
    const { headers, url } = context.fetchRequest();
    const proof = {
      value: headers.get('dpop') ?? undefined,
      request: {
        method: 'POST',
        path: new URL(url).pathname,
        origins: ownOrigins(context.baseUrl, headers.get('host') ?? undefined),
      },
    };
    const { tokens } = context.accounts.oauth;
    const form = await readForm(context);
    count(context, await tokens.userOf(form));
    return json(200, await tokens.give(form, proof), { Pragma: 'no-cache' });
  },
);

const revokeToken = oauthEndpoint(
  { method: 'POST', path: REVOKE_PATH, requiresSameOrigin: true },
  async (context) => {
    const { tokens } = context.accounts.oauth;
    const form = await readForm(context);
    count(context, await tokens.userOf(form));
    await tokens.revoke(form);
    return json(200, {});
  },
);

export const OAUTH_ENDPOINTS: readonly Endpoint[] = [
  getServer,
  getResource,
  register(REGISTER_PATH),
  register('/register'),
  authorize,
  giveTokens,
  revokeToken,
];

// The OAuth endpoints for tool clients (RFC 8414, RFC 9728; API.md 16).

import { z } from 'zod';
import { OAuthError } from '../../accounts/oauth/error.ts';
import { Parameters } from '../../accounts/oauth/parameters.ts';
import { TOOL_SERVER_PATH } from '../../accounts/oauth/resources.ts';
import { ApiError } from '../shapes/api-error.ts';
import { type CallContext, type Endpoint, endpoint, type Answer } from '../shapes/endpoint.ts';
import { ownOrigins } from '../shapes/own-origins.ts';
import {
  AUTHORIZE_PATH,
  REGISTER_PATH,
  RESOURCE_PATH,
  REVOKE_PATH,
  SERVER_PATH,
  TOKEN_PATH,
} from './addresses.ts';
import { count, json, oauthEndpoint, readText } from './oauth-answers.ts';
import type { RequestedConsent } from '../../accounts/oauth/consents.ts';
import { answerAlonePage } from '../page/page-endpoints.ts';

const REQUEST_PARAMETER = 'request';

/**
 * Stores a valid request for the signed-in user and redirects to the page that shows it. Errors are shown here: before the
 * user has answered, nobody is redirected to an address that a client chose.
 */
const authorize = oauthEndpoint(
  { method: 'GET', path: AUTHORIZE_PATH, usesOptionalCredential: true, refuse: forPeople },
  async (context) => {
    count(context);
    const { search, searchParams } = new URL(context.fetchRequest().url);
    if (searchParams.has(REQUEST_PARAMETER)) return answerAlonePage(200, context);
    const requested = await context.accounts.oauth.consents.read(new Parameters(searchParams));
    return await goOn(context, requested, search);
  },
);

async function goOn(
  context: CallContext,
  requested: RequestedConsent,
  search: string,
): Promise<Answer> {
  const { accounts, baseUrl, caller } = context;
  if (caller?.source !== 'session' || caller.person === undefined) {
    const query = new URLSearchParams({ return: AUTHORIZE_PATH + search });
    return goTo(`${baseUrl}/login?${query.toString()}`);
  }
  const id = await accounts.oauth.consents.addRequest(requested, caller.person.id);
  return goTo(`${baseUrl}${AUTHORIZE_PATH}?${REQUEST_PARAMETER}=${id}`);
}

function goTo(address: string): Answer {
  return {
    status: 303,
    headers: { Location: address, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
    content: { nothing: true },
  };
}

/** People get the page, which fetches the error itself; programs get the error. */
function forPeople(refusal: Answer, context: CallContext): Answer {
  const accept = context.fetchRequest().headers.get('accept');
  return accept?.includes('text/html') === true
    ? answerAlonePage(refusal.status, context)
    : refusal;
}

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
    return json(200, await tokens.issue(form, proof), { Pragma: 'no-cache' });
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

// OAuth against a real daemon with independent clients: the official client of the tool protocol, which discovers the
// server, and a generic one that follows the standards, with DPoP. The user is a headless browser that authorizes.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import * as oauth from 'oauth4webapi';
import { licenceEnvironment } from '../accounts/licences.ts';
import { callTool } from '../api/mcp/tool-client.ts';
import { commitAll, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { type Served, serveIndexed } from './daemon.ts';

const OWNER = { email: 'owner@example.com', password: 'correct horse battery' };
const REDIRECT = 'http://127.0.0.1:33418/callback';
/** Seconds that access tokens of this daemon are good for. */
const TTL = 6;

let served: Served;
let cookie: string;

before(async () => {
  const repo = makeRepo({ 'plum.c': 'int plum_count;\n' });
  commitAll(repo);
  const config = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(config, JSON.stringify({ settings: { oauth: { accessTokenTtlSeconds: TTL } } }));
  served = await serveIndexed(path.join(temporaryFolder(), 'data'), [repo], {
    env: {
      TRAWL_OWNER_EMAIL: OWNER.email,
      TRAWL_OWNER_PASSWORD: OWNER.password,
      TRAWL_CONFIG: config,
      ...licenceEnvironment(),
    },
  });
  const reply = await fetch(`${served.url}/api/auth/login`, {
    method: 'POST',
    headers: { origin: served.url },
    body: JSON.stringify(OWNER),
  });
  assert.equal(reply.status, 200);
  [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
});

/** The user's browser is sent to an address, the user says yes: where the browser is sent next. */
async function sayYes(address: URL): Promise<URL> {
  const displayed = await fetch(address, { headers: { cookie }, redirect: 'manual' });
  assert.equal(displayed.status, 303, await displayed.text());
  const id = new URL(displayed.headers.get('location') ?? '').searchParams.get('request') ?? '';
  const answered = await fetch(`${served.url}/api/ee/oauth/request/${id}`, {
    method: 'POST',
    headers: { cookie, origin: served.url },
    body: JSON.stringify({ decision: 'allow' }),
  });
  const { redirectTo } = (await answered.json()) as { readonly redirectTo: string };
  return new URL(redirectTo);
}

/** What a program keeps of itself for the official client. */
class CredentialStore implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: 'Official client',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  requested: URL | undefined;
  kept: OAuthTokens | undefined;
  readonly refreshTokens: (string | undefined)[] = [];
  #client: OAuthClientInformationMixed | undefined;
  #verifier = '';

  state(): string {
    return 'a state';
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens;
    this.refreshTokens.push(tokens.refresh_token);
  }
  redirectToAuthorization(address: URL): void {
    this.requested = address;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  invalidateCredentials(scope: string): void {
    if (scope !== 'verifier') this.kept = undefined;
    if (scope === 'all' || scope === 'client') this.#client = undefined;
  }
}

async function connect(authProvider: OAuthClientProvider): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = transportOf(authProvider);
  await client.connect(transport);
  return client;
}

function transportOf(authProvider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${served.url}/api/mcp`), { authProvider });
}

test('the official client signs in, searches, and refreshes its tokens', async () => {
  const credentialStore = new CredentialStore();
  await assert.rejects(connect(credentialStore), UnauthorizedError);
  assert.ok(credentialStore.requested !== undefined);
  assert.equal(credentialStore.requested.searchParams.get('resource'), `${served.url}/api/mcp`);
  const back = await sayYes(credentialStore.requested);
  assert.equal(back.searchParams.get('state'), 'a state');
  await transportOf(credentialStore).finishAuth(back.searchParams.get('code') ?? '');
  const client = await connect(credentialStore);
  const callGrep = () => callTool(client, 'grep', { pattern: 'plum_count' });
  assert.match((await callGrep()).text, /^Found 1 matches? in 1 files?/);
  await pause((TTL + 0.5) * 1000);
  assert.match((await callGrep()).text, /^Found 1 matches? in 1 files?/);
  // On a busy machine there may be more.
  assert.ok(new Set(credentialStore.refreshTokens).size >= 2);
  await client.close();
  // The user ends it: the client asks again.
  const own = { headers: { cookie, origin: served.url } };
  const listed = await fetch(`${served.url}/api/user/applications`, own);
  const [application] = (await listed.json()) as { readonly id: string; readonly name: string }[];
  assert.equal(application?.name, 'Official client');
  await fetch(`${served.url}/api/user/applications/${application.id}`, {
    ...own,
    method: 'DELETE',
  });
  credentialStore.requested = undefined;
  await assert.rejects(connect(credentialStore), UnauthorizedError);
  assert.ok(credentialStore.requested !== undefined);
});

/** Its servers must have https unless it is told otherwise. */
const HTTP = { [oauth.allowInsecureRequests]: true };

async function registered(): Promise<{ as: oauth.AuthorizationServer; client: oauth.Client }> {
  const tools = new URL(`${served.url}/api/mcp`);
  const requested = await oauth.resourceDiscoveryRequest(tools, HTTP);
  const resource = await oauth.processResourceDiscoveryResponse(tools, requested);
  const issuer = new URL(resource.authorization_servers?.[0] ?? '');
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...HTTP });
  const as = await oauth.processDiscoveryResponse(issuer, found);
  const reply = await oauth.dynamicClientRegistrationRequest(
    as,
    { client_name: 'General client', redirect_uris: [REDIRECT] },
    HTTP,
  );
  return { as, client: await oauth.processDynamicClientRegistrationResponse(reply) };
}

test('a generic client: discovery, registration, issuer of the response, DPoP, refresh, revocation', async () => {
  const { as, client } = await registered();
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(as.authorization_endpoint ?? '');
  address.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  }).toString();
  const back = await sayYes(address);
  // It refuses an answer without the issuer that the metadata promise, or with another one.
  const answer = oauth.validateAuthResponse(as, client, back, state);
  const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
  const bound = { DPoP, ...HTTP };
  const none = oauth.None();
  const first = await oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(as, client, none, answer, REDIRECT, verifier, bound),
  );
  assert.equal(first.token_type, 'dpop');
  assert.equal(first.expires_in, TTL);
  const repos = new URL(`${served.url}/api/repos`);
  const send = async (token: string, options: object = bound): Promise<number> =>
    (await oauth.protectedResourceRequest(token, 'GET', repos, undefined, null, options)).status;
  assert.equal(await send(first.access_token), 200);
  assert.equal(await send(first.access_token, HTTP), 401, 'as a bearer token');
  const second = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, none, first.refresh_token ?? '', bound),
  );
  assert.equal(await send(second.access_token), 200);
  const token = second.refresh_token ?? '';
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, none, token, HTTP),
  );
  assert.equal(await send(second.access_token), 401);
  const refused = oauth.refreshTokenGrantRequest(as, client, none, token, bound);
  await assert.rejects(
    oauth.processRefreshTokenResponse(as, client, await refused),
    (error: oauth.ResponseBodyError) => error.error === 'invalid_grant',
  );
});

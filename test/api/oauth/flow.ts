// An OAuth client for tests that sends anything: registration, the browser of a signed-in user, tokens, proofs. It
// checks nothing; independent clients are in test/e2e/oauth-clients.test.ts.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { REGISTER_PATH, TOKEN_PATH } from '../../../daemon/api/oauth/addresses.ts';
import { sendRaw, type RawReply } from '../../http/raw-client.ts';
import type { AccountsWorld } from '../../accounts/world.ts';

export const REDIRECT = 'http://127.0.0.1:33418/callback';
export const VERIFIER = 'v'.repeat(43);

export type Fields = Readonly<Record<string, string | undefined>>;
type Headers = Readonly<Record<string, string>>;

export interface OAuthReply extends RawReply {
  readonly json: Record<string, unknown>;
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

function parsed(reply: RawReply): OAuthReply {
  const text = reply.body.toString();
  const isJson = String(reply.headers['content-type']).startsWith('application/json');
  return { ...reply, json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

function encoded(fields: Fields): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) parameters.append(name, value);
  return parameters.toString();
}

export async function register(
  world: AccountsWorld,
  more: object = {},
  path = REGISTER_PATH,
): Promise<OAuthReply> {
  const body = JSON.stringify({ client_name: 'Tool', redirect_uris: [REDIRECT], ...more });
  return parsed(await sendRaw(world.server, { method: 'POST', path, body }));
}

export async function clientOf(world: AccountsWorld, more: object = {}): Promise<string> {
  const reply = await register(world, more);
  assert.equal(reply.status, 201, reply.body.toString());
  return String(reply.json['client_id']);
}

/** What a client asks for, with what a test changes; undefined leaves a parameter out. */
export function requestedBy(clientId: string, more: Fields = {}): string {
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    state: 'some state',
    ...more,
  };
  return `/oauth/authorize?${encoded(fields)}`;
}

export async function browse(
  world: AccountsWorld,
  path: string,
  cookie?: string,
  headers: Headers = {},
): Promise<OAuthReply> {
  const own: Headers = cookie === undefined ? {} : { cookie };
  return parsed(await sendRaw(world.server, { path, headers: { ...own, ...headers } }));
}

export async function requestOf(
  world: AccountsWorld,
  cookie: string,
  clientId: string,
  more: Fields = {},
): Promise<string> {
  const reply = await browse(world, requestedBy(clientId, more), cookie);
  assert.equal(reply.status, 303, reply.body.toString());
  const { pathname, searchParams } = new URL(String(reply.headers.location));
  assert.equal(pathname, '/oauth/authorize');
  return searchParams.get('request') ?? '';
}

export async function decide(
  world: AccountsWorld,
  cookie: string,
  id: string,
  decision: string,
): Promise<URL> {
  const reply = await world.send('POST', `/api/ee/oauth/request/${id}`, cookie, { decision });
  assert.equal(reply.status, 200, reply.body.toString());
  return new URL(String(reply.json()['redirectTo']));
}

export async function codeFor(
  world: AccountsWorld,
  cookie: string,
  clientId: string,
  more: Fields = {},
): Promise<string> {
  const id = await requestOf(world, cookie, clientId, more);
  const back = await decide(world, cookie, id, 'allow');
  return back.searchParams.get('code') ?? '';
}

export async function post(
  world: AccountsWorld,
  path: string,
  fields: Fields,
  headers: Headers = {},
): Promise<OAuthReply> {
  const body = encoded(fields);
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return parsed(
    await sendRaw(world.server, { method: 'POST', path, body, headers: { ...type, ...headers } }),
  );
}

export function redeem(
  world: AccountsWorld,
  clientId: string,
  code: string,
  more: Fields = {},
  headers: Headers = {},
): Promise<OAuthReply> {
  const fields = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT,
    ...more,
  };
  return post(world, TOKEN_PATH, fields, headers);
}

export function refresh(
  world: AccountsWorld,
  clientId: string,
  token: string,
  more: Fields = {},
  headers: Headers = {},
): Promise<OAuthReply> {
  const fields = {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
    ...more,
  };
  return post(world, TOKEN_PATH, fields, headers);
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly type: unknown;
  readonly seconds: unknown;
}

export function tokensIn(reply: OAuthReply): Tokens {
  assert.equal(reply.status, 200, reply.body.toString());
  const { access_token: access, refresh_token: refresh, token_type: type, ...rest } = reply.json;
  assert.match(String(access), /^svoa_[0-9a-f]{64}$/);
  assert.match(String(refresh), /^svor_[0-9a-f]{64}$/);
  return { access: String(access), refresh: String(refresh), type, seconds: rest['expires_in'] };
}

/** Tokens for a client that a user has let in. */
export async function tokensFor(
  world: AccountsWorld,
  cookie: string,
  clientId: string,
  more: Fields = {},
): Promise<Tokens> {
  return tokensIn(await redeem(world, clientId, await codeFor(world, cookie, clientId, more)));
}

export async function statusWith(
  world: AccountsWorld,
  authorization: string,
  path = '/api/repos',
  headers: Headers = {},
): Promise<number> {
  return (await sendRaw(world.server, { path, headers: { authorization, ...headers } })).status;
}

/** The error of a refusal, which must have the form of API.md 16.4. */
export function refusalOf(reply: OAuthReply): [number, unknown] {
  const { status, json } = reply;
  assert.deepEqual(
    Object.keys(json).toSorted(),
    ['error', 'errorCode', 'error_description', 'message', 'statusCode'],
    reply.body.toString(),
  );
  assert.equal(json['statusCode'], status);
  if (status === 400) assert.equal(json['errorCode'], 'OAUTH_ERROR');
  return [status, json['error']];
}

/** A key of a client, and the proofs that it signs. */
export interface ProvingKey {
  readonly thumbprint: string;
  proof(claims: object, header?: object): Promise<string>;
}

export async function provingKey(nowMs: () => number, alg = 'ES256'): Promise<ProvingKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = await exportJWK(publicKey);
  const sign = (claims: object, header: object, key: CryptoKey): Promise<string> =>
    new SignJWT({
      jti: randomBytes(16).toString('hex'),
      iat: Math.floor(nowMs() / 1000),
      ...claims,
    })
      .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
      .sign(key);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: (claims, header = {}) => sign(claims, header, privateKey),
  };
}

/** What a proof says of a token. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

/** The answer of the tool server to a client that begins. */
export async function beginTools(
  world: AccountsWorld,
  authorization?: string,
  headers: Headers = {},
): Promise<RawReply> {
  const own: Headers = authorization === undefined ? {} : { authorization };
  return await sendRaw(world.server, {
    method: 'POST',
    path: '/api/mcp',
    body: JSON.stringify(INITIALIZE),
    headers: { accept: 'application/json, text/event-stream', ...own, ...headers },
  });
}

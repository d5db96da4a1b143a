// An issuer that can answer anything a real one never does: wrong claims, wrong signatures, slow or huge answers.

import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';
import { serveOnLoopback } from './loopback.ts';
import { CLIENT } from './real-issuer.ts';

export type Claims = Record<string, unknown>;

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

type CryptoKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** Why kept: to make one takes 0.2 s of a core. */
const pairs: ReturnType<typeof generateKeyPair>[] = [];
let usedCount = 0;

afterEach(() => {
  usedCount = 0;
});

async function newKey(kid: string): Promise<Key> {
  const pair = (pairs[usedCount++] ??= generateKeyPair('RS256', { extractable: true }));
  const { privateKey, publicKey } = await pair;
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  return { kid, privateKey, publicKey, jwk };
}

export class FalseIssuer {
  url = '';
  readonly requested: string[] = [];
  /** Of the token endpoint: what the client sent. */
  readonly forms: URLSearchParams[] = [];
  /** Additional members of discovery. */
  metadata: Claims = {};
  /** Additional claims of the id token; undefined omits one. */
  claims: Claims = {};
  /** Makes the id token another way. */
  idToken: ((claims: Claims) => Promise<string>) | undefined;
  /** Answers these paths. */
  readonly answers = new Map<string, (response: ServerResponse) => void>();
  delayMs = 0;
  key: Key;
  published: readonly Key[];

  constructor(key: Key) {
    this.key = key;
    this.published = [key];
  }

  /** Signs with a new key, and publishes only that. */
  async rotate(): Promise<void> {
    this.key = await newKey(`k${this.key.kid}`);
    this.published = [this.key];
  }

  countOf(path: string): number {
    return this.requested.filter((one) => one === path).length;
  }

  sign(claims: Claims, header: Claims = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: this.key.kid, ...header })
      .sign(this.key.privateKey);
  }

  /** Signed by HMAC, with the published key as if it were a secret. */
  async signByPublicKey(claims: Claims): Promise<string> {
    const signed = `${part({ alg: 'HS256', kid: this.key.kid })}.${part(claims)}`;
    const secret = await exportSPKI(this.key.publicKey);
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }

  unsigned(claims: Claims): string {
    return `${part({ alg: 'none' })}.${part(claims)}.`;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.url);
    this.requested.push(pathname);
    if (this.delayMs > 0) await sleep(this.delayMs);
    const own = this.answers.get(pathname);
    if (own !== undefined) return own(response);
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return send(response, {
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          jwks_uri: `${this.url}/keys`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256'],
          ...this.metadata,
        });
      case '/keys':
        return send(response, { keys: this.published.map(({ jwk }) => jwk) });
      case '/token':
        return send(response, await this.#tokens(request));
      default:
        response.writeHead(404).end();
    }
  }

  /** What the next id token says. */
  nonce = '';
  challenge = '';

  async #tokens(request: IncomingMessage): Promise<object> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    this.forms.push(form);
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (challenge !== this.challenge) return { error: 'invalid_grant' };
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.url,
      aud: CLIENT.id,
      sub: 'account-1',
      iat: seconds,
      exp: seconds + 300,
      nonce: this.nonce,
      email: 'member@example.com',
      email_verified: true,
      ...this.claims,
    };
    const kept = JSON.parse(JSON.stringify(claims)) as Claims;
    const idToken = await (this.idToken?.(kept) ?? this.sign(kept));
    return { access_token: 'opaque', token_type: 'Bearer', expires_in: 300, id_token: idToken };
  }
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function send(response: ServerResponse, value: object): void {
  response.writeHead('error' in value ? 400 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Starts it. It ends with the file. */
export async function startFalseIssuer(): Promise<FalseIssuer> {
  const issuer = new FalseIssuer(await newKey('k'));
  issuer.url = await serveOnLoopback((request, response) => {
    void issuer.answer(request, response).catch(() => response.destroy());
  });
  return issuer;
}

// The OAuth endpoints of GitHub for tests, and its API for the current user: a code is valid once and for one
// verifier, tokens belong to the chosen account, and a refused code is a 200, as at GitHub.

import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveOnLoopback } from './loopback.ts';
import { CLIENT } from './real-issuer.ts';

export interface GithubAccount {
  readonly id: number;
  readonly login: string;
  readonly name?: string | null;
  /** The first is the primary one, unless another says so. */
  readonly emails: readonly {
    readonly email: string;
    readonly verified: boolean;
    readonly primary?: boolean;
  }[];
}

export interface GithubSignOnServer {
  readonly url: string;
  /** The account that signs in; undefined: the user declines. */
  account: GithubAccount | undefined;
  readonly requested: string[];
  /** Answers instead; undefined: as ever. */
  instead:
    ((path: string) => { readonly status: number; readonly body: unknown } | undefined) | undefined;
}

interface Code {
  readonly account: GithubAccount;
  readonly challenge: string;
  readonly redirectUri: string;
}

interface State {
  readonly codes: Map<string, Code>;
  readonly tokens: Map<string, GithubAccount>;
}

/** Starts it. It ends with the file. */
export async function startGithubSignOn(): Promise<GithubSignOnServer> {
  const state: State = { codes: new Map(), tokens: new Map() };
  const url = await serveOnLoopback((request, response) => {
    void answer(server, state, request, response).catch(() => response.destroy());
  });
  const server: GithubSignOnServer = { url, account: undefined, requested: [], instead: undefined };
  return server;
}

async function answer(
  server: GithubSignOnServer,
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', server.url);
  server.requested.push(request.url ?? '');
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(body));
  };
  const reported = server.instead?.(pathname);
  if (reported !== undefined) send(reported.status, reported.body);
  else if (pathname === '/login/oauth/authorize')
    response.writeHead(302, { location: redirectBack(server, state, searchParams) }).end();
  else if (pathname === '/login/oauth/access_token' && request.method === 'POST')
    send(200, tokenFor(state, new URLSearchParams(await text(request))));
  else {
    const token = /^(?:Bearer|token) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const account = state.tokens.get(token);
    if (account === undefined) send(401, { message: 'Bad credentials' });
    else if (pathname === '/api/v3/user')
      send(200, { id: account.id, login: account.login, name: account.name ?? null });
    else if (pathname === '/api/v3/user/emails')
      send(
        200,
        account.emails.map((one, index) => ({ primary: index === 0, visibility: null, ...one })),
      );
    else send(404, { message: 'Not Found' });
  }
}

function redirectBack(
  { account }: GithubSignOnServer,
  { codes }: State,
  requested: URLSearchParams,
): string {
  const redirectUri = requested.get('redirect_uri') ?? '';
  const back = new URL(redirectUri);
  back.searchParams.set('state', requested.get('state') ?? '');
  const isGood =
    requested.get('client_id') === CLIENT.id &&
    requested.get('code_challenge_method') === 'S256' &&
    requested.get('scope') === 'user:email';
  if (account === undefined || !isGood) {
    back.searchParams.set('error', isGood ? 'access_denied' : 'application_suspended');
    return back.href;
  }
  const code = randomBytes(10).toString('hex');
  codes.set(code, { account, redirectUri, challenge: requested.get('code_challenge') ?? '' });
  back.searchParams.set('code', code);
  return back.href;
}

function tokenFor({ codes, tokens }: State, form: URLSearchParams): object {
  if (form.get('client_id') !== CLIENT.id || form.get('client_secret') !== CLIENT.secret)
    return { error: 'incorrect_client_credentials', error_description: 'They are incorrect.' };
  const value = form.get('code') ?? '';
  const code = codes.get(value);
  codes.delete(value);
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  if (code?.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
    return { error: 'bad_verification_code', error_description: 'Incorrect or expired.' };
  const token = `gho_${randomBytes(18).toString('hex')}`;
  tokens.set(token, code.account);
  return { access_token: token, token_type: 'bearer', scope: 'user:email' };
}

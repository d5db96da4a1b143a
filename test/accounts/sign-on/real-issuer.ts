// A real OpenID Connect server for tests: oidc-provider on a loopback address. Its sign-in page signs everybody in as
// the account that the test has chosen.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import { serveOnLoopback } from './loopback.ts';

export const CLIENT = {
  id: 'trawl',
  secret: 'a secret of sixty-four characters, which is nowhere in a log  ok',
};
export const AUDIENCE = 'https://trawl.test/api';

export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export interface RealIssuer {
  readonly url: string;
  /** The account that signs in; undefined: sign-in is refused. */
  account: Account | undefined;
  /** Begins to serve a client that comes back to these addresses. */
  serve(redirectUris: readonly string[]): void;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Starts it. It ends with the file. */
export async function startIssuer(): Promise<RealIssuer> {
  let listener: Listener = async (_, response) => void response.writeHead(503).end();
  const url = await serveOnLoopback((request, response) => {
    void listener(request, response).catch(() => response.destroy());
  });
  const issuer: RealIssuer = {
    url,
    account: undefined,
    serve(redirectUris) {
      listener = listenerOf(issuer, redirectUris);
    },
  };
  return issuer;
}

function listenerOf(issuer: RealIssuer, redirectUris: readonly string[]): Listener {
  const accounts = new Map<string, Account>();
  const provider = new Provider(issuer.url, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['of the test'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => accounts.get(id) ?? { sub: id },
    }),
    features: { devInteractions: { enabled: false } },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
      Grant: 600,
      Session: 600,
    },
  });
  const serve = provider.callback();
  return async (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return serve(request, response);
    const { account } = issuer;
    if (account === undefined)
      return provider.interactionFinished(request, response, { error: 'access_denied' });
    accounts.set(account.sub, account);
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: account.sub, clientId: CLIENT.id });
    grant.addOIDCScope(String(params['scope']));
    return provider.interactionFinished(request, response, {
      login: { accountId: account.sub, remember: false },
      consent: { grantId: await grant.save() },
    });
  };
}

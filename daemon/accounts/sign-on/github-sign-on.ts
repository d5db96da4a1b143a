// Sign-on by GitHub, which is no OpenID Connect issuer: OAuth with PKCE and state, then its API identifies the user. The
// account is GitHub's numeric id, which is never reused, as in reader lists.

import * as client from 'openid-client';
import { z } from 'zod';
import type { GithubSignOnSettings } from '../../base/config/file-schema.ts';
import { githubApiUrl } from '../../base/config/github-address.ts';
import type { Environment } from '../../base/config/dispatcher.ts';
import { type Identity, identityOf } from './identity.ts';
import { ISSUER_LIMITS, issuerFetch, type IssuerFetch } from './issuer-fetch.ts';
import { SignOnRefusal } from './refusals.ts';
import { type Challenge, exchangeCode, secretNow } from './sign-on-callback.ts';

export interface GithubSignOnOptions {
  readonly settings: GithubSignOnSettings;
  readonly env: Environment;
}

const EMAILS_MAX = 100;

const userSchema = z.object({ id: z.int().positive(), name: z.string().nullish() });
const emailsSchema = z
  .array(z.object({ email: z.string(), verified: z.boolean(), primary: z.boolean() }))
  .max(EMAILS_MAX);

export class GithubSignOn {
  readonly settings: GithubSignOnSettings;
  readonly #env: Environment;
  readonly #fetch: IssuerFetch;

  constructor({ settings, env }: GithubSignOnOptions) {
    this.settings = settings;
    this.#env = env;
    const fetchIssuer = issuerFetch({ issuer: new URL(settings.url), env, limits: ISSUER_LIMITS });
    this.#fetch = async (address, question) => withStatus(await fetchIssuer(address, question));
  }

  get #metadata(): client.ServerMetadata & { readonly authorization_endpoint: string } {
    const { url } = this.settings;
    return {
      issuer: url,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    };
  }

  /**
   * Calls the server's API without credential. @returns where people sign in. Errors: of the network; not a GitHub server.
   */
  async probe(): Promise<string> {
    const { status } = await this.#fetch(`${githubApiUrl(this.settings.url)}/meta`, {});
    // A server closed to anonymous users answers 401.
    if (status !== 200 && status !== 401)
      throw new Error(`no API of GitHub is there: status ${status}`);
    return this.#metadata.authorization_endpoint;
  }

  /** The address to redirect the person to. Errors: SignOnRefusal. */
  async address({ state, verifier }: Challenge, redirectUri: string): Promise<URL> {
    return client.buildAuthorizationUrl(this.#configuration(), {
      redirect_uri: redirectUri,
      // The scope for e-mail addresses; id, login and name need none.
      scope: 'user:email',
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Identifies the returning person.
   *
   * @param url  the redirect address, with GitHub's parameters
   * Errors: SignOnRefusal.
   */
  async identity({ state, verifier }: Challenge, url: URL): Promise<Identity> {
    const configuration = this.#configuration();
    const { access_token: token } = await exchangeCode(configuration, url, {
      expectedState: state,
      pkceCodeVerifier: verifier,
    });
    try {
      const { id, name } = userSchema.parse(await this.#read(configuration, token, '/user'));
      const path = `/user/emails?per_page=${EMAILS_MAX}`;
      const emails = emailsSchema.parse(await this.#read(configuration, token, path));
      const sorted = emails.toSorted((a, b) => Number(b.primary) - Number(a.primary));
      return identityOf(this.settings.url, { sub: String(id), name }, sorted);
    } catch (error) {
      if (error instanceof SignOnRefusal) throw error;
      throw new SignOnRefusal('invalid', error);
    }
  }

  /** Errors: SignOnRefusal if the API does not answer; invalid JSON. */
  async #read(configuration: client.Configuration, token: string, path: string): Promise<unknown> {
    const url = new URL(githubApiUrl(this.settings.url) + path);
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const answer = await client
      .fetchProtectedResource(configuration, token, url, 'GET', undefined, headers)
      .catch((error: unknown) => {
        throw new SignOnRefusal('unreachable', error);
      });
    if (answer.status === 200) return answer.json();
    const cause = new Error(`${url.pathname}: status ${answer.status}`);
    throw new SignOnRefusal(answer.status === 429 ? 'unreachable' : 'invalid', cause);
  }

  /** Why not once: the secret may have been replaced. Errors: SignOnRefusal if it is missing. */
  #configuration(): client.Configuration {
    const { clientId, clientSecret, url } = this.settings;
    const secret = client.ClientSecretPost(secretNow(clientSecret, this.#env));
    const made = new client.Configuration(this.#metadata, clientId, {}, secret);
    made[client.customFetch] = this.#fetch;
    made.timeout = ISSUER_LIMITS.answerMs / 1000;
    if (/^http:/i.test(url)) client.allowInsecureRequests(made);
    return made;
  }
}

/** GitHub refuses a code with status 200. */
async function withStatus(answer: Response): Promise<Response> {
  if (answer.status !== 200) return answer;
  const text = await answer.text();
  const isRefusal = /^\s*\{\s*"error"\s*:/.test(text);
  return new Response(text, { status: isRefusal ? 400 : 200, headers: answer.headers });
}

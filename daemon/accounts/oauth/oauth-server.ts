// The OAuth server for tool clients (API.md 16): its parts. Endpoints are in api/oauth/.
//
// Clients are public, and there are no scopes: a token acts as its user, at the resource that the token is for.

import { Clients } from './clients.ts';
import { Consents } from './consents.ts';
import type { OAuthContext } from './oauth-context.ts';
import { Proofs, type PresentedToken, type TokenBounds, tokenUse } from './proofs.ts';
import { OAuthError } from './error.ts';
import { Rate } from './rates.ts';
import { Tokens } from './tokens.ts';

export class OAuthServer {
  readonly clients: Clients;
  readonly consents: Consents;
  readonly tokens: Tokens;
  readonly #context: OAuthContext;
  /** Requests of any kind of one user or, if unknown, of one network: each may query the store. */
  readonly #requests = new Rate({ countMax: 300, windowMs: 60_000 });

  constructor(options: Omit<OAuthContext, 'proofs'>) {
    this.#context = { ...options, proofs: new Proofs(options.now) };
    this.clients = new Clients(this.#context);
    this.consents = new Consents(this.#context);
    this.tokens = new Tokens(this.#context, this.consents);
  }

  /** Counts a request for a user or a network. Errors: OAuthError temporarily_unavailable. */
  count(clientKey: string): void {
    const seconds = this.#requests.take(clientKey, this.#context.now());
    if (seconds > 0) throw new OAuthError('temporarily_unavailable', 'too many requests', seconds);
  }

  /** Tests whether a valid access token may be used as presented. */
  use(presented: PresentedToken): (bounds: TokenBounds) => boolean | Promise<boolean> {
    return tokenUse(this.#context.proofs, presented, this.#context.baseUrl());
  }
}

// Registration of OAuth clients (RFC 7591). Anybody may register, so a client's record is small, the rate is limited, and
// so is the number of clients without consent. Clients have no secret: redirect address and PKCE identify them.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { OAuthError } from './error.ts';
import type { OAuthContext } from './oauth-context.ts';
import { Rate } from './rates.ts';
import { checkRedirectUri, REDIRECTS_MAX } from './redirects.ts';
import { HOUR_MS } from '../../base/durations.ts';

const NAME_LENGTH_MAX = 128;
const LOGO_LENGTH_MAX = 1000;
/** Clients without consent; the oldest are removed. */
const UNUSED_MAX = 5_000;
const ANYBODY = { id: 'anonymous', type: 'user' } as const;

const NAME = `client_name: expected a text of 1 to ${NAME_LENGTH_MAX} characters, none of them a control or format character`;
/** Characters that are invisible or alter how others look: the name is displayed to users and in the audit. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
const URIS = `redirect_uris: expected 1 to ${REDIRECTS_MAX} addresses`;
const LOGO = `logo_uri: expected an address of ${LOGO_LENGTH_MAX} characters at most`;

const registration = z.object(
  {
    client_name: z
      .string({ error: NAME })
      .trim()
      .min(1, { error: NAME })
      .max(NAME_LENGTH_MAX, { error: NAME })
      .refine((name) => !UNSHOWN.test(name), { error: NAME }),
    redirect_uris: z
      .array(z.string({ error: URIS }), { error: URIS })
      .min(1, { error: URIS })
      .max(REDIRECTS_MAX, { error: URIS }),
    logo_uri: z
      .string({ error: LOGO })
      .max(LOGO_LENGTH_MAX, { error: LOGO })
      .refine((text) => URL.canParse(text), { error: LOGO })
      .exactOptional(),
  },
  { error: 'expected a JSON object' },
);

type Registration = z.output<typeof registration>;

export interface RegisteredClient extends Registration {
  readonly client_id: string;
  /** Seconds since the epoch. */
  readonly client_id_issued_at: number;
  readonly token_endpoint_auth_method: 'none';
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
}

/** Errors: OAuthError invalid_redirect_uri, invalid_request. */
function readRegistration(json: unknown): Registration {
  const result = registration.safeParse(json);
  if (!result.success) {
    const [issue] = result.error.issues;
    const isOfUris = issue?.path[0] === 'redirect_uris';
    throw new OAuthError(
      isOfUris ? 'invalid_redirect_uri' : 'invalid_request',
      issue?.message ?? 'invalid',
    );
  }
  for (const uri of result.data.redirect_uris) checkRedirectUri(uri);
  return result.data;
}

export class Clients {
  readonly #context: OAuthContext;
  /** Of one network, whatever others do: nobody can use up the quota of all. */
  readonly #assured = new Rate({ countMax: 5, windowMs: HOUR_MS });
  /** More of one network: many people may share an address. */
  readonly #further = new Rate({ countMax: 55, windowMs: HOUR_MS });
  /** Further ones of all networks: below UNUSED_MAX, so that a client can wait hours for its user. */
  readonly #furtherOfAll = new Rate({ countMax: 600, windowMs: HOUR_MS });

  constructor(context: OAuthContext) {
    this.#context = context;
  }

  /**
   * Registers a client.
   *
   * @param json     its metadata
   * @param address  of the client, for the audit
   * @param clientKey   whom it is counted for
   * Errors: OAuthError; NOT_READY.
   */
  async register(json: unknown, address: string, clientKey: string): Promise<RegisteredClient> {
    const { store, auditLog, now } = this.#context;
    const said = readRegistration(json);
    this.#count(clientKey);
    const client = {
      id: randomUUID(),
      name: said.client_name,
      redirectUris: said.redirect_uris,
      createdAt: now(),
    };
    const records = auditLog.made(
      ANYBODY,
      'oauth.client_registered',
      { id: client.id, type: 'oauth_client' },
      { name: client.name, redirectUris: client.redirectUris, address },
    );
    await store.oauthClients.create(client, UNUSED_MAX, records);
    return {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt / 1000),
      ...said,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  #count(clientKey: string): void {
    const nowMs = this.#context.now();
    if (this.#assured.take(clientKey, nowMs) === 0) return;
    const seconds = this.#further.take(clientKey, nowMs) || this.#furtherOfAll.take('', nowMs);
    if (seconds > 0)
      throw new OAuthError('temporarily_unavailable', 'too many registrations', seconds);
  }

  /** Clients without consent are kept for 90 days. */
  prune(nowMs: number): Promise<number> {
    return this.#context.store.oauthClients.prune(nowMs - 90 * 24 * HOUR_MS);
  }
}

// An OAuth error: a code for clients, and a text for people.

export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_target'
  | 'invalid_dpop_proof'
  | 'unsupported_grant_type'
  | 'invalid_redirect_uri'
  | 'access_denied'
  | 'temporarily_unavailable';

export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly retryAfterSeconds: number | undefined;

  /** @param description  for people; ASCII without quotes, and nothing that the client sent */
  constructor(code: OAuthErrorCode, description: string, retryAfterSeconds?: number) {
    super(description);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

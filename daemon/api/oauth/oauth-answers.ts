// What the OAuth endpoints share. Answers are JSON in OAuth's format; errors also have our members (API.md 16.4).

import { OAuthError, type OAuthErrorCode } from '../../accounts/oauth/error.ts';
import { FORM_SIZE_MAX } from '../../accounts/oauth/parameters.ts';
import { ApiError, type ErrorCode, toApiError } from '../shapes/api-error.ts';
import { type Answer, type CallContext, type Endpoint, endpoint } from '../shapes/endpoint.ts';
import { z } from 'zod';

type Headers = Readonly<Record<string, string>>;

interface OAuthShape extends Pick<
  Endpoint,
  'method' | 'path' | 'requiresSameOrigin' | 'usesOptionalCredential'
> {
  readonly status?: number;
  readonly refuse?: (refusal: Answer, context: CallContext) => Answer;
}

/** `handle` counts the request; its errors become answers. */
export function oauthEndpoint(
  { status = 200, refuse = (refusal) => refusal, ...shape }: OAuthShape,
  handle: (context: CallContext) => Answer | Promise<Answer>,
): Endpoint {
  return endpoint(
    {
      ...shape,
      access: 'none',
      isDescribed: false,
      responses: { [status]: { body: z.unknown() } },
    },
    async (_, context) => {
      try {
        requireOAuth(context);
        return await handle(context);
      } catch (error) {
        return refuse(refusalOf(error), context);
      }
    },
  );
}

function requireOAuth({ accounts }: CallContext): void {
  if (accounts.isEntitled('oauth')) return;
  throw new OAuthError('access_denied', 'This requires a licence with the entitlement "oauth".');
}

/** `userId`: the owner of its code or token. Errors: OAuthError temporarily_unavailable. */
export function count(context: CallContext, userId?: string): void {
  context.accounts.oauth.count(userId ?? context.clientKey);
}

export function json(status: number, value: unknown, headers: Headers = {}): Answer {
  const bytes = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: { 'Cache-Control': 'no-store', ...headers },
    content: { bytes, contentType: 'application/json', memorySize: bytes.byteLength },
  };
}

/** Errors: OAuthError invalid_request; those of reading the body. */
export async function readText(context: CallContext): Promise<string> {
  const text = await context.fetchRequest().text();
  if (text.length <= FORM_SIZE_MAX) return text;
  throw new OAuthError('invalid_request', `body: larger than ${FORM_SIZE_MAX} bytes`);
}

const CODES: Partial<Record<OAuthErrorCode, ErrorCode>> = {
  access_denied: 'INSUFFICIENT_PERMISSIONS',
  temporarily_unavailable: 'TOO_MANY_SIGN_IN_ATTEMPTS',
};

/** Rethrows a fault of ours. */
function refusalOf(error: unknown): Answer {
  if (error instanceof OAuthError) {
    const { code, message, retryAfterSeconds } = error;
    const headers: Headers =
      retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
    return errorAnswer(new ApiError(CODES[code] ?? 'OAUTH_ERROR', message, headers), code);
  }
  const apiError = toApiError(error);
  if (apiError === undefined) throw error;
  return errorAnswer(
    apiError,
    apiError.statusCode === 503 ? 'temporarily_unavailable' : 'invalid_request',
  );
}

function errorAnswer(error: ApiError, code: OAuthErrorCode): Answer {
  const value = { ...error.toObject(), error: code, error_description: error.message };
  return json(error.statusCode, value, error.headers);
}

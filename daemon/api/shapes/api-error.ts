// All error codes with status and meaning (API.md 25), and the conversion of errors of lower layers.

import { QueryError } from '../../engine/regex/query-error.ts';

export const ERRORS = {
  API_RATE_LIMIT_EXCEEDED: [429, 'more requests today than the caller may send'],
  UNEXPECTED_ERROR: [
    500,
    'a file above `maxSourceBytes`; or a fault of the daemon: the log has the details under the request id',
  ],
  NOT_FOUND: [404, 'no such path, or no such repository for this caller'],
  METHOD_NOT_ALLOWED: [405, 'the path exists, the method does not; `Allow` names those that do'],
  MALFORMED_REQUEST: [400, 'not a request of HTTP/1.1 or 1.0; the connection is closed'],
  REQUEST_HEADERS_TOO_LARGE: [431, 'request line and headers exceed 16 KiB; the connection closes'],
  REQUEST_TIMEOUT: [408, 'the request did not arrive within 30 s; the connection is closed'],
  INVALID_REQUEST_BODY: [400, 'the body is not JSON or does not fit; the message names the field'],
  REQUEST_BODY_TOO_LARGE: [413, 'the body is larger than `maxRequestBodyBytes`'],
  INVALID_QUERY_PARAMS: [400, 'a query parameter does not fit; the message names it'],
  MISSING_REQUIRED_QUERY_PARAMETER: [400, 'a member endpoint lacks a required query parameter'],
  FAILED_TO_PARSE_QUERY: [400, 'the query does not parse; the message has reason and position'],
  REVISION_TOO_LARGE: [400, 'a revision that is not indexed exceeds a limit, which is named'],
  SEARCH_CONTEXT_NOT_FOUND: [404, 'the search context is unknown, or has no visible repository'],
  FILE_NOT_FOUND: [404, 'no such file at that ref, or a path that cannot be one'],
  INVALID_GIT_REF: [400, 'the ref is malformed or resolves to no commit'],
  NOT_AUTHENTICATED: [401, 'a valid credential is needed'],
  INVALID_CREDENTIALS: [401, 'e-mail or password is wrong'],
  INSUFFICIENT_PERMISSIONS: [403, 'the caller lacks role, kind of credential or entitlement'],
  API_KEY_USAGE_DISABLED: [403, 'API keys are switched off for this caller'],
  API_KEY_ALREADY_EXISTS: [400, 'the name of an API key is taken or malformed'],
  API_KEY_NOT_FOUND: [404, 'the caller has no such API key'],
  INVALID_REPOSITORY_SCOPE: [400, 'the repositories of a scoped token do not fit its maker'],
  SCOPED_ACCESS_TOKEN_NOT_FOUND: [404, 'the caller has no such scoped token'],
  ORG_SEAT_COUNT_REACHED: [400, 'all seats of the licence are taken'],
  LAST_OWNER_CANNOT_BE_DEMOTED: [403, 'one active owner must remain'],
  LAST_OWNER_CANNOT_BE_REMOVED: [403, 'one active owner must remain'],
  ANONYMOUS_ACCESS_CONTROLLED_BY_ENV: [403, 'the environment fixes anonymous access'],
  EMAIL_LOGIN_CANNOT_BE_DISABLED: [403, 'no other way to sign in would remain'],
  HOST_NOT_ALLOWED: [403, 'the Host header names neither this machine nor the base URL'],
  CROSS_ORIGIN_REQUEST: [403, 'a page of another origin sent a request with a cookie'],
  SERVER_OVERLOADED: [503, 'too many searches, reads or bytes; wait for `Retry-After`'],
  NOT_READY: [503, 'loading, stopping, or the store is away; wait for `Retry-After`'],
  TOO_MANY_SIGN_IN_ATTEMPTS: [429, 'too many failed sign-ins or OAuth requests; see `Retry-After`'],
  USER_ALREADY_EXISTS: [400, 'the e-mail address belongs to a user already'],
  EMAIL_LOGIN_DISABLED: [403, 'sign-in by password is switched off'],
  INVALID_LICENSE: [400, 'the licence is malformed, expired or not signed by its issuer'],
  LICENSE_CONTROLLED_BY_ENV: [403, 'the environment fixes the licence'],
  SETTING_CONTROLLED_BY_CONFIG: [403, 'the configuration fixes the setting'],
  OAUTH_ERROR: [400, 'an OAuth request failed; `error` says how'],
} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;

export type ErrorCode = keyof typeof ERRORS;

/** The body of every error response: exactly these members. */
export interface ErrorObject {
  readonly statusCode: number;
  readonly errorCode: ErrorCode;
  readonly message: string;
}

/** An error for the caller: `message` contains no secret. */
export class ApiError extends Error {
  readonly errorCode: ErrorCode;
  readonly statusCode: number;
  /** Response headers of the error, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    errorCode: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.errorCode = errorCode;
    this.statusCode = ERRORS[errorCode][0];
    // Not ready, or overloaded: a short wait helps.
    const isBrief = this.statusCode === 503;
    this.headers = isBrief ? { 'Retry-After': '1', ...headers } : headers;
  }

  toObject(): ErrorObject {
    return { statusCode: this.statusCode, errorCode: this.errorCode, message: this.message };
  }
}

/**
 * Undefined: a fault of ours whose text must not be shown. Any Error whose `errorCode` is in the table is accepted, so
 * that lower layers can name a code without importing it.
 */
export function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof QueryError) return new ApiError('FAILED_TO_PARSE_QUERY', error.message);
  if (!(error instanceof Error) || !('errorCode' in error)) return undefined;
  if (!isErrorCode(error.errorCode)) return undefined;
  const seconds = 'retryAfterSeconds' in error ? error.retryAfterSeconds : undefined;
  const headers = typeof seconds === 'number' ? { 'Retry-After': String(seconds) } : undefined;
  return new ApiError(error.errorCode, error.message, headers);
}

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}

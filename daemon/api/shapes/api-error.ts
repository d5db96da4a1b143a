// The registry of all error codes with their status and meaning. API.md 25 and the API description
// show the same table; a test keeps the three equal. Also converts errors of lower layers. The HTTP layer encodes them.

import { QueryError } from '../../engine/regex/query-error.ts';

/** HTTP status by code. */
export const ERROR_STATUS = {
  API_RATE_LIMIT_EXCEEDED: 429,
  UNEXPECTED_ERROR: 500,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  MALFORMED_REQUEST: 400,
  REQUEST_HEADERS_TOO_LARGE: 431,
  REQUEST_TIMEOUT: 408,
  INVALID_REQUEST_BODY: 400,
  REQUEST_BODY_TOO_LARGE: 413,
  INVALID_QUERY_PARAMS: 400,
  MISSING_REQUIRED_QUERY_PARAMETER: 400,
  FAILED_TO_PARSE_QUERY: 400,
  REVISION_TOO_LARGE: 400,
  SEARCH_CONTEXT_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  INVALID_GIT_REF: 400,
  NOT_AUTHENTICATED: 401,
  INVALID_CREDENTIALS: 401,
  INSUFFICIENT_PERMISSIONS: 403,
  API_KEY_USAGE_DISABLED: 403,
  API_KEY_ALREADY_EXISTS: 400,
  API_KEY_NOT_FOUND: 404,
  INVALID_REPOSITORY_SCOPE: 400,
  SCOPED_ACCESS_TOKEN_NOT_FOUND: 404,
  ORG_SEAT_COUNT_REACHED: 400,
  LAST_OWNER_CANNOT_BE_DEMOTED: 403,
  LAST_OWNER_CANNOT_BE_REMOVED: 403,
  ANONYMOUS_ACCESS_CONTROLLED_BY_ENV: 403,
  EMAIL_LOGIN_CANNOT_BE_DISABLED: 403,
  HOST_NOT_ALLOWED: 403,
  CROSS_ORIGIN_REQUEST: 403,
  SERVER_OVERLOADED: 503,
  NOT_READY: 503,
  TOO_MANY_SIGN_IN_ATTEMPTS: 429,
  USER_ALREADY_EXISTS: 400,
  EMAIL_LOGIN_DISABLED: 403,
  INVALID_LICENSE: 400,
  LICENSE_CONTROLLED_BY_ENV: 403,
  SETTING_CONTROLLED_BY_CONFIG: 403,
  OAUTH_ERROR: 400,
} as const;

/** Without the reserved codes of API.md 25. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** Meanings for people; the documents show them beside the code. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  API_RATE_LIMIT_EXCEEDED: 'more requests today than the caller may send',
  UNEXPECTED_ERROR: 'a fault of the daemon; the log has the details under the request id',
  NOT_FOUND: 'no such path, or no such repository for this caller',
  METHOD_NOT_ALLOWED: 'the path exists, the method does not; `Allow` names those that do',
  MALFORMED_REQUEST: 'what arrived is not a request of HTTP/1.1 or 1.0; the connection is closed',
  REQUEST_HEADERS_TOO_LARGE: 'request line and headers exceed 16 KiB; the connection is closed',
  REQUEST_TIMEOUT: 'the whole request did not arrive within 30 s; the connection is closed',
  INVALID_REQUEST_BODY:
    'the body is not JSON in UTF-8 or does not fit; the message names the field',
  REQUEST_BODY_TOO_LARGE: 'the body is larger than `maxRequestBodyBytes`',
  INVALID_QUERY_PARAMS: 'a query parameter does not fit; the message names it',
  MISSING_REQUIRED_QUERY_PARAMETER: 'a required query parameter of a member endpoint is missing',
  FAILED_TO_PARSE_QUERY: 'the search query does not parse; the message has reason and position',
  REVISION_TOO_LARGE:
    'a revision that is not indexed exceeds `onDemandRevisions`; the message names the limit',
  SEARCH_CONTEXT_NOT_FOUND:
    'the query names a search context that is unknown, or none of whose repositories you see',
  FILE_NOT_FOUND: 'no such file at that ref, or a path that cannot be one',
  INVALID_GIT_REF: 'the ref is malformed or resolves to no commit',
  NOT_AUTHENTICATED: 'a valid credential is needed',
  INVALID_CREDENTIALS: 'e-mail or password is wrong',
  INSUFFICIENT_PERMISSIONS: 'the caller lacks the role, the kind of credential or the entitlement',
  API_KEY_USAGE_DISABLED: 'API keys are switched off for this caller',
  API_KEY_ALREADY_EXISTS: 'the name of an API key is taken or malformed',
  API_KEY_NOT_FOUND: 'the caller has no such API key',
  INVALID_REPOSITORY_SCOPE: 'the repositories of a scoped token do not fit its maker',
  SCOPED_ACCESS_TOKEN_NOT_FOUND: 'the caller has no such scoped token',
  ORG_SEAT_COUNT_REACHED: 'all seats of the licence are taken',
  LAST_OWNER_CANNOT_BE_DEMOTED: 'one active owner must remain',
  LAST_OWNER_CANNOT_BE_REMOVED: 'one active owner must remain',
  ANONYMOUS_ACCESS_CONTROLLED_BY_ENV: 'the environment fixes anonymous access',
  EMAIL_LOGIN_CANNOT_BE_DISABLED: 'no other way to sign in would remain',
  HOST_NOT_ALLOWED: 'the Host header names neither this machine nor the base URL',
  CROSS_ORIGIN_REQUEST: 'a page of another origin sent a request with a cookie',
  SERVER_OVERLOADED:
    'too many searches, reads or bytes run, wait or are held; `Retry-After` says when to come back',
  NOT_READY:
    'loading, stopping, or the store does not answer; `Retry-After` says when to come back',
  TOO_MANY_SIGN_IN_ATTEMPTS:
    'too many failed sign-ins, or OAuth requests; `Retry-After` says when to come back',
  USER_ALREADY_EXISTS: 'the e-mail address belongs to a user already',
  EMAIL_LOGIN_DISABLED: 'sign-in by password is switched off',
  INVALID_LICENSE: 'the licence is malformed, expired or not signed by its issuer',
  LICENSE_CONTROLLED_BY_ENV: 'the environment fixes the licence',
  SETTING_CONTROLLED_BY_CONFIG: 'the configuration fixes the setting',
  OAUTH_ERROR: 'an OAuth request failed; `error` says how',
};

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
    this.statusCode = ERROR_STATUS[errorCode];
    // Not ready, or overloaded: a short wait helps.
    const isBrief = this.statusCode === 503;
    this.headers = isBrief ? { 'Retry-After': '1', ...headers } : headers;
  }

  toObject(): ErrorObject {
    return { statusCode: this.statusCode, errorCode: this.errorCode, message: this.message };
  }
}

/**
 * The error to answer with; undefined if `error` is a fault of ours whose text must not be shown. Besides ApiError and
 * QueryError it accepts any Error whose `errorCode` is in the table, so that lower layers can name a code without
 * importing it.
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
  return typeof value === 'string' && Object.hasOwn(ERROR_STATUS, value);
}

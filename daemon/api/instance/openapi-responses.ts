// The responses of an endpoint in the API description: one per status.

import type { ZodOpenApiContentObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { z } from 'zod';
import type { Endpoint, HeaderShape, ResponseShape } from '../shapes/endpoint.ts';
import { ERRORS, type ErrorCode } from '../shapes/api-error.ts';
import { errorObject } from '../shapes/schemas.ts';
import { RATE_LIMIT_HEADERS } from '../../accounts/limits.ts';

/** Content types of every value that is not a stream. */
const NEGOTIABLE = ['application/json', 'application/x-msgpack'];

export const SHARED_HEADERS: Readonly<Record<string, HeaderShape>> = {
  'X-Request-Id': {
    description:
      'Id of the request in the logs: the id of the request if it was well formed, else a new one.',
    type: 'string',
    isRequired: true,
  },
  'X-RateLimit-Limit': {
    description: 'Requests allowed each day. Only with a limit and a key or token.',
    type: 'integer',
  },
  'X-RateLimit-Remaining': { description: 'Requests remaining today.', type: 'integer' },
  'Set-Cookie': { description: 'The session of a browser, renewed once a day.', type: 'string' },
  'X-RateLimit-Reset': {
    description: 'When the count resets (00:00 UTC): Unix time in seconds.',
    type: 'integer',
  },
};

const RETRY_AFTER: HeaderShape = {
  description: 'Seconds to wait before trying again.',
  type: 'integer',
};

function isNoRateHeader(name: string): boolean {
  return !RATE_LIMIT_HEADERS.includes(name);
}

const RETRY_CODES: readonly ErrorCode[] = [
  'API_RATE_LIMIT_EXCEEDED',
  'NOT_READY',
  'SERVER_OVERLOADED',
  'TOO_MANY_SIGN_IN_ATTEMPTS',
];

export function headerObject({ description, type, isRequired = false }: HeaderShape) {
  const schema = type === 'integer' ? { type, minimum: 0 } : { type };
  return { description, required: isRequired, schema };
}

/** All responses of an endpoint by status, successes first. */
export function responsesOf(
  endpoint: Endpoint,
): Readonly<Record<`${number}`, ZodOpenApiResponseObject>> {
  const common = [
    'X-Request-Id',
    ...(endpoint.access === 'none' ? [] : ['Set-Cookie']),
    ...(endpoint.isCounted ? RATE_LIMIT_HEADERS : []),
  ];
  const successes = Object.entries(endpoint.responses).map(
    ([status, shape]) => [status, successResponse(shape, common)] as const,
  );
  const codes = errorCodesOf(endpoint);
  const statuses = [...new Set(codes.map((code) => ERRORS[code][0]))];
  const errors = statuses.map((status) => {
    const here = codes.filter((code) => ERRORS[code][0] === status);
    // Anonymous requests are not counted.
    const headers = status === 401 ? common.filter(isNoRateHeader) : common;
    return [String(status), errorResponse(status, here, headers)] as const;
  });
  return Object.fromEntries([...successes, ...errors]);
}

function successResponse(
  { description = 'Done.', body, contentTypes = NEGOTIABLE, headers = {} }: ResponseShape,
  common: readonly string[],
): ZodOpenApiResponseObject {
  const own = Object.entries(headers).map(([name, shape]) => [name, headerObject(shape)]);
  return {
    description,
    headers: { ...references(common), ...Object.fromEntries(own) },
    ...(body === undefined ? {} : { content: contentOf(contentTypes, body) }),
  };
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  common: readonly string[],
): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}.`).join('\n\n'),
    headers: { ...references(common), ...retryHeader(codes) },
    content: contentOf(NEGOTIABLE, errorObject, { example: exampleError(status, codes) }),
    'x-error-codes': codes,
  };
}

function retryHeader(codes: readonly ErrorCode[]) {
  const retried = codes.filter((code) => RETRY_CODES.includes(code));
  if (retried.length === 0) return {};
  const isRequired = retried.length === codes.length;
  return { 'Retry-After': headerObject({ ...RETRY_AFTER, isRequired }) };
}

function references(names: readonly string[]) {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]),
  );
}

function exampleError(statusCode: number, [errorCode]: readonly ErrorCode[]): object {
  return { statusCode, errorCode, message: errorCode && ERRORS[errorCode][1] };
}

function contentOf(
  contentTypes: readonly string[],
  schema: z.ZodType,
  more: { readonly example?: object } = {},
): ZodOpenApiContentObject {
  return Object.fromEntries(contentTypes.map((type) => [type, { schema, ...more }]));
}

/** The codes of an endpoint: its own, and those of the checks before it, in the order of the checks. */
function errorCodesOf(endpoint: Endpoint): readonly ErrorCode[] {
  const { input, isCounted, isSearch, errors } = endpoint;
  return [
    ...new Set<ErrorCode>([
      'HOST_NOT_ALLOWED',
      ...(isCounted ? (['API_RATE_LIMIT_EXCEEDED'] as const) : []),
      ...accessCodes(endpoint),
      ...(input.body === undefined
        ? []
        : (['REQUEST_BODY_TOO_LARGE', 'INVALID_REQUEST_BODY'] as const)),
      ...(input.query === undefined ? [] : (['INVALID_QUERY_PARAMS'] as const)),
      ...(isSearch ? (['SERVER_OVERLOADED'] as const) : []),
      ...(input.path === undefined ? [] : (['NOT_FOUND'] as const)),
      ...errors,
      'UNEXPECTED_ERROR',
    ]),
  ];
}

/** Codes of the checks on the caller; NOT_READY if the store of accounts cannot be reached. */
function accessCodes(endpoint: Endpoint): readonly ErrorCode[] {
  const { access, method, entitlement, allowsAnonymous, requiresSameOrigin } = endpoint;
  const codes: ErrorCode[] = [];
  const hasCaller = access !== 'none';
  if (hasCaller) codes.push('NOT_READY', 'API_KEY_USAGE_DISABLED');
  if (hasCaller && allowsAnonymous !== true) codes.push('NOT_AUTHENTICATED');
  if (method !== 'GET' && (hasCaller || requiresSameOrigin === true))
    codes.push('CROSS_ORIGIN_REQUEST');
  if (entitlement !== undefined || hasRoleCheck(access)) codes.push('INSUFFICIENT_PERMISSIONS');
  return codes;
}

function hasRoleCheck(access: Endpoint['access']): boolean {
  return ['owner', 'operator', 'session', 'key'].includes(access);
}

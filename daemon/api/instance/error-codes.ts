// The error codes that an endpoint may return: its own, and those of the checks before it, in the order of the checks.

import type { Endpoint } from '../shapes/endpoint.ts';
import type { ErrorCode } from '../shapes/api-error.ts';

/** All error codes for this path and method. */
export function errorCodesOf(endpoint: Endpoint): readonly ErrorCode[] {
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

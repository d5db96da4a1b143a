// Resources of tokens (RFC 8707): only the tool server, or the whole API. A token for the tool server is refused elsewhere.

import { OAuthError } from './error.ts';

export const TOOL_SERVER_PATH = '/api/mcp';

/**
 * The resource that a client names, in its stored form.
 *
 * @param baseUrl  without trailing slash
 * Errors: OAuthError invalid_target for any other address.
 */
export function resourceOf(requested: string, baseUrl: string): string {
  const plain = requested.replace(/\/$/, '');
  if (plain === baseUrl || plain === baseUrl + TOOL_SERVER_PATH) return plain;
  throw new OAuthError('invalid_target', 'resource: expected this instance or its tool server');
}

/** Whether a token for `granted` may be narrowed to `requested`. */
export function covers(granted: string, requested: string, baseUrl: string): boolean {
  return granted === requested || granted === baseUrl;
}

/** Whether a token for `resource` is valid for requests of this path. @param path  including that of the base URL */
export function isForPath(resource: string, path: string, baseUrl: string): boolean {
  if (resource === baseUrl) return true;
  const toolServer = baseUrl + TOOL_SERVER_PATH;
  return resource === toolServer && path === new URL(toolServer).pathname;
}

// Checks whether a server shows public repositories without sign-in. On a server closed to anonymous users, public means
// public within the organization.

import { statusFailure } from './failures.ts';
import { HostError } from './host.ts';
import { HostTransport, type TransportOptions } from './transport.ts';

/**
 * Requests something that an open server shows anybody, over a separate transport, so that the rate limit of anonymous
 * requests blocks no others. Undefined: that limit is reached, so the answer is unknown.
 *
 * Errors: HostError if the server is unreachable; the reason of the signal.
 */
export async function isOpenToAll(
  options: TransportOptions,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { url, limits } = options;
  const transport = new HostTransport({ ...options, limits: { ...limits, waitMs: 0 } });
  const question = { host: transport.host, what: `GET ${new URL(url).pathname}` };
  try {
    const response = await transport.fetchUntil(signal)(url);
    if (response.status >= 500) throw statusFailure(response.status, '', question);
    return response.ok && (response.headers.get('content-type') ?? '').includes('json');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HostError) || error.code === 'HOST_UNAVAILABLE') throw error;
    return error.code === 'RATE_LIMITED' ? undefined : false;
  } finally {
    await transport.close();
  }
}

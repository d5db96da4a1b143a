// Whether a server shows what it calls public to those who do not sign in. An own server may be closed to them: what is public
// there is public within the organization.

import { statusFailure } from './failures.ts';
import { HostError } from './host.ts';
import { HostTransport, type TransportOptions } from './transport.ts';

/**
 * Asks for something that an open server shows anybody, over a transport of its own, so that the rate limit of those who do not
 * sign in holds up nobody else. Undefined: that limit is reached, and nobody knows.
 *
 * Errors: HostError, where the server is away; the reason of the signal.
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

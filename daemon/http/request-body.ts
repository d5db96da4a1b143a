// Reads the body of a request: how much is buffered, for which client, and for how long.

import { type AccessParts, checkAuthentication } from './access.ts';
import { BodyTooLargeError, UNASKED_BODY_SIZE_MAX } from './adapters/adapter.ts';
import { type Reservation, type MemoryBudget, noMemoryError } from './adapters/memory-budget.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { clientKeyOf } from './client-address.ts';
import { accessOf, type Exchange } from './exchange.ts';
import { parseJsonBody } from './json-body.ts';

interface BodyBounds {
  readonly memory: MemoryBudget;
  readonly accessParts: AccessParts;
  readonly options: { readonly settings: { readonly maxRequestBodyBytes: number } };
}

/** The body as JSON; its bytes are released. Errors: those of `readBody` and `parseJsonBody`. */
export async function readJson(bounds: BodyBounds, exchange: Exchange): Promise<unknown> {
  const reservation = bounds.memory.tryTake(clientKeyOf(exchange), 0);
  if (reservation === undefined) throw noMemoryError();
  try {
    return parseJsonBody(await readBody(bounds, exchange, reservation));
  } finally {
    reservation.release();
  }
}

/** The body, buffered until the response ends; every call returns the same one. Errors: those of `readBody`. */
export function readBufferedBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  exchange.body ??= bufferBody(bounds, exchange);
  return exchange.body;
}

async function bufferBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  const reservation = bounds.memory.tryTake(clientKeyOf(exchange), 0);
  if (reservation === undefined) throw noMemoryError();
  exchange.ends.push(() => reservation.release());
  return await readBody(bounds, exchange, reservation);
}

/**
 * Anonymous callers may send less: an endpoint that needs a caller refuses a larger body unread.
 * Errors: REQUEST_BODY_TOO_LARGE; SERVER_OVERLOADED; NOT_AUTHENTICATED; RequestFault.
 */
async function readBody(
  { options, accessParts }: BodyBounds,
  exchange: Exchange,
  reservation: Reservation,
): Promise<Buffer> {
  const limit = options.settings.maxRequestBodyBytes;
  const isIdentified = exchange.caller !== undefined;
  const sizeMax = isIdentified ? limit : Math.min(limit, UNASKED_BODY_SIZE_MAX);
  try {
    return await exchange.request.body({ sizeMax, reservation });
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    if (error.size <= limit) checkAuthentication(accessParts, accessOf(exchange));
    throw new ApiError('REQUEST_BODY_TOO_LARGE', `body: larger than ${sizeMax} bytes`);
  }
}

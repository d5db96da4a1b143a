// Reads the body of a request: how much is buffered, for which client, and for how long.

import { type AccessParts, checkAuthentication } from './access.ts';
import { BodyTooLargeError, UNASKED_BODY_SIZE_MAX } from './adapters/adapter.ts';
import { type Hold, type MemoryBudget, noMemoryError } from './adapters/memory-budget.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { holderOf } from './client-address.ts';
import { accessOf, type Exchange } from './exchange.ts';
import { parseJsonBody } from './json-body.ts';

interface BodyBounds {
  readonly memory: MemoryBudget;
  readonly accessParts: AccessParts;
  readonly options: { readonly settings: { readonly maxRequestBodyBytes: number } };
}

/** The body as JSON; its bytes are released. Errors: those of `readBody` and `parseJsonBody`. */
export async function readJson(bounds: BodyBounds, exchange: Exchange): Promise<unknown> {
  const hold = bounds.memory.tryTake(holderOf(exchange), 0);
  if (hold === undefined) throw noMemoryError();
  try {
    return parseJsonBody(await readBody(bounds, exchange, hold));
  } finally {
    hold.release();
  }
}

/** The body, buffered until the response ends; every call returns the same one. Errors: those of `readBody`. */
export function readHeldBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  exchange.body ??= holdBody(bounds, exchange);
  return exchange.body;
}

async function holdBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  const hold = bounds.memory.tryTake(holderOf(exchange), 0);
  if (hold === undefined) throw noMemoryError();
  exchange.ends.push(() => hold.release());
  return await readBody(bounds, exchange, hold);
}

/**
 * Anonymous callers may send less: an endpoint that needs a caller refuses a larger body unread.
 * Errors: REQUEST_BODY_TOO_LARGE; SERVER_OVERLOADED; NOT_AUTHENTICATED; RequestFault.
 */
async function readBody(
  { options, accessParts }: BodyBounds,
  exchange: Exchange,
  hold: Hold,
): Promise<Buffer> {
  const limit = options.settings.maxRequestBodyBytes;
  const isKnown = exchange.caller !== undefined;
  const sizeMax = isKnown ? limit : Math.min(limit, UNASKED_BODY_SIZE_MAX);
  try {
    return await exchange.request.body({ sizeMax, hold });
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    if (error.size <= limit) checkAuthentication(accessParts, accessOf(exchange));
    throw new ApiError('REQUEST_BODY_TOO_LARGE', `body: larger than ${sizeMax} bytes`);
  }
}

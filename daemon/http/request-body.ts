// Reads the body of a request within its limits and parses it as JSON. Parsing cannot be interrupted and takes time by
// the number of values (1 MB of short members: 100 ms), so values are counted before.

import { TextDecoder } from 'node:util';
import { type AccessParts, checkAuthentication } from './access.ts';
import { BodyTooLargeError, UNASKED_BODY_SIZE_MAX } from './adapters/adapter.ts';
import { type MemoryBudget, Reservation } from './adapters/memory-budget.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { clientKeyOf } from './client-address.ts';
import { accessOf, type Exchange, onOver } from './exchange.ts';

interface BodyBounds {
  readonly memory: MemoryBudget;
  readonly accessParts: AccessParts;
  readonly options: { readonly settings: { readonly maxRequestBodyBytes: number } };
}

/** Releases the bytes. Errors: those of `readBody` and `parseJsonBody`. */
export async function readJson(bounds: BodyBounds, exchange: Exchange): Promise<unknown> {
  const reservation = new Reservation(bounds.memory, clientKeyOf(exchange));
  try {
    return parseJsonBody(await readBody(bounds, exchange, reservation));
  } finally {
    reservation.release();
  }
}

/** Buffered until the response ends; every call returns the same one. Errors: those of `readBody`. */
export function readBufferedBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  exchange.body ??= bufferBody(bounds, exchange);
  return exchange.body;
}

async function bufferBody(bounds: BodyBounds, exchange: Exchange): Promise<Buffer> {
  // Safety: large bodies of strangers have one share of the memory together, not one for each address.
  const { bodySizeMax, path } = accessOf(exchange).endpoint;
  const key = bodySizeMax === undefined ? clientKeyOf(exchange) : path;
  const reservation = new Reservation(bounds.memory, key);
  onOver(exchange, () => reservation.release());
  return await readBody(bounds, exchange, reservation);
}

/**
 * An endpoint that needs a caller refuses a large anonymous body unread. Errors: REQUEST_BODY_TOO_LARGE;
 * SERVER_OVERLOADED; NOT_AUTHENTICATED; RequestFault.
 */
async function readBody(
  { options, accessParts }: BodyBounds,
  exchange: Exchange,
  reservation: Reservation,
): Promise<Buffer> {
  const { bodySizeMax } = accessOf(exchange).endpoint;
  const limit = bodySizeMax ?? options.settings.maxRequestBodyBytes;
  const isUnauthenticated = (exchange.caller?.source ?? 'guest') === 'guest';
  const isSmall = isUnauthenticated && bodySizeMax === undefined;
  const sizeMax = isSmall ? Math.min(limit, UNASKED_BODY_SIZE_MAX) : limit;
  try {
    return await exchange.request.body({ sizeMax, reserve: (size) => reservation.grow(size) });
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    if (error.size <= limit) checkAuthentication(accessParts, accessOf(exchange));
    throw new ApiError('REQUEST_BODY_TOO_LARGE', `body: larger than ${sizeMax} bytes`);
  }
}

/** Bound: the longest list that an endpoint takes has 10,000 items. Measured: 2026-11-22: 20,000 members take 8 to 20 ms. */
export const BODY_VALUES_MAX = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANK = 0x20;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Errors: INVALID_REQUEST_BODY if it is not JSON in UTF-8, or has more than BODY_VALUES_MAX values. Cost: some 3 ms per
 * MB, and 0.4 to 1 ms per 1,000 values.
 */
function parseJsonBody(body: Buffer): unknown {
  if (body.length > BODY_VALUES_MAX && hasTooManyValues(body))
    throw new ApiError('INVALID_REQUEST_BODY', `body: more than ${BODY_VALUES_MAX} values`);
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new ApiError('INVALID_REQUEST_BODY', 'body: not valid JSON in UTF-8');
  }
}

/** Counts members and items: each is the first in its brackets, or has a comma before it. */
function hasTooManyValues(body: Uint8Array): boolean {
  let count = 0;
  let isText = false;
  let isFirst = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (isText) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isText = false;
    } else if (byte > BLANK) {
      if (byte === COMMA || (isFirst && byte !== CLOSE_LIST && byte !== CLOSE_OBJECT)) count++;
      isText = byte === QUOTE;
      isFirst = byte === OPEN_LIST || byte === OPEN_OBJECT;
    }
  }
  return count > BODY_VALUES_MAX;
}

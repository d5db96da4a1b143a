// Limits how many requests start in one turn of the event loop; further ones that arrived at the same time wait for a later turn.

import { nextTimeSlice } from './next-time-slice.ts';

/** Requests started per turn. Bound: blocking of the event loop; a start takes 0.1 ms. */
export const STARTS_MAX = 64;

let startCount = 0;

/** Call before starting a request of a client, and await the result, if any. */
export function paced(clientKey: string): Promise<void> | undefined {
  if (startCount === STARTS_MAX) return nextTimeSlice(clientKey);
  if (startCount === 0) setImmediate(() => (startCount = 0));
  startCount++;
  return undefined;
}

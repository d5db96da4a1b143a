// Copies a large answer into one buffer, a few milliseconds at a time, as many pieces are only made when they are read.

import type { LazyBytes } from '../base/lazy-bytes.ts';
import { nextTurn } from '../base/next-turn.ts';

/** Bytes between two turns of the event loop. Bound: its stop, a few milliseconds with making them. */
const BYTES_PER_TURN = 1 << 20;

/**
 * Copies all bytes into a new buffer. `bytes` must not be read meanwhile.
 *
 * @param clientKey  the client that they are for
 */
export async function gatherBytes(
  bytes: Uint8Array | LazyBytes,
  clientKey: string,
): Promise<Uint8Array<ArrayBuffer>> {
  // Why: needs no zero fill, and has its own memory, which can be transferred to a thread.
  const all = Buffer.allocUnsafeSlow(bytes.byteLength);
  let turnEnd = BYTES_PER_TURN;
  for (let offset = 0; offset < bytes.byteLength;) {
    const chunk =
      bytes instanceof Uint8Array
        ? bytes.subarray(offset, offset + BYTES_PER_TURN)
        : bytes.from(offset);
    all.set(chunk, offset);
    offset += chunk.byteLength;
    if (offset < turnEnd) continue;
    turnEnd = offset + BYTES_PER_TURN;
    await nextTurn(clientKey);
  }
  return all;
}

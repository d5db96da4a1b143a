// Copies a large answer into one buffer, a few milliseconds at a time, as many pieces are only made when they are read.

import type { LazyBytes } from '../base/lazy-bytes.ts';
import { nextTurn } from '../base/next-turn.ts';

/** Bytes between two turns of the event loop. Guess: 1 to 3 ms, with making them. */
const TURN_SIZE = 1 << 20;

/**
 * Copies all bytes into a new buffer. `bytes` must not be read meanwhile.
 *
 * @param holder  the client that they are for
 */
export async function gatherBytes(
  bytes: Uint8Array | LazyBytes,
  holder: string,
): Promise<Uint8Array<ArrayBuffer>> {
  // Why: needs no zero fill, and has its own memory, which can be transferred to a thread.
  const all = Buffer.allocUnsafeSlow(bytes.byteLength);
  let turnEnd = TURN_SIZE;
  for (let offset = 0; offset < bytes.byteLength;) {
    const piece =
      bytes instanceof Uint8Array ? bytes.subarray(offset, offset + TURN_SIZE) : bytes.from(offset);
    all.set(piece, offset);
    offset += piece.byteLength;
    if (offset < turnEnd) continue;
    turnEnd = offset + TURN_SIZE;
    await nextTurn(holder);
  }
  return all;
}

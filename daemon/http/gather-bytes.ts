// The bytes of a large answer in one piece, for what cannot take them piece by piece. Copied a few milliseconds at a
// time: many pieces are only made when they are asked for.

import type { LazyBytes } from '../base/lazy-bytes.ts';
import { nextTurn } from '../base/next-turn.ts';

/** Bytes between two turns of the event loop. Guess: 1 to 3 ms, making them included. */
const TURN_SIZE = 1 << 20;

/**
 * A copy of all bytes, which nobody else holds. Nobody may ask `bytes` for any meanwhile.
 *
 * @param holder  whom they are for
 */
export async function gatherBytes(
  bytes: Uint8Array | LazyBytes,
  holder: string,
): Promise<Uint8Array<ArrayBuffer>> {
  // Why so: it need not be filled first, and is a memory of its own, which can be handed to a thread.
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

// A large answer whose bytes are made piece by piece while it is sent, so that it is never in memory as a whole.

import { nextTimeSlice } from './next-time-slice.ts';

export interface LazyBytes {
  readonly byteLength: number;
  /** Bytes of memory that it holds, approximately. */
  readonly memorySize: number;
  /** The next bytes from `offset` on, at least one; `offset` is below `byteLength`. Valid until the next call. */
  from(offset: number): Uint8Array;
  /** Frees its memory; no calls may follow. */
  release?(): void;
}

export function allBytes(bytes: Uint8Array | LazyBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  const all = Buffer.allocUnsafe(bytes.byteLength);
  for (let offset = 0; offset < bytes.byteLength;) {
    const chunk = bytes.from(offset);
    all.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return all;
}

/** Bytes made and copied in one turn of the event loop. Bound: it is blocked for a few milliseconds. */
const BYTES_PER_TIME_SLICE = 1 << 20;

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
  let timeSliceEnd = BYTES_PER_TIME_SLICE;
  for (let offset = 0; offset < bytes.byteLength;) {
    const chunk =
      bytes instanceof Uint8Array
        ? bytes.subarray(offset, offset + BYTES_PER_TIME_SLICE)
        : bytes.from(offset);
    all.set(chunk, offset);
    offset += chunk.byteLength;
    if (offset < timeSliceEnd) continue;
    timeSliceEnd = offset + BYTES_PER_TIME_SLICE;
    await nextTimeSlice(clientKey);
  }
  return all;
}

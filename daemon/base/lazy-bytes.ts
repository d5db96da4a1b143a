// Bytes of a large answer that are put together while they are sent, a window at a time: the parts lie in several
// buffers, and a copy of them all would cost as much memory again.

export interface LazyBytes {
  readonly byteLength: number;
  /** Bytes of memory that it keeps for itself, roughly. */
  readonly heldSize: number;
  /** The bytes from `offset` < byteLength on, at least one, as many as are at hand; valid until the next call. */
  from(offset: number): Uint8Array;
  /** Frees what it keeps; it is not asked for bytes any more. */
  release?(): void;
}

/** All of the bytes in one piece. */
export function allBytes(bytes: Uint8Array | LazyBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  const all = Buffer.allocUnsafe(bytes.byteLength);
  for (let offset = 0; offset < bytes.byteLength;) {
    const piece = bytes.from(offset);
    all.set(piece, offset);
    offset += piece.byteLength;
  }
  return all;
}

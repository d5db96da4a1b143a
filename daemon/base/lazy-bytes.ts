// A large answer assembled in windows while it is sent: its parts are in several buffers, and one copy would double the
// memory.

export interface LazyBytes {
  readonly byteLength: number;
  /** Bytes of memory that it holds, approximately. */
  readonly memorySize: number;
  /** At least one byte from `offset` < byteLength on, as many as are available; valid until the next call. */
  from(offset: number): Uint8Array;
  /** Frees its memory; no calls may follow. */
  release?(): void;
}

/** All bytes in one buffer. */
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

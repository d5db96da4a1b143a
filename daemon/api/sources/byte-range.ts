// Parses the Range header (RFC 9110, 14.1.2): one range of bytes. Several ranges are ignored, as the standard allows.

/** Range of bytes; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The requested range, clipped to `size` bytes. Undefined: everything. 'none': no byte of the content is in the range.
 */
export function byteRangeOf(header: string | null, size: number): ByteRange | 'none' | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') return atEnd(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'none';
}

function atEnd(count: number, size: number): ByteRange | 'none' {
  return count === 0 || size === 0 ? 'none' : { start: Math.max(0, size - count), end: size };
}

// Converts UTF-16 files: a content with a UTF-16 byte order mark becomes UTF-8 before anything else reads it, so that it is
// searched, displayed and measured like other text. Offsets and columns are those of the UTF-8 form without the mark; the
// git object id is that of the stored bytes.

const LITTLE_ENDIAN_MARK = [0xff, 0xfe] as const;
const BIG_ENDIAN_MARK = [0xfe, 0xff] as const;
/** Why in pieces: a string has fewer characters than the largest content has. */
const CHUNK_SIZE = 1 << 20;

function beginsWith(bytes: Uint8Array, [first, second]: readonly [number, number]): boolean {
  return bytes[0] === first && bytes[1] === second;
}

/**
 * The content as UTF-8 without byte order mark if it begins with the UTF-16 mark, else the same bytes. Lone surrogates and
 * half units become U+FFFD.
 *
 * Cost: nothing without the mark; else a copy, 1.5 times the size at most.
 */
export function utf8Of(bytes: Uint8Array): Uint8Array {
  const isLittle = beginsWith(bytes, LITTLE_ENDIAN_MARK);
  if (!isLittle && !beginsWith(bytes, BIG_ENDIAN_MARK)) return bytes;
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be');
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_SIZE) {
    const end = Math.min(start + CHUNK_SIZE, bytes.length);
    const text = decoder.decode(bytes.subarray(start, end), { stream: end < bytes.length });
    chunks.push(Buffer.from(text));
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

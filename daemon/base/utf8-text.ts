// Decodes file content as UTF-8, each bad byte as one U+FFFD, as searches display and count them (API.md 6.4). Decoders of
// Node.js write one U+FFFD for a whole truncated character.

import { isUtf8 } from 'node:buffer';

/** A truncated character of three or four bytes (Unicode, table 3-7), in Latin-1. */
const CUT_CHARACTER =
  /(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])(?![\x80-\xbf])|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]?(?![\x80-\xbf])/g;
/** Never valid in UTF-8. */
const BAD_BYTE = '\xff';

/** The text of bytes cut at character boundaries. Cost: about three times as much if some are bad. */
export function utf8Text(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer) ? buffer.toString('utf8') : utf8TextOfLatin1(buffer.toString('latin1'));
}

/** The content after its byte order mark, if any: the mark is not part of line 1 (API.md 6.4). */
export function behindMark(content: Uint8Array): Uint8Array {
  const isMarked = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
  return isMarked ? content.subarray(3) : content;
}

/** The start of a text that fits into `sizeMax` bytes of UTF-8, cut between characters. */
export function utf8Start(text: string, sizeMax: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(sizeMax, bytes.length);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** As `utf8Text`, for bytes given as Latin-1. */
export function utf8TextOfLatin1(latin1: string): string {
  if (/^[\0-\x7F]*$/.test(latin1)) return latin1;
  const marked = latin1.replaceAll(CUT_CHARACTER, (cut) => BAD_BYTE.repeat(cut.length));
  return Buffer.from(marked, 'latin1').toString('utf8');
}

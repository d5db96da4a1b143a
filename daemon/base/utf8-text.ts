// Text of files as people see it: bytes as UTF-8, each bad byte as one U+FFFD, as searches show and count them (API.md
// 6.4). Decoders of Node.js write one for the whole beginning of a character that is cut off.

import { isUtf8 } from 'node:buffer';

/** Begins as a character of three or four bytes does, and does not go on (Unicode, table 3-7), in Latin-1. */
const CUT_CHARACTER =
  /(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])(?![\x80-\xbf])|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]?(?![\x80-\xbf])/g;
/** Bad wherever it stands. */
const BAD_BYTE = '\xff';

/** The text of bytes that begin and end between characters. Cost: about three times as much where some are bad. */
export function utf8Text(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer) ? buffer.toString('utf8') : utf8TextOfLatin1(buffer.toString('latin1'));
}

/** A content behind the byte order mark that it may begin with: the mark is no part of line 1 (API.md 6.4). */
export function behindMark(content: Uint8Array): Uint8Array {
  const isMarked = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
  return isMarked ? content.subarray(3) : content;
}

/** As much from the start of a text as so many bytes of UTF-8 hold, cut between characters. */
export function utf8Start(text: string, sizeMax: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(sizeMax, bytes.length);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** As `utf8Text`, of bytes that are the characters of a text. */
export function utf8TextOfLatin1(latin1: string): string {
  if (/^[\0-\x7F]*$/.test(latin1)) return latin1;
  const marked = latin1.replaceAll(CUT_CHARACTER, (cut) => BAD_BYTE.repeat(cut.length));
  return Buffer.from(marked, 'latin1').toString('utf8');
}

// A content decoded as text for symbol engines, with a map from text offsets to byte offsets.

import { isAscii, isUtf8 } from 'node:buffer';
import type { PlacedSymbol } from './found.ts';

/** Largest content to be parsed: a tree takes up to 50 times its size, and patterns block the thread. */
export const TEXT_SIZE_MAX = 16 << 20;

export interface Text {
  readonly text: string;
  /** From character offsets to byte offsets; those of `byteOffsets` ascend. */
  readonly inBytes: (placed: readonly PlacedSymbol[]) => readonly PlacedSymbol[];
  readonly byteOffsets: (characters: readonly number[]) => readonly number[];
}

export function readText(content: Uint8Array): Text {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  // Why latin1: one character for each byte.
  const latin1 = bytes.toString('latin1');
  if (isAscii(bytes))
    return { text: latin1, inBytes: (placed) => placed, byteOffsets: (characters) => characters };
  const { text, bad } = isUtf8(bytes) ? { text: bytes.toString(), bad: [] } : decode(latin1);
  return {
    text,
    inBytes: (placed) => inBytes(text, bad, placed),
    byteOffsets: (characters) => byteOffsets(text, bad, characters),
  };
}

/** A character of several bytes (Unicode, table 3-7), or a bad byte, in Latin-1. */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

/** Bad bytes, of which a file in Latin-1 consists, are characters of Latin-1; `bad` are their offsets in the text. */
function decode(latin1: string): { readonly text: string; readonly bad: readonly number[] } {
  const bad: number[] = [];
  let removed = 0;
  const text = latin1.replaceAll(CHARACTER, (character: string, at: number) => {
    if (character.length === 1) {
      bad.push(at - removed);
      return character;
    }
    const decoded = Buffer.from(character, 'latin1').toString();
    removed += character.length - decoded.length;
    return decoded;
  });
  return { text, bad };
}

function inBytes(
  text: string,
  bad: readonly number[],
  placed: readonly PlacedSymbol[],
): PlacedSymbol[] {
  const offsets = placed.flatMap(({ start, size }) => [start, start + size]);
  const ascending = [...new Set(offsets)].sort((a, b) => a - b);
  const bytes = byteOffsets(text, bad, ascending);
  const inBytes = new Map(ascending.map((offset, i) => [offset, bytes[i]!]));
  return placed.map((symbol) => {
    const start = inBytes.get(symbol.start)!;
    return { ...symbol, start, size: inBytes.get(symbol.start + symbol.size)! - start };
  });
}

function byteOffsets(
  text: string,
  bad: readonly number[],
  characters: readonly number[],
): number[] {
  let character = 0;
  let byte = 0;
  let badCount = 0;
  return characters.map((next) => {
    byte += Buffer.byteLength(text.slice(character, next));
    // Two bytes in UTF-8, one in the content.
    for (; (bad[badCount] ?? Infinity) < next; badCount++) byte--;
    character = next;
    return byte;
  });
}

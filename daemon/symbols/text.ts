// A content as the text in which symbols are looked for, and the way from places in it to bytes of the content.

import { isAscii, isUtf8 } from 'node:buffer';
import type { PlacedSymbol } from './found.ts';

export interface Text {
  readonly text: string;
  /** Symbols whose places are characters of the text: the same by bytes of the content. */
  readonly inBytes: (placed: readonly PlacedSymbol[]) => readonly PlacedSymbol[];
}

export function readText(content: Uint8Array): Text {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (!isAscii(bytes) && isUtf8(bytes)) {
    const text = bytes.toString();
    return { text, inBytes: (placed) => inBytes(text, placed) };
  }
  // Why latin1: one character for each byte.
  return { text: bytes.toString('latin1'), inBytes: (placed) => placed };
}

function inBytes(text: string, placed: readonly PlacedSymbol[]): PlacedSymbol[] {
  let character = 0;
  let byte = 0;
  return [...placed]
    .sort((a, b) => a.start - b.start)
    .map((symbol) => {
      byte += Buffer.byteLength(text.slice(character, symbol.start));
      character = symbol.start;
      const name = text.slice(symbol.start, symbol.start + symbol.size);
      return { ...symbol, start: byte, size: Buffer.byteLength(name) };
    });
}

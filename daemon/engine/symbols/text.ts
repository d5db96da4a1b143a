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
  if (!isAscii(bytes) && isUtf8(bytes)) {
    const text = bytes.toString();
    return {
      text,
      inBytes: (placed) => inBytes(text, placed),
      byteOffsets: (characters) => byteOffsets(text, characters),
    };
  }
  // Why latin1: one character for each byte.
  const text = bytes.toString('latin1');
  return { text, inBytes: (placed) => placed, byteOffsets: (characters) => characters };
}

function inBytes(text: string, placed: readonly PlacedSymbol[]): PlacedSymbol[] {
  const sorted = [...placed].sort((a, b) => a.start - b.start);
  const starts = byteOffsets(
    text,
    sorted.map(({ start }) => start),
  );
  return sorted.map((symbol, i) => {
    const name = text.slice(symbol.start, symbol.start + symbol.size);
    return { ...symbol, start: starts[i]!, size: Buffer.byteLength(name) };
  });
}

function byteOffsets(text: string, characters: readonly number[]): number[] {
  let character = 0;
  let byte = 0;
  return characters.map((next) => {
    byte += Buffer.byteLength(text.slice(character, next));
    character = next;
    return byte;
  });
}

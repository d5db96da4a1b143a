// The key alphabets under comparison: each maps a byte to a letter of `bits` bits; a trigram key is three letters. The
// product maps code points instead of bytes beyond ASCII.

export interface Alphabet {
  readonly name: string;
  readonly bits: number;
  readonly table: Uint8Array;
}

const lower = (byte: number): number => (byte >= 65 && byte <= 90 ? byte + 32 : byte);

function alphabet(name: string, bits: number, letter: (byte: number) => number): Alphabet {
  return { name, bits, table: Uint8Array.from({ length: 256 }, (_, byte) => letter(byte)) };
}

/** 55 free codes (capitals, controls) take the bytes from 0x80. */
function letter7(byte: number): number {
  if (byte < 128) return byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 ? 0 : lower(byte);
  return 65 + (byte % 26);
}

/** Letters, digits and the most frequent punctuation; the rest in classes. */
function letter6(byte: number): number {
  const folded = lower(byte);
  if (folded >= 97 && folded <= 122) return 1 + folded - 97;
  if (folded >= 48 && folded <= 57) return 27 + folded - 48;
  if (byte >= 128) return 63;
  const single = ' \n\t_-.,;:()*/=<>"&{}[]#+!%\'|\\@'.indexOf(String.fromCharCode(byte));
  if (single < 0) return 62;
  return Math.min(37 + single, 62);
}

export const ALPHABETS: readonly Alphabet[] = [
  alphabet('raw bytes', 8, (byte) => byte),
  alphabet('folded bytes', 8, lower),
  alphabet('7-bit folded', 7, letter7),
  alphabet('6-bit folded', 6, letter6),
];

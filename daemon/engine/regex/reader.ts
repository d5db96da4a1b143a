// Position, flags and errors of the regular expression parser; escapes and Unicode properties. RE2 syntax as documented at
// https://github.com/google/re2/wiki/Syntax.

import { QueryError } from './query-error.ts';
import { CODE_POINT_END } from './code-points.ts';
import { isPropertyName } from './properties.ts';
import type { UnicodeProperty } from './tree.ts';

export interface RegexFlags {
  /** `i` */
  readonly isFolded: boolean;
  /** `m`, set by default: `^` and `$` also match at line ends. */
  readonly hasLines: boolean;
  /** `s`: the dot matches a newline. */
  readonly hasNewline: boolean;
  /** `U`: repeats are lazy, and greedy with a question mark. */
  readonly isLazy: boolean;
}

export interface RegexReader {
  readonly characters: readonly string[];
  /** Position of the pattern in the query. */
  readonly position: number;
  /** Index of the last `:]`, or -1. */
  readonly posixEnd: number;
  readonly names: Set<string>;
  index: number;
  flags: RegexFlags;
  depth: number;
}

// A backslash before a blank comes alone, since the blank ends the word.
const LONE_BACKSLASH =
  'an expression with a blank must be quoted, "a b"; lone backslash at the end';

/** Refuses the pattern; `index` is the cause's position in the pattern. */
export function failAt(reader: RegexReader, index: number, reason: string): never {
  throw new QueryError(`regular expression: ${reason}`, reader.position + index);
}

export function peek(reader: RegexReader, ahead = 0): string | undefined {
  return reader.characters[reader.index + ahead];
}

/** Skips `text` if it comes next. */
export function trySkip(reader: RegexReader, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (peek(reader, i) !== text[i]) return false;
  reader.index += text.length;
  return true;
}

const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
]);

/** The index moves from after the backslash to after the escape. Refuses back-references and escapes unknown to RE2. */
export function readEscapedCodePoint(reader: RegexReader): number {
  const start = reader.index;
  const character = peek(reader);
  if (character === undefined) failAt(reader, start - 1, LONE_BACKSLASH);
  if (character >= '0' && character <= '7') return readOctal(reader);
  reader.index++;
  if (character === 'x') return readHexadecimal(reader);
  const control = CONTROL_ESCAPES.get(character);
  if (control !== undefined) return control;
  if (/[89]/.test(character)) failAt(reader, start, 'back-references are not supported');
  if (/[a-z]/i.test(character) || character > '\x7f') failAt(reader, start, 'unknown escape');
  return character.charCodeAt(0);
}

/** `\0`, `\012`, `\12`; a single digit other than 0 would be a back-reference. */
function readOctal(reader: RegexReader): number {
  const start = reader.index;
  let digits = '';
  while (digits.length < 3 && /^[0-7]$/.test(peek(reader) ?? '')) {
    digits += peek(reader);
    reader.index++;
  }
  if (digits.length === 1 && digits !== '0')
    failAt(reader, start, 'back-references are not supported');
  return Number.parseInt(digits, 8);
}

/** `\x7f`, `\x{10ffff}`; the index is after the `x`. */
function readHexadecimal(reader: RegexReader): number {
  const isBraced = trySkip(reader, '{');
  const countMax = isBraced ? Infinity : 2;
  let value = 0;
  for (let count = 0; count < countMax; count++) {
    const digit = peek(reader) ?? '';
    if (isBraced && count > 0 && digit === '}') break;
    if (!/^[0-9a-f]$/i.test(digit)) failAt(reader, reader.index, 'hexadecimal digit expected');
    value = value * 16 + Number.parseInt(digit, 16);
    if (value >= CODE_POINT_END) failAt(reader, reader.index, 'no such code point');
    reader.index++;
  }
  if (isBraced) reader.index++;
  return value;
}

/** `\pL`, `\p{Greek}`, `\P{^Lu}`, if one comes next; the index is at the backslash. */
export function tryReadProperty(reader: RegexReader): UnicodeProperty | undefined {
  const isPositive = trySkip(reader, String.raw`\p`);
  if (!isPositive && !trySkip(reader, String.raw`\P`)) return undefined;
  const start = reader.index;
  if (!trySkip(reader, '{')) {
    const name = peek(reader) ?? '';
    if (!isPropertyName(name)) failAt(reader, start, 'unknown Unicode property');
    reader.index++;
    return { name, isNegated: !isPositive };
  }
  const isInverted = trySkip(reader, '^');
  const nameStart = reader.index;
  while (/^[a-z_]$/i.test(peek(reader) ?? '')) reader.index++;
  const name = reader.characters.slice(nameStart, reader.index).join('');
  if (name === '' || peek(reader) !== '}')
    failAt(reader, reader.index, 'name of a Unicode property expected');
  if (!isPropertyName(name)) failAt(reader, nameStart, 'unknown Unicode property');
  reader.index++;
  return { name, isNegated: isPositive === isInverted };
}

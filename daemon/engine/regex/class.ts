// Parses character classes of regular expressions: `[a-z]`, `[^\d[:alpha:]]`, and `\d` and `\p{Greek}` outside brackets.

import { complementRanges, normalizeRanges, PERL_CLASSES, POSIX_CLASSES } from './code-points.ts';
import { foldRanges } from './fold.ts';
import {
  failAt,
  peek,
  readEscapedCodePoint,
  type RegexReader,
  tryReadProperty,
  trySkip,
} from './reader.ts';
import type { ClassNode, CodePointRange, CodePointRanges, UnicodeProperty } from './tree.ts';

interface ClassParts {
  readonly ranges: CodePointRange[];
  readonly properties: UnicodeProperty[];
}

/** Reads a class outside brackets, `\d` or `\pL`, if there is one. */
export function tryReadClassEscape(reader: RegexReader): ClassNode | undefined {
  const parts: ClassParts = { ranges: [], properties: [] };
  return tryReadSet(reader, parts) ? classNode(reader, parts, false) : undefined;
}

/** Reads the class whose `[` is at the index. Refuses a class without its `]` at the `[`. */
export function readClass(reader: RegexReader): ClassNode {
  const start = reader.index;
  reader.index++;
  const isNegated = trySkip(reader, '^');
  const parts: ClassParts = { ranges: [], properties: [] };
  // Why: a leading "]" is a member.
  for (let isFirst = true; isFirst || peek(reader) !== ']'; isFirst = false) {
    if (peek(reader) === undefined) failAt(reader, start, 'class without ]');
    if (!tryReadPosixClass(reader, parts) && !tryReadSet(reader, parts))
      parts.ranges.push(readRange(reader, start));
  }
  reader.index++;
  return classNode(reader, parts, isNegated);
}

function classNode(reader: RegexReader, parts: ClassParts, isNegated: boolean): ClassNode {
  const ranges = normalizeRanges(parts.ranges);
  const { isFolded } = reader.flags;
  return { kind: 'class', ranges, properties: parts.properties, isNegated, isFolded };
}

/** `\d`, `\W`, `\pL`: sets that may also be part of a class. */
function tryReadSet(reader: RegexReader, parts: ClassParts): boolean {
  if (peek(reader) !== '\\') return false;
  const property = tryReadProperty(reader);
  if (property !== undefined) {
    parts.properties.push(property);
    return true;
  }
  const letter = peek(reader, 1) ?? '';
  const ranges = PERL_CLASSES.get(letter.toLowerCase());
  if (ranges === undefined) return false;
  reader.index += 2;
  addNamed(reader, parts, ranges, letter !== letter.toLowerCase());
  return true;
}

/** `[:alpha:]`. A `[:` without a following `:]` is two members. */
function tryReadPosixClass(reader: RegexReader, parts: ClassParts): boolean {
  const { characters, index } = reader;
  if (characters[index] !== '[' || characters[index + 1] !== ':') return false;
  const nameStart = index + (characters[index + 2] === '^' ? 3 : 2);
  let end = nameStart;
  while (/^[a-z]$/.test(characters[end] ?? '')) end++;
  const isClosed = characters[end] === ':' && characters[end + 1] === ']';
  const ranges = POSIX_CLASSES.get(characters.slice(nameStart, end).join(''));
  if (!isClosed || ranges === undefined) {
    if (reader.posixEnd >= index + 2) failAt(reader, nameStart, 'unknown class name');
    return false;
  }
  reader.index = end + 2;
  addNamed(reader, parts, ranges, nameStart !== index + 2);
  return true;
}

function addNamed(
  reader: RegexReader,
  parts: ClassParts,
  ranges: CodePointRanges,
  isNegated: boolean,
): void {
  // Why: ignoring case, a set and its negation must be disjoint, so folding comes first.
  const whole = isNegated && reader.flags.isFolded ? foldRanges(ranges) : ranges;
  parts.ranges.push(...(isNegated ? complementRanges(whole) : whole));
}

/** Reads a member or a range of members of the class that begins at `classStart`. */
function readRange(reader: RegexReader, classStart: number): CodePointRange {
  const start = readMember(reader, classStart);
  const isRange = peek(reader) === '-' && peek(reader, 1) !== ']' && peek(reader, 1) !== undefined;
  if (!isRange) return { start, end: start + 1 };
  reader.index++;
  const lastIndex = reader.index;
  const last = readMember(reader, classStart);
  if (last < start) failAt(reader, lastIndex, 'range of a class runs backwards');
  return { start, end: last + 1 };
}

function readMember(reader: RegexReader, classStart: number): number {
  if (trySkip(reader, '\\')) return readEscapedCodePoint(reader);
  const codePoint = peek(reader)?.codePointAt(0);
  if (codePoint === undefined) failAt(reader, classStart, 'class without ]');
  reader.index++;
  return codePoint;
}

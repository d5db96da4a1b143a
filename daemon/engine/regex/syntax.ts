// Parses a regular expression: recursive descent over RE2 syntax (API.md 9.5), multi-line by default. Refuses look-around,
// back-references, possessive and doubled repeats.

import { readClass, tryReadClassEscape } from './class.ts';
import {
  failAt,
  peek,
  readEscapedCodePoint,
  type RegexFlags,
  type RegexReader,
  trySkip,
} from './reader.ts';
import type { Assertion, RegexTree, RepeatNode } from './tree.ts';

/** Unit: bytes of UTF-8. */
export const PATTERN_SIZE_MAX = 4096;
/** Highest count of a repeat, and of the product of nested ones. */
export const REPEAT_MAX = 1000;
export const PATTERN_DEPTH_MAX = 250;

const FLAGS: RegexFlags = { isFolded: false, hasLines: true, hasNewline: false, isLazy: false };

export interface RegexOptions {
  readonly position?: number;
  /** The flag `i` is set from the start, as in a case-insensitive request. */
  readonly isFolded?: boolean;
}

const ASSERTION_ESCAPES: ReadonlyMap<string, Assertion> = new Map([
  ['A', 'textStart'],
  ['z', 'textEnd'],
  ['b', 'wordBorder'],
  ['B', 'notWordBorder'],
]);

interface Parsed {
  readonly tree: RegexTree;
  readonly repeatProduct: number;
}

/** Counts of a repeat operator. `countIndex` is the position of an invalid count. */
interface Counts {
  readonly min: number;
  readonly max?: number;
  readonly countIndex: number;
}

/**
 * Errors: QueryError at the cause: an unclosed group or class at its opening character, a lone backslash at itself, a pattern
 * above the size limit at its start, else the first unexpected character. Cost: linear; recursion is bound by
 * PATTERN_DEPTH_MAX.
 */
export function parseRegex(pattern: string, options: RegexOptions = {}): RegexTree {
  const { position = 0, isFolded = false } = options;
  const characters = Array.from(pattern);
  const reader: RegexReader = {
    characters,
    position,
    posixEnd: characters.findLastIndex(
      (_, i) => characters[i] === ':' && characters[i + 1] === ']',
    ),
    names: new Set(),
    index: 0,
    flags: { ...FLAGS, isFolded },
    depth: 0,
  };
  const size = Buffer.byteLength(pattern);
  if (size > PATTERN_SIZE_MAX) failAt(reader, 0, `${size} bytes, limit ${PATTERN_SIZE_MAX}`);
  const { tree } = readChoice(reader);
  if (peek(reader) === ')') failAt(reader, reader.index, ') without (');
  return tree;
}

function nothingToRepeat(character: string): string {
  const reason = 'nothing to repeat';
  return character === '*'
    ? `${reason}: a glob's * is .* here, its . is \\., its end is $`
    : reason;
}

/** Reads alternatives up to the end or to a ")". */
function readChoice(reader: RegexReader): Parsed {
  const children: RegexTree[] = [];
  let repeatProduct = 1;
  do {
    const parsed = readSequence(reader);
    children.push(parsed.tree);
    repeatProduct = Math.max(repeatProduct, parsed.repeatProduct);
  } while (trySkip(reader, '|'));
  return { tree: unwrap('choice', children), repeatProduct };
}

function readSequence(reader: RegexReader): Parsed {
  const items: Parsed[] = [];
  // Why: `a**` is refused, but in RE2 flags between the two stars make nested repeats.
  let isRepeatable = false;
  for (;;) {
    const character = peek(reader);
    if (character === undefined || character === '|' || character === ')') break;
    const start = reader.index;
    const counts = tryReadCounts(reader);
    if (counts !== undefined) {
      const last = isRepeatable ? items.pop() : undefined;
      if (last === undefined) failAt(reader, start, nothingToRepeat(character));
      items.push(repeat(reader, last, counts));
      isRepeatable = false;
    } else {
      items.push(...readOperands(reader));
      isRepeatable = items.length > 0;
    }
  }
  const children = items.map((item) => item.tree);
  const repeatProduct = items.reduce((product, item) => Math.max(product, item.repeatProduct), 1);
  return { tree: unwrap('sequence', children), repeatProduct };
}

function unwrap(kind: 'sequence' | 'choice', children: readonly RegexTree[]): RegexTree {
  const [first] = children;
  return first !== undefined && children.length === 1 ? first : { kind, children };
}

/** Reads a repeat operator without its question mark; a `{` that begins none is a literal. */
function tryReadCounts(reader: RegexReader): Counts | undefined {
  const countIndex = reader.index;
  if (trySkip(reader, '*')) return { min: 0, countIndex };
  if (trySkip(reader, '+')) return { min: 1, countIndex };
  if (trySkip(reader, '?')) return { min: 0, max: 1, countIndex };
  if (peek(reader) !== '{') return undefined;
  const counts = tryReadBraces(reader);
  if (counts === undefined) reader.index = countIndex;
  return counts;
}

/** `{2}`, `{2,}`, `{2,4}`; undefined for anything else. */
function tryReadBraces(reader: RegexReader): Counts | undefined {
  reader.index++;
  const minIndex = reader.index;
  const min = tryReadCount(reader);
  if (min === undefined) return undefined;
  if (trySkip(reader, '}')) return { min, max: min, countIndex: minIndex };
  if (!trySkip(reader, ',')) return undefined;
  if (trySkip(reader, '}')) return { min, countIndex: minIndex };
  const maxIndex = reader.index;
  const max = tryReadCount(reader);
  if (max === undefined || !trySkip(reader, '}')) return undefined;
  return { min, max, countIndex: min > REPEAT_MAX ? minIndex : maxIndex };
}

/** A decimal number without leading zeros. */
function tryReadCount(reader: RegexReader): number | undefined {
  let digits = '';
  while (/^[0-9]$/.test(peek(reader) ?? '')) {
    digits += peek(reader);
    reader.index++;
  }
  return digits === '' || /^0./.test(digits) ? undefined : Number(digits);
}

function repeat(reader: RegexReader, item: Parsed, counts: Counts): Parsed {
  const { min, max, countIndex } = counts;
  if (min > REPEAT_MAX || (max ?? 0) > REPEAT_MAX)
    failAt(reader, countIndex, `repeat count above ${REPEAT_MAX}`);
  if (max !== undefined && max < min) failAt(reader, countIndex, 'repeat counts run backwards');
  const factor = max ?? Math.max(min, 1);
  const repeatProduct = item.repeatProduct * factor;
  if (repeatProduct > REPEAT_MAX)
    failAt(reader, countIndex, `nested repeat counts multiply to more than ${REPEAT_MAX}`);
  const isLazy = trySkip(reader, '?') !== reader.flags.isLazy;
  const node: RepeatNode = { kind: 'repeat', child: item.tree, min, isLazy };
  return { tree: max === undefined ? node : { ...node, max }, repeatProduct };
}

/** The next atom; none for flags, several for `\Q...\E`. */
function readOperands(reader: RegexReader): readonly Parsed[] {
  switch (peek(reader)) {
    case '(':
      return readGroup(reader);
    case '[':
      return [operand(readClass(reader))];
    case '\\':
      return readBackslash(reader);
    case '.':
      reader.index++;
      return [operand({ kind: 'any', hasNewline: reader.flags.hasNewline })];
    case '^':
      reader.index++;
      return [
        operand({ kind: 'assertion', at: reader.flags.hasLines ? 'lineStart' : 'textStart' }),
      ];
    case '$':
      reader.index++;
      return [operand({ kind: 'assertion', at: reader.flags.hasLines ? 'lineEnd' : 'textEnd' })];
    default:
      return [readLiteral(reader)];
  }
}

function operand(tree: RegexTree): Parsed {
  return { tree, repeatProduct: 1 };
}

function readLiteral(reader: RegexReader): Parsed {
  const codePoint = peek(reader)?.codePointAt(0) ?? 0;
  reader.index++;
  return literal(reader, codePoint);
}

function literal(reader: RegexReader, codePoint: number): Parsed {
  return operand({ kind: 'literal', codePoint, isFolded: reader.flags.isFolded });
}

function readBackslash(reader: RegexReader): readonly Parsed[] {
  if (trySkip(reader, String.raw`\Q`)) return readQuoted(reader);
  const at = ASSERTION_ESCAPES.get(peek(reader, 1) ?? '');
  if (at !== undefined) {
    reader.index += 2;
    return [operand({ kind: 'assertion', at })];
  }
  const set = tryReadClassEscape(reader);
  if (set !== undefined) return [operand(set)];
  reader.index++;
  return [literal(reader, readEscapedCodePoint(reader))];
}

/** The inside of `\Q...\E`; without `\E` it extends to the end. */
function readQuoted(reader: RegexReader): readonly Parsed[] {
  const literals: Parsed[] = [];
  while (peek(reader) !== undefined && !trySkip(reader, String.raw`\E`))
    literals.push(readLiteral(reader));
  return literals;
}

/** Reads the group or the flags whose "(" is at the index. */
function readGroup(reader: RegexReader): readonly Parsed[] {
  const start = reader.index;
  const outerFlags = reader.flags;
  reader.index++;
  if (trySkip(reader, '?') && readGroupHead(reader, start) === 'flags') return [];
  if (reader.depth === PATTERN_DEPTH_MAX)
    failAt(reader, start, `more than ${PATTERN_DEPTH_MAX} nested groups`);
  reader.depth++;
  const parsed = readChoice(reader);
  reader.depth--;
  if (!trySkip(reader, ')')) failAt(reader, start, 'group without )');
  reader.flags = outerFlags;
  return [parsed];
}

const LOOK_AROUND = 'unsupported group: no look-around; -content:x excludes files that contain x';

const FLAG_LETTERS: ReadonlyMap<string, keyof RegexFlags> = new Map([
  ['i', 'isFolded'],
  ['m', 'hasLines'],
  ['s', 'hasNewline'],
  ['U', 'isLazy'],
]);

/** Reads what follows `(?`. `flags`: flags up to the ")", which apply to the rest of the enclosing group. */
function readGroupHead(reader: RegexReader, groupStart: number): 'flags' | 'group' {
  if (trySkip(reader, 'P') || peek(reader) === '<') {
    readGroupName(reader, groupStart);
    return 'group';
  }
  let isOn = true;
  let isFlagDue = false;
  for (;;) {
    const character = peek(reader);
    if (character === undefined) failAt(reader, groupStart, 'group without )');
    const flag = FLAG_LETTERS.get(character);
    if (flag !== undefined) {
      reader.flags = { ...reader.flags, [flag]: isOn };
      isFlagDue = false;
    } else if (character === '-' && isOn) {
      isOn = false;
      isFlagDue = true;
    } else if ((character === ')' || character === ':') && !isFlagDue) {
      reader.index++;
      return character === ')' ? 'flags' : 'group';
    } else {
      failAt(reader, reader.index, isLookAround(reader) ? LOOK_AROUND : 'unsupported group');
    }
    reader.index++;
  }
}

/** `<name>` of letters, digits and underscores, used once. */
function readGroupName(reader: RegexReader, groupStart: number): void {
  const isNamed = trySkip(reader, '<');
  const start = reader.index;
  if (isNamed) while (/^\w$/.test(peek(reader) ?? '')) reader.index++;
  const name = reader.characters.slice(start, reader.index).join('');
  if (peek(reader) === undefined) failAt(reader, groupStart, 'group without )');
  if (name === '' || peek(reader) !== '>') {
    const isAround = isNamed && name === '' && isLookAround(reader);
    failAt(reader, reader.index, isAround ? LOOK_AROUND : 'bad name or unsupported group');
  }
  if (reader.names.has(name)) failAt(reader, start, `second group named ${name}`);
  reader.names.add(name);
  reader.index++;
}

function isLookAround(reader: RegexReader): boolean {
  return peek(reader) === '=' || peek(reader) === '!';
}

// Where a match that may span lines can begin, in terms of blocks, which end at line ends (core/match/match-starts.ts). The
// block where it begins has its first line. Its `reach` is the chain (leading parts with only few kinds of characters) and the
// parts after it up to the first possible newline. Either the block has all of the reach; or it has only characters of the
// chain from the match's first line to its end, and the next block has the rest of the reach, or only such characters.

import {
  ALL,
  allOf,
  anyOf,
  both,
  type Condition,
  either,
  printCondition,
  withoutImplied,
} from './condition.ts';
import type { SimpleTree } from './simple-tree.ts';
import type { Steps } from '../../base/steps.ts';
import {
  conditionOf,
  fewest,
  type RequiredTexts,
  requiredTextsOf,
  type TextOptions,
} from './required-texts.ts';

/** For matches that may span lines; texts as in CompiledRegex.condition. */
export interface MatchStart {
  /** Required in the block where a match begins. */
  readonly start: Condition;
  /** Required by the rest of its reach: each literal is in that block or in the next one. */
  readonly near: Condition;
  /** Bit `b & 7` of byte `b >> 3`: the chain may hold the ASCII byte b. 16 bytes. */
  readonly bytes: Uint8Array;
}

const NEWLINE = 0x0a;
const ASCII_END = 0x80;

/** The beginnings of the matches of `tree`; `hasGaps` only extends `near`. */
export function* matchStartOf(tree: SimpleTree, options: TextOptions): Steps<MatchStart> {
  const sides = tree.kind === 'choice' ? tree.children : [tree];
  let joined: MatchStart | undefined;
  for (const side of sides) {
    const one = yield* ofSequence(side, options);
    joined = joined === undefined ? one : join(joined, one);
    yield;
  }
  // Safety: a choice has children.
  return joined!;
}

function join(left: MatchStart, right: MatchStart): MatchStart {
  const start = either(left.start, right.start);
  // Why the whole: what one side requires in `start` and the other in `near` must not be lost.
  const near = either(both(left.start, left.near), both(right.start, right.near));
  const bytes = left.bytes.map((byte, index) => byte | right.bytes[index]!);
  return { start, near: withoutImplied(near, start), bytes };
}

function* ofSequence(tree: SimpleTree, options: TextOptions): Steps<MatchStart> {
  const coarse = { ...options, hasGaps: false };
  const parts = tree.kind === 'sequence' ? tree.children : [tree];
  const kinds = parts.map(bytesOf);
  const first = requiredOf(parts.slice(0, lineEnd(kinds, 0)), coarse);
  yield;
  const start = both(prefixOf(requiredTextsOf(tree, coarse), coarse), first);
  yield;
  const { size, bytes } = chainOf(kinds);
  const reach = parts.slice(0, lineEnd(kinds, size));
  const near = withoutImplied(requiredOf(reach, coarse), start);
  if (!options.hasGaps) return { start, near, bytes };
  yield;
  const closer = withoutImplied(requiredOf(reach, options), both(start, near));
  // Why in this order and unreduced: the second is expensive to look up and may not pay.
  return { start, near: allOf([near, closer]), bytes };
}

/** The condition on the concatenated texts of `parts`; nothing for texts that may be empty. */
function requiredOf(parts: readonly SimpleTree[], options: TextOptions): Condition {
  const { canBeEmpty, texts } = requiredTextsOf({ kind: 'sequence', children: parts }, options);
  return canBeEmpty || texts === undefined ? ALL : conditionOf(texts, options);
}

function prefixOf({ texts }: RequiredTexts, { literalMin }: TextOptions): Condition {
  const prefix = texts === undefined ? [] : fewest(texts.prefix, 'start');
  const isLongEnough = prefix.every((text) => Array.from(text).length >= literalMin);
  return prefix.length > 0 && isLongEnough ? anyOf(prefix) : ALL;
}

/** End of the parts from `first` on that cannot contain a newline. */
function lineEnd(kinds: readonly Uint8Array[], first: number): number {
  const end = kinds.findIndex((bytes, index) => index >= first && hasByte(bytes, NEWLINE));
  return end < 0 ? kinds.length : end;
}

/** The longest chain: it grows as long as some printable byte is excluded. */
function chainOf(kinds: readonly Uint8Array[]): { size: number; bytes: Uint8Array } {
  let bytes: Uint8Array = new Uint8Array(ASCII_END / 8);
  for (const [size, added] of kinds.entries()) {
    const longer = bytes.map((byte, index) => byte | added[index]!);
    if (!excludesPrintable(longer)) return { size, bytes };
    bytes = longer;
  }
  return { size: kinds.length, bytes };
}

function excludesPrintable(bytes: Uint8Array): boolean {
  for (let byte = 0x20; byte < 0x7f; byte++) if (!hasByte(bytes, byte)) return true;
  return false;
}

function bytesOf(tree: SimpleTree): Uint8Array {
  const bytes = new Uint8Array(ASCII_END / 8);
  addBytes(tree, bytes);
  return bytes;
}

function addBytes(tree: SimpleTree, bytes: Uint8Array): void {
  switch (tree.kind) {
    case 'set':
      for (const { start, end } of tree.ranges) {
        for (let byte = start; byte < Math.min(end, ASCII_END); byte++)
          bytes[byte >> 3]! |= 1 << (byte & 7);
      }
      return;
    case 'assertion':
      return;
    case 'repeat':
      return addBytes(tree.child, bytes);
    default:
      for (const child of tree.children) addBytes(child, bytes);
  }
}

function hasByte(bytes: Uint8Array, byte: number): boolean {
  return (bytes[byte >> 3]! & (1 << (byte & 7))) !== 0;
}

/** Canonical text: `"err" near or("-ea", "-eb") over 40 kinds of bytes`; of each list only the first `partsMax`. */
export function printMatchStart({ start, near, bytes }: MatchStart, partsMax = Infinity): string {
  const first = printCondition(start, partsMax);
  if (near.kind === 'all') return first;
  let count = 0;
  for (let byte = 0; byte < ASCII_END; byte++) if (hasByte(bytes, byte)) count++;
  return `${first} near ${printCondition(near, partsMax)} over ${count} kinds of bytes`;
}

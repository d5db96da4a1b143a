// The part of a path's base name, without extension, that leaves cover: letters and digits, and
// leaves that are whole words. A word also ends at an underscore, and between a small and a capital
// letter. Only ASCII folds.

import { beginRegexText, findRegex, foundEnd, foundStart } from '../regex/regex.ts';
import { TEXT_ANY } from '../regex/text.ts';
import { NODE_REGEX, NODE_SYMBOL_REGEX } from '../shared/plan.ts';
import { isWordByte } from '../text/words.ts';
import { current } from './current.ts';
import { slotBit } from './near.ts';
import { activeInContent, activeWords, leafAt, LeafList, RangeLeaf } from './node.ts';
import { RegexLeaf } from './regex-leaf.ts';

/** Most bytes of a base name to test: a bit each. */
const NAME_SIZE_MAX: usize = 64;

/** Results of coverName and coverNameOf: share of the letters; the leaves that are words, a bit for each slot. */
export let nameShare: f64 = 0;
export let nameWords: u32 = 0;

let nameStart: usize = 0;
let nameEnd: usize = 0;

/** Covers the name of the current doc by its active leaves. */
export function coverName(): void {
  findName(current.pathStart, current.pathEnd);
  setCover(coverByAll(activeInContent) | coverByAll(activeWords));
}

/** Covers the name in the path [start, end) by leaves; returns the share of its letters. */
export function coverNameOf(start: usize, end: usize, leaves: LeafList): f64 {
  findName(start, end);
  setCover(coverByAll(leaves));
  return nameShare;
}

function coverByAll(leaves: LeafList): u64 {
  let covered: u64 = 0;
  for (let i: u32 = 0; i < leaves.count; i++) {
    const leaf = leafAt(leaves, i);
    if (leaf.kind == NODE_REGEX) covered |= coverByRegex(changetype<RegexLeaf>(leaf));
    else if (leaf.kind != NODE_SYMBOL_REGEX) covered |= coverBy(leaf);
  }
  return covered;
}

function setCover(covered: u64): void {
  const letters = lettersOfName();
  nameShare = letters == 0 ? 0 : <f64>popcnt(covered & letters) / <f64>popcnt(letters);
}

/** The base name of the path [start, end), up to its last dot, unless that is its first byte. */
function findName(start: usize, end: usize): void {
  nameWords = 0;
  nameStart = end;
  nameEnd = end;
  while (nameStart > start && load<u8>(nameStart - 1) != 47) nameStart--;
  for (let ptr = end; ptr > nameStart + 1; ptr--) {
    if (load<u8>(ptr - 1) != 46) continue;
    nameEnd = ptr - 1;
    break;
  }
  nameEnd = min(nameEnd, nameStart + NAME_SIZE_MAX);
}

function lettersOfName(): u64 {
  let letters: u64 = 0;
  for (let ptr = nameStart; ptr < nameEnd; ptr++)
    if (isNamePart(load<u8>(ptr))) letters |= (<u64>1) << (ptr - nameStart);
  return letters;
}

function coverBy(leaf: RangeLeaf): u64 {
  const size = <usize>leaf.dataSize;
  let covered: u64 = 0;
  for (let ptr = nameStart; ptr + size <= nameEnd; ptr++) {
    if (isFoldedAlike(ptr, leaf.data, size)) covered |= coverRange(leaf, ptr, ptr + size);
  }
  return covered;
}

/** The bytes of the name covered by matches of the expression. The name is its text. */
function coverByRegex(leaf: RegexLeaf): u64 {
  let covered: u64 = 0;
  beginRegexText(leaf.regex, nameStart, nameEnd, TEXT_ANY);
  for (let ptr = nameStart; findRegex(leaf.regex, ptr, nameEnd); ptr = foundEnd)
    covered |= coverRange(leaf, foundStart, foundEnd);
  return covered;
}

function coverRange(leaf: RangeLeaf, start: usize, end: usize): u64 {
  if (isNameWord(start, end)) nameWords |= slotBit(leaf.slot);
  const size = end - start;
  const bits: u64 = size == NAME_SIZE_MAX ? <u64>-1 : ((<u64>1) << size) - 1;
  return bits << (start - nameStart);
}

export function isFoldedAlike(a: usize, b: usize, size: usize): bool {
  for (let i: usize = 0; i < size; i++)
    if (lowered(load<u8>(a + i)) != lowered(load<u8>(b + i))) return false;
  return true;
}

function isNameWord(start: usize, end: usize): bool {
  return (start == nameStart || isNameBorder(start)) && (end == nameEnd || isNameBorder(end));
}

/** Safety: it is inside the name. */
function isNameBorder(ptr: usize): bool {
  const before = load<u8>(ptr - 1);
  const after = load<u8>(ptr);
  return !isNamePart(before) || !isNamePart(after) || (isLarge(after) && !isLarge(before));
}

@inline
function isLarge(byte: u32): bool {
  return byte >= 65 && byte <= 90;
}

@inline
function lowered(byte: u32): u32 {
  return isLarge(byte) ? byte | 0x20 : byte;
}

/** Whether a byte is a letter or digit, or part of a non-ASCII code point. */
@inline
export function isNamePart(byte: u32): bool {
  return byte != 95 && (byte >= 128 || isWordByte(byte));
}

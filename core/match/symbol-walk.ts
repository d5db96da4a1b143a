// Walks the symbols of the current blob along with its ranges: a range gets points for the symbol
// that it overlaps, and a range found by a query for symbols is shown with its symbol.

import { SYMBOL_KIND_NAMES } from '../shared/kinds.ts';
import { SYMBOL_OTHER } from '../shared/symbols.ts';
import {
  hasSymbols,
  hasSymbolsIn,
  needSymbolRows,
  NO_PARENT,
  readSymbol,
  symbolRow,
  symbolRowsEndOf,
  symbolRowsOf,
} from '../shard/symbols.ts';
import { boundView } from './bound.ts';
import { blockOf, blockStart, current } from './current.ts';
import { symbolPoints } from './range-score.ts';

@unmanaged
class SymbolWalk {
  block: u32;
  blockEnd: usize; // 0: it was not entered yet
  row: usize;
  rowsEnd: usize;
  lastParent: u32;
  isAtEnd: bool; // there are no symbols
  isOnSymbol: bool;
  // The current symbol:
  start: usize;
  end: usize; // before the first one: the start of the block
  kind: u32; // SYMBOL_*
  parent: u32; // NO_PARENT
}
export const walk = changetype<SymbolWalk>(memory.data(40, 8));
if (offsetof<SymbolWalk>() > 40) ERROR('SymbolWalk: size');

export function beginSymbolWalk(): void {
  walk.isOnSymbol = false;
  walk.block = current.firstBlock;
  walk.blockEnd = 0;
  walk.isAtEnd =
    !hasSymbols(boundView) || !hasSymbolsIn(boundView, current.firstBlock, current.endBlock);
}

function enterBlock(block: u32): void {
  needSymbolRows(boundView, block);
  walk.block = block;
  walk.row = symbolRowsOf(boundView, block);
  walk.rowsEnd = symbolRowsEndOf(boundView, block);
  walk.end = blockStart(block);
  walk.blockEnd = blockStart(block + 1);
  walk.lastParent = NO_PARENT;
  walk.isOnSymbol = false;
}

/** Moves to the next symbol of the block; false if there is none. */
function nextSymbol(): bool {
  walk.isOnSymbol = false;
  if (!readSymbol(boundView, walk.row, walk.rowsEnd, walk.lastParent)) return false;
  const start = walk.end + symbolRow.gap;
  const end = start + symbolRow.size;
  walk.start = start;
  if (end > walk.blockEnd) return false;
  walk.end = end;
  walk.row = symbolRow.next;
  walk.kind = symbolRow.kind;
  walk.parent = symbolRow.parent;
  if (symbolRow.parent != NO_PARENT) walk.lastParent = symbolRow.parent;
  walk.isOnSymbol = true;
  return true;
}

/**
 * Moves to the first symbol that ends after `start` and begins before `end`; false: none. Starts
 * must not descend.
 */
export function findSymbol(start: usize, end: usize): bool {
  if (walk.isAtEnd) return false;
  if (start >= walk.blockEnd) enterBlock(blockOf(start, walk.block));
  while (!walk.isOnSymbol || walk.end <= start) {
    if (nextSymbol()) continue;
    // A range may span blocks.
    if (end <= walk.blockEnd || walk.block + 1 >= current.endBlock) return false;
    enterBlock(walk.block + 1);
  }
  return walk.start < end;
}

/** Points of a range for the first symbol that it overlaps; starts must not descend. */
export function walkPoints(start: usize, end: usize): u32 {
  if (!findSymbol(start, end)) return 0;
  return symbolPoints((start == walk.start ? 1 : 0) + (end == walk.end ? 1 : 0), walk.kind);
}

/** Moves to the symbol that contains the range; false: none. Starts must not descend. */
export function enterSymbol(start: usize, end: usize): bool {
  return findSymbol(start, end) && walk.start <= start && walk.end >= end;
}

/** Name of a kind in the API. Safety: there is a name for each kind up to SYMBOL_OTHER. */
export function symbolKindName(kind: u32): string {
  return unchecked(SYMBOL_KIND_NAMES[min(kind, SYMBOL_OTHER)]);
}

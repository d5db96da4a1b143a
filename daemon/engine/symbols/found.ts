// The symbols found in one content: ascending, without overlaps, every name on one line and of bounded size.

import { SYMBOL_NAME_SIZE_MAX } from '../../../core/shared/symbols.ts';
import { kindIndex, type SymbolKind } from './kinds.ts';

export interface FoundSymbol {
  /** Of the name; bytes from the start of the content. */
  readonly start: number;
  readonly size: number;
  /** Index in SYMBOL_KINDS. */
  readonly kind: number;
  /** The nearest enclosing symbol with a name. */
  readonly parent?: { readonly name: string; readonly kind: number };
}

export interface ExtractionFailure {
  readonly failure: 'timeout' | 'crash' | 'memory' | 'output';
  readonly detail: string;
}

/** Bytes of a content, `end` excluded. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface Found {
  readonly symbols: readonly FoundSymbol[];
  /** Large unreadable parts, ascending; undefined: everything was read. */
  readonly unread?: readonly Part[];
  /** A better engine that failed, and why. */
  readonly failedEngine?: string;
}

export type Extraction = Found | ExtractionFailure;

export interface EngineLimits {
  /** Contents read at a time. */
  readonly concurrency: number;
  /** Of processor time, for one content. */
  readonly timeoutMs: number;
  /** Bytes of memory of one process. */
  readonly memoryMax: number;
}

export interface Engine {
  knows(language: string): boolean;
  /**
   * The symbols of one content, which must not change meanwhile. Errors: none for problems with the content; rejects once
   * closed.
   */
  extract(language: string, content: Uint8Array): Promise<Extraction>;
  /** Ends processes and threads; running extractions fail. */
  close(): Promise<void>;
}

export interface Parent {
  readonly name: string;
  readonly kind: SymbolKind;
}

export interface PlacedSymbol {
  readonly start: number;
  readonly size: number;
  readonly kind: SymbolKind;
  readonly parent: Parent | undefined;
}

/** Sorts symbols; drops names that are empty, too long, or overlap an earlier one. At equal starts the first stays. */
export function orderSymbols(placed: readonly PlacedSymbol[]): FoundSymbol[] {
  const sorted = [...placed].sort((a, b) => a.start - b.start);
  const symbols: FoundSymbol[] = [];
  let end = 0;
  for (const { start, size, kind, parent } of sorted) {
    // Below 0: error recovery of tree-sitter may put the end of a name before its start.
    if (size <= 0 || size > SYMBOL_NAME_SIZE_MAX || start < end) continue;
    end = start + size;
    const found = { start, size, kind: kindIndex(kind) };
    symbols.push(
      parent === undefined || parent.name === '' || parent.name.length > SYMBOL_NAME_SIZE_MAX / 4
        ? found
        : { ...found, parent: { name: parent.name, kind: kindIndex(parent.kind) } },
    );
  }
  return symbols;
}

/** Adds the symbols of another engine that begin in parts the first could not read. Both ascend. */
export function mergeSymbols(
  { symbols, unread = [] }: Found,
  others: readonly FoundSymbol[],
): FoundSymbol[] {
  let part = 0;
  let own = 0;
  const added = others.filter(({ start, size }) => {
    while (part < unread.length && unread[part]!.end <= start) part++;
    while (own < symbols.length && symbols[own]!.start + symbols[own]!.size <= start) own++;
    const isUnread = (unread[part]?.start ?? Infinity) <= start;
    return isUnread && (symbols[own]?.start ?? Infinity) >= start + size;
  });
  return [...symbols, ...added].sort((a, b) => a.start - b.start);
}

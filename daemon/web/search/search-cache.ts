// The latest searches with their results, for back and forward: no request, the same rows.

import { LRUCache } from 'lru-cache';
import type { Cards } from './cards.ts';
import type { Outcome, Search } from './messages.ts';
import type { SortOrder } from './order.ts';
import type { ResultFile } from './rows.ts';

/** A finished search, as displayed. */
export interface KeptSearch {
  readonly search: Search;
  readonly state: 'done' | 'stopped';
  readonly files: readonly ResultFile[];
  readonly sort: SortOrder;
  readonly seen: ReadonlySet<string>;
  readonly cards: Cards;
  readonly outcome: Outcome | undefined;
  readonly firstMs: number | undefined;
  readonly allMs: number | undefined;
}

const KEPT_MAX = 5;
/** Approximate size of all searches, in bytes. */
const KEPT_SIZE_MAX = 60_000_000;
/** Approximate size of a line besides its text, in bytes. */
const LINE_SIZE = 200;

function sizeOf({ files }: KeptSearch): number {
  let size = 1;
  for (const { lines } of files) for (const { text } of lines) size += LINE_SIZE + 2 * text.length;
  return size;
}

const kept = new LRUCache<string, KeptSearch>({
  max: KEPT_MAX,
  maxSize: KEPT_SIZE_MAX,
  sizeCalculation: sizeOf,
});

export function keepSearch(search: KeptSearch): void {
  kept.set(JSON.stringify(search.search), search);
}

export function keptSearch(search: Search): KeptSearch | undefined {
  return kept.get(JSON.stringify(search));
}

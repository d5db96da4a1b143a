// Page sums: each page of 4 KiB of a file has a sum in its last section, and is checked before it
// is first read. A bitmap over the whole memory marks checked pages; the host clears it every few
// minutes (daemon/engine/host/space.ts), and brings a page in before it is touched: an unreadable
// one would end the process. Neither is done for a page that another thread has checked lately. Builds
// have no bitmap: nothing is checked. FORMAT.md, "Page sums".

import { HEADER_SIZE, PAGE_SHIFT, PAGE_SIZE } from '../shared/format.ts';
import { PAGES_IN, PAGES_LOST } from '../shared/status.ts';
import { SYMBOLS_HEADER_SIZE } from '../shared/symbols.ts';
import { getBit, setBit } from '../base/bits.ts';
import { xxh64 } from '../base/xxh64.ts';
import { ShardView } from './view.ts';

/** Asks the host to bring whole pages of the file at `base` in; returns a PAGES_ number. */
@external('env', 'bringIn')
declare function bringIn(base: usize, address: usize, size: usize): u32;

/** Tells the host that whole pages of the file at `base` have the sums they should. */
@external('env', 'noteChecked')
declare function noteChecked(base: usize, address: usize, size: usize): void;

/** Reports a damaged page at `address` to the host. Does not return: the host ends the call. */
@external('env', 'refusePage')
export declare function refusePage(address: usize): void;

/** Tells the host that [address, address + size) will be read soon. */
@external('env', 'willNeed')
declare function willNeed(address: usize, size: usize): void;

/** A bit for each page of the memory; 0: nothing is checked. */
let verifiedPages: usize = 0;
export function verifiedPagesSize(): usize {
  return (<usize>1 << (32 - PAGE_SHIFT)) >> 3;
}

/** The address of the page that failed the last check. */
let failedPage: usize = 0;

/** Passes a bitmap of verifiedPagesSize zero bytes; from now on pages are checked. */
export function pagesInit(bitmap: usize): void {
  verifiedPages = bitmap;
}

/** Clears the bits of the pages in [start, end): their bytes may have changed. */
export function forgetPages(start: usize, end: usize): void {
  for (let page = start >> PAGE_SHIFT; page < (end + PAGE_SIZE - 1) >> PAGE_SHIFT; page++) {
    const ptr = verifiedPages + (page >> 3);
    store<u8>(ptr, load<u8>(ptr) & ~<u8>((<u32>1) << (<u32>page & 7)));
  }
}

@inline
function isVerified(page: usize): bool {
  return getBit(verifiedPages, <u32>page) != 0;
}

/** Sum of a page of the file; the first `headSize` bytes and those from `end` on do not count. */
@inline
function sumOf(base: usize, headSize: usize, end: usize, page: usize): u32 {
  const start = max(base + headSize, base + (page << PAGE_SHIFT));
  const stop = min(end, base + ((page + 1) << PAGE_SHIFT));
  return <u32>xxh64(start, start < stop ? stop - start : 0);
}

/** Writes the sums of all pages of the file up to `end` to `out`, u32 each. */
export function sumPages(base: usize, headSize: usize, end: usize, out: usize): void {
  const count = (end - base + PAGE_SIZE - 1) >> PAGE_SHIFT;
  for (let page: usize = 0; page < count; page++) {
    store<u32>(out + (page << 2), sumOf(base, headSize, end, page));
  }
}

/** First page of a file with a wrong sum; 0xffffffff: none. The sums follow the pages. */
export function findDamagedPage(base: usize, headSize: usize, sums: usize): u32 {
  const count = (sums - base + PAGE_SIZE - 1) >> PAGE_SHIFT;
  for (let page: usize = 0; page < count; page++) {
    if (sumOf(base, headSize, sums, page) != load<u32>(sums + (page << 2))) return <u32>page;
  }
  return 0xffffffff;
}

/** Whether the pages of the file at `base` with [start, end) are valid; checks those not marked. */
export function arePagesValid(
  base: usize,
  headSize: usize,
  sums: usize,
  start: usize,
  end: usize,
): bool {
  if (verifiedPages == 0) return true;
  const last = (min(end, sums) - 1) >> PAGE_SHIFT;
  for (let page = start >> PAGE_SHIFT; page <= last; page++) {
    if (isVerified(page)) continue;
    let stop = page + 1;
    while (stop <= last && !isVerified(stop)) stop++;
    if (!checkRun(base, headSize, sums, page, stop)) return false;
    page = stop;
  }
  return true;
}

/** Checks the pages [first, stop) of the memory. */
function checkRun(base: usize, headSize: usize, sums: usize, first: usize, stop: usize): bool {
  const start = first << PAGE_SHIFT;
  const size = (stop - first) << PAGE_SHIFT;
  failedPage = start;
  const state = bringIn(base, start, size);
  if (state == PAGES_LOST) return false;
  for (let page = first; page < stop; page++) {
    if (state == PAGES_IN) {
      const ofFile = page - (base >> PAGE_SHIFT);
      failedPage = page << PAGE_SHIFT;
      if (sumOf(base, headSize, sums, ofFile) != load<u32>(sums + (ofFile << 2))) return false;
    }
    setBit(verifiedPages, <u32>page);
  }
  if (state == PAGES_IN) noteChecked(base, start, size);
  return true;
}

/** Page of the file at `base` that failed arePagesValid. */
export function failedPageOf(base: usize): u32 {
  return <u32>((failedPage - base) >> PAGE_SHIFT);
}

/** Ensures that [start, end) of the shard is in memory and valid; else the call ends here. */
@inline
export function needBytes(view: ShardView, start: usize, end: usize): void {
  if (!arePagesValid(view.base, HEADER_SIZE, view.pageSums, start, end)) refusePage(failedPage);
}

/** As needBytes, for its symbols file. */
@inline
export function needSymbolBytes(view: ShardView, start: usize, end: usize): void {
  if (
    start < end &&
    !arePagesValid(view.symbolBase, SYMBOLS_HEADER_SIZE, view.symbolPageSums, start, end)
  ) {
    refusePage(failedPage);
  }
}

/** The byte at `address` of a shard, or 0 if its page is not checked. */
@inline
export function readIfChecked(address: usize): u32 {
  return verifiedPages != 0 && isVerified(address >> PAGE_SHIFT) ? <u32>load<u8>(address) : 0;
}

/** Has the system begin to read [start, end). */
export function prefetch(start: usize, end: usize): void {
  if (verifiedPages != 0 && start < end) willNeed(start, end - start);
}

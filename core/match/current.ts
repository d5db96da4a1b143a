// The doc that is evaluated or rendered, and its blob. All reads of content are recorded here
// first: a block counts once, and its pages are checked (shard/pages.ts).

import { forgetRegexTexts } from '../regex/regex.ts';
import { BLOB_FLAG_MARKED, NONE_ID } from '../shared/format.ts';
import { STATUS_STOPPED } from '../shared/status.ts';
import { HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { blobAt, blockAt, docAt } from '../shard/open.ts';
import { needBytes } from '../shard/pages.ts';
import { isAscii } from '../text/utf8.ts';
import { boundView } from './bound.ts';
import { leafAt, contentLeafAt, contentLeaves, pathLeaves, STATE_UNKNOWN } from './node.ts';

/** All addresses point into the shard in memory; valid until another shard is bound. */
@unmanaged
class CurrentDoc {
  docId: u32; // NONE_ID: none
  blobId: u32; // NONE_ID: no content
  start: usize; // of the text, after a byte order mark; 0 without content
  end: usize;
  fileStart: usize; // of the content with its mark: origin of byte offsets
  firstBlock: u32;
  endBlock: u32;
  flags: u32; // BLOB_FLAG_* of the content, and so HAYSTACK_FOLDS_INTO_ASCII
  pathStart: usize;
  pathEnd: usize;
  pathFlags: u32; // HAYSTACK_FOLDS_INTO_ASCII
  readBits: usize; // address of a bit for each of the blob's blocks that was read
  isRead: bool; // whether the doc would have been read if it were the only one with its blob
}
export const current = changetype<CurrentDoc>(memory.data(56, 8));
if (offsetof<CurrentDoc>() > 56) ERROR('CurrentDoc: size');

/** Bytes of blocks read, and runs of expressions on blocks and names, since beginDocs. */
export let contentBytesRead: f64 = 0;
export let regexRunsInContent: f64 = 0;

/** Begins a request. `readBits` are SHARD_BITMAP_SIZE bytes that live as long as it. */
export function beginDocs(readBits: usize): void {
  current.readBits = readBits;
  contentBytesRead = 0;
  regexRunsInContent = 0;
  forgetReads();
}

/** Forgets the reads of the current blob, so that the next doc is read as if it were the first. */
export function forgetReads(): void {
  current.docId = NONE_ID;
  current.blobId = NONE_ID;
}

/** Forgets everything that work ended by the host may have left incomplete. Returns the status. */
export function forgetStopped(): i32 {
  forgetReads();
  forgetRegexTexts();
  return STATUS_STOPPED;
}

/** Makes `id` the current doc. Resets what leaves know of the last doc, and of the last blob if it is another. */
export function enterDoc(id: u32): void {
  const row = docAt(boundView, id);
  current.docId = id;
  current.pathStart = <usize>boundView.paths + row.pathOffset;
  current.pathEnd = current.pathStart + row.pathSize;
  current.pathFlags = isAscii(current.pathStart, current.pathEnd) ? 0 : HAYSTACK_FOLDS_INTO_ASCII;
  for (let i: u32 = 0; i < pathLeaves.count; i++) leafAt(pathLeaves, i).state = STATE_UNKNOWN;
  current.isRead = false;
  if (row.blobId == current.blobId && row.blobId != NONE_ID) return;
  for (let i: u32 = 0; i < contentLeaves.count; i++) {
    contentLeafAt(i).state = STATE_UNKNOWN;
    contentLeafAt(i).countedEnd = 0;
  }
  enterBlob(row.blobId);
}

function enterBlob(blobId: u32): void {
  current.blobId = blobId;
  if (blobId == NONE_ID) {
    current.start = 0;
    current.end = 0;
    current.fileStart = 0;
    current.firstBlock = 0;
    current.endBlock = 0;
    return;
  }
  const blob = blobAt(boundView, blobId);
  const markSize: u32 = (blob.flags & BLOB_FLAG_MARKED) != 0 ? min(3, blob.size) : 0;
  current.fileStart = <usize>boundView.content + blob.contentOffset;
  current.start = current.fileStart + markSize;
  current.end = current.fileStart + blob.size;
  current.firstBlock = blob.firstBlock;
  current.endBlock = blob.firstBlock + blob.blockCount;
  current.flags = blob.flags;
  memory.fill(current.readBits, 0, (blob.blockCount + 7) >> 3);
}

/** Start of a block; for the block after the last one of a blob, the end of the blob. */
@inline
export function blockStart(block: u32): usize {
  return <usize>boundView.content + blockAt(boundView, block).contentOffset;
}

/** Block of the current content that contains the address, or its last one; not before `first`. */
export function blockOf(ptr: usize, first: u32): u32 {
  const offset = <u32>(ptr - boundView.content);
  let start = first;
  let end = current.endBlock;
  while (end - start > 1) {
    const middle = (start + end) >> 1;
    if (blockAt(boundView, middle).contentOffset <= offset) start = middle;
    else end = middle;
  }
  return start;
}

/** Ensures that the current content is in memory and valid. */
export function needCurrentContent(): void {
  if (current.end > current.start) needBytes(boundView, current.start, current.end);
}

/** Records and checks the blocks [start, end) that are about to be read; each counts once. */
export function markRead(start: u32, end: u32): void {
  current.isRead = true;
  // Word borders depend on the surroundings of a range, and scans read slightly further.
  needBytes(boundView, max(current.fileStart, blockStart(start) - 4), blockStart(end) + 64);
  for (let block = start; block < end; block++) {
    const index = block - current.firstBlock;
    const ptr = current.readBits + (index >> 3);
    const bit = <u32>1 << (index & 7);
    const byte = <u32>load<u8>(ptr);
    if ((byte & bit) != 0) continue;
    store<u8>(ptr, <u8>(byte | bit));
    contentBytesRead += <f64>(blockStart(block + 1) - blockStart(block));
  }
}

export function countContentRuns(count: u32): void {
  regexRunsInContent += count;
}

// Whether all is there that was kept in the write-ahead log of the embedded store, which holds what is not in the file itself
// yet: after a process that did not end by itself. SQLite takes a frame whose checksum is wrong for the end of the log, and
// drops what is behind it without a word, which may say who may see what. Two things tell: frames from that one on which end a
// transaction, and the header of `-shm`, which says how many frames had been kept. A power loss takes only what nobody was told
// is kept, and leaves a header that is behind, never one that is ahead. Of the last frame that header alone tells: SQLite writes
// the head of a frame, then its page, over what an older log has left, and a process may end in between.
//
// Source: sqlite.org/walformat.html. Measured: see README.md.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { readOwn, writeOwn } from '../base/own-file.ts';

const HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
const PAGE_SIZE_MIN = 512;
/** Without the lowest bit: the words of checksums are big-endian. */
const MAGIC = 0x377f0682;
/** Of `-shm`: its header, twice, and how many frames are in the file itself. */
const INDEX_HEADER_SIZE = 48;
const INDEX_SIZE = 100;

/** What a log was found to have lost lies here until the operator has seen to it. */
const lostLog = (file: string): string => `${file}-wal.damaged`;

/**
 * What the operator has to know of a log that lost what was kept in it, until its copy is removed; undefined: none did.
 *
 * @param file  of the store
 */
export function lossTold(file: string): string | undefined {
  if (!existsSync(lostLog(file))) return undefined;
  const [log, copy] = [`${file}-wal`, lostLog(file)].map((one) => path.basename(one));
  return (
    `${log} was damaged, and changes that had been kept are lost, which may have said who may see what: restore a backup ` +
    `("trawl restore"), or look through users, grants and repositories, then remove ${copy} from the data directory`
  );
}

/**
 * Keeps a copy of a log that has lost what was kept in it. To be called before the store is opened. Safety: no other
 * connection of this process has it open, whose locks would end.
 *
 * Errors: the copy cannot be written; nothing is lost without a word.
 */
export function keepLostLog(file: string): void {
  const log = bytesOf(`${file}-wal`);
  if (hasLost(log, bytesOf(`${file}-shm`))) writeOwn(lostLog(file), log, { mode: 0o600 });
}

/** Empty: there is none, or it cannot be read, which who opens it will say. */
function bytesOf(file: string): Buffer {
  try {
    return readOwn(file);
  } catch {
    return Buffer.alloc(0);
  }
}

/** What SQLite would read of a log. */
interface ReadLog {
  readonly salts: Buffer;
  /** Up to the end of the last transaction that can be read. */
  readonly frameCount: number;
  /** Ends of transactions that cannot be, with frames behind them. */
  readonly lostCount: number;
  /** The last frame ends one, and cannot be read: it may have been being written. */
  readonly isEndTorn: boolean;
}

function hasLost(bytes: Buffer, indexBytes: Buffer): boolean {
  const log = readLog(bytes);
  const index = readIndex(indexBytes);
  if (log !== undefined && log.lostCount > 0) return true;
  const isEndTorn = log?.isEndTorn ?? false;
  // Without its header nothing of it is read.
  if (index === undefined && log === undefined) return bytes.length > HEADER_SIZE + PAGE_SIZE_MIN;
  if (index === undefined) return isEndTorn;
  // One that was begun anew since.
  if (log !== undefined && !log.salts.equals(index.salts)) return isEndTorn;
  const readCount = log?.frameCount ?? 0;
  // Why not the stored ones where some are read: those are older than what is in the file itself.
  return (readCount > 0 ? readCount : index.storedCount) < index.frameCount;
}

/** Undefined: it has no header. */
function readLog(bytes: Buffer): ReadLog | undefined {
  if (bytes.length < HEADER_SIZE) return undefined;
  const magic = bytes.readUInt32BE(0);
  const isBig = magic === MAGIC + 1;
  if (magic !== MAGIC && !isBig) return undefined;
  let sum = checksumOf(bytes, 0, HEADER_SIZE - 8, isBig, [0, 0]);
  if (!isSum(bytes, HEADER_SIZE - 8, sum)) return undefined;
  const frameSize = FRAME_HEADER_SIZE + bytes.readUInt32BE(8);
  const salts = bytes.subarray(16, 24);
  let [isSound, frameCount, lostCount, tornCount] = [true, 0, 0, 0];
  for (let index = 0; HEADER_SIZE + (index + 1) * frameSize <= bytes.length; index++) {
    const start = HEADER_SIZE + index * frameSize;
    // What is left of a log before.
    const isOwn = salts.equals(bytes.subarray(start + 8, start + 16));
    // A frame is begun when the one before is whole.
    if (isOwn) [lostCount, tornCount] = [lostCount + tornCount, 0];
    if (isSound && isOwn) {
      sum = checksumOf(bytes, start, start + 8, isBig, sum);
      sum = checksumOf(bytes, start + FRAME_HEADER_SIZE, start + frameSize, isBig, sum);
    }
    isSound &&= isOwn && isSum(bytes, start + 16, sum);
    // Of the last frame of a transaction: pages of the file.
    const isEnd = bytes.readUInt32BE(start + 4) > 0;
    if (isEnd && isSound) frameCount = index + 1;
    else if (isEnd && isOwn) tornCount = 1;
  }
  return { salts, frameCount, lostCount, isEndTorn: tornCount > 0 };
}

type Checksum = readonly [first: number, second: number];

/** Goes on from `sum` over words of 32 bits. */
function checksumOf(
  bytes: Buffer,
  start: number,
  end: number,
  isBig: boolean,
  sum: Checksum,
): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [first, second] = sum;
  for (let at = start; at < end; at += 8) {
    first = (first + view.getUint32(at, !isBig) + second) >>> 0;
    second = (second + view.getUint32(at + 4, !isBig) + first) >>> 0;
  }
  return [first, second];
}

function isSum(bytes: Buffer, at: number, [first, second]: Checksum): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}

/** What `-shm` says of the log. */
interface LogIndex {
  readonly salts: Buffer;
  readonly frameCount: number;
  /** Frames that are in the file itself. */
  readonly storedCount: number;
}

/** Undefined: it says nothing, or was being written. */
function readIndex(bytes: Buffer): LogIndex | undefined {
  if (bytes.length < INDEX_SIZE) return undefined;
  const [header, again] = [0, INDEX_HEADER_SIZE].map((at) =>
    bytes.subarray(at, at + INDEX_HEADER_SIZE),
  );
  const [first, second] = checksumOf(bytes, 0, INDEX_HEADER_SIZE - 8, false, [0, 0]);
  // Source: words are those of the machine; on one whose words are big-endian the sum is another.
  const isSound = header!.readUInt32LE(40) === first && header!.readUInt32LE(44) === second;
  if (!isSound || !header!.equals(again!)) return undefined;
  return {
    salts: header!.subarray(32, 40),
    frameCount: header!.readUInt32LE(16),
    storedCount: bytes.readUInt32LE(2 * INDEX_HEADER_SIZE),
  };
}

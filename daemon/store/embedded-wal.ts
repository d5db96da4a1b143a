// Checks the write-ahead log of the embedded store for lost commits after a crash. SQLite takes a frame with a wrong
// checksum for the end of the log and silently drops the rest, which may contain permissions. Two signs tell: commit frames
// after the bad one, and the header of `-shm`, which counts the committed frames. A power loss only loses unacknowledged
// commits, and leaves a header that is behind, never one that is ahead. For the last frame, only that header tells: SQLite
// writes a frame's head, then its page, over the remains of an older log, and a process may crash in between.
//
// Source: sqlite.org/walformat.html. Measured: see README.md.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { readOwn, writeOwn } from '../base/own-file.ts';

const HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
const PAGE_SIZE_MIN = 512;
/** Without the lowest bit: checksums use big-endian words. */
const MAGIC = 0x377f0682;
/** Of `-shm`: its header, twice, and the number of frames copied into the file. */
const INDEX_HEADER_SIZE = 48;
const INDEX_SIZE = 100;

/** Copy of a damaged log, kept until the operator removes it. */
const lostLog = (file: string): string => `${file}-wal.damaged`;

/**
 * Message for the operator about a log with lost commits, until its copy is removed; undefined: no loss.
 *
 * @param file  of the store
 */
export function lossMessage(file: string): string | undefined {
  if (!existsSync(lostLog(file))) return undefined;
  const [log, copy] = [`${file}-wal`, lostLog(file)].map((one) => path.basename(one));
  return (
    `${log} was damaged, and committed changes are lost, permissions perhaps among them: restore a backup ` +
    `("trawl restore"), or check users, grants and repositories, then remove ${copy} from the data directory`
  );
}

/**
 * Copies a log with lost commits. Call before the store is opened. Safety: no other connection of this process may have it
 * open, as its locks would be released.
 *
 * Errors: the copy cannot be written; no loss is silent.
 */
export function keepLostLog(file: string): void {
  const log = bytesOf(`${file}-wal`);
  if (hasLost(log, bytesOf(`${file}-shm`))) writeOwn(lostLog(file), log, { mode: 0o600 });
}

/** Empty: missing or unreadable, which opening the store reports. */
function bytesOf(file: string): Buffer {
  try {
    return readOwn(file);
  } catch {
    return Buffer.alloc(0);
  }
}

/** What SQLite would read from a log. */
interface ReadLog {
  readonly salts: Buffer;
  /** Up to the end of the last readable transaction. */
  readonly frameCount: number;
  /** Unreadable commit frames followed by further frames. */
  readonly lostCount: number;
  /** The last frame is an unreadable commit frame: it may be incomplete. */
  readonly isEndTorn: boolean;
}

function hasLost(bytes: Buffer, indexBytes: Buffer): boolean {
  const log = readLog(bytes);
  const index = readIndex(indexBytes);
  if (log !== undefined && log.lostCount > 0) return true;
  const isEndTorn = log?.isEndTorn ?? false;
  // Without its header SQLite reads nothing of it.
  if (index === undefined && log === undefined) return bytes.length > HEADER_SIZE + PAGE_SIZE_MIN;
  if (index === undefined) return isEndTorn;
  // The log was restarted since.
  if (log !== undefined && !log.salts.equals(index.salts)) return isEndTorn;
  const readCount = log?.frameCount ?? 0;
  // Why not the copied ones if some were read: they are older than the file's content.
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
  let [isIntact, frameCount, lostCount, tornCount] = [true, 0, 0, 0];
  for (let index = 0; HEADER_SIZE + (index + 1) * frameSize <= bytes.length; index++) {
    const start = HEADER_SIZE + index * frameSize;
    // Remains of a former log.
    const isOwn = salts.equals(bytes.subarray(start + 8, start + 16));
    // A frame is started only after the previous one is complete.
    if (isOwn) [lostCount, tornCount] = [lostCount + tornCount, 0];
    if (isIntact && isOwn) {
      sum = checksumOf(bytes, start, start + 8, isBig, sum);
      sum = checksumOf(bytes, start + FRAME_HEADER_SIZE, start + frameSize, isBig, sum);
    }
    isIntact &&= isOwn && isSum(bytes, start + 16, sum);
    // Commit frames have the file's page count here.
    const isEnd = bytes.readUInt32BE(start + 4) > 0;
    if (isEnd && isIntact) frameCount = index + 1;
    else if (isEnd && isOwn) tornCount = 1;
  }
  return { salts, frameCount, lostCount, isEndTorn: tornCount > 0 };
}

type Checksum = readonly [first: number, second: number];

/** Continues `sum` over words of 32 bits. */
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

/** The log's state according to `-shm`. */
interface LogIndex {
  readonly salts: Buffer;
  readonly frameCount: number;
  /** Frames copied into the file. */
  readonly storedCount: number;
}

/** Undefined: empty, or incomplete. */
function readIndex(bytes: Buffer): LogIndex | undefined {
  if (bytes.length < INDEX_SIZE) return undefined;
  const [header, again] = [0, INDEX_HEADER_SIZE].map((at) =>
    bytes.subarray(at, at + INDEX_HEADER_SIZE),
  );
  const [first, second] = checksumOf(bytes, 0, INDEX_HEADER_SIZE - 8, false, [0, 0]);
  // Source: words have the machine's byte order; on a big-endian machine the sum differs.
  const isIntact = header!.readUInt32LE(40) === first && header!.readUInt32LE(44) === second;
  if (!isIntact || !header!.equals(again!)) return undefined;
  return {
    salts: header!.subarray(32, 40),
    frameCount: header!.readUInt32LE(16),
    storedCount: bytes.readUInt32LE(2 * INDEX_HEADER_SIZE),
  };
}

// A shard file under construction: contents in place, coded segments in files beside it; at the end joined, checked and
// hashed.

import { closeSync, openSync, readSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { atPath } from '../../base/caught.ts';
import { hashFile } from '../../base/file-hash.ts';
import { writeOwn } from '../../base/own-file.ts';
import { syncPathNow } from '../../base/synced.ts';
import { HEADER_SIZE } from '../../../core/shared/format.ts';
import { mergeSegments } from '../host/builder.ts';
import { verifyShardFile } from '../host/verify.ts';
import { type NewTables, type ShardSummary, writeShard } from '../shards/writer.ts';

export interface FinishedShard extends ShardSummary {
  /** SHA-256 of the file: its name. */
  readonly fileId: string;
}

/** Appends contents after `contentBase` bytes of earlier ones. Errors: of the file system, with the file's name. */
export function writeContent(path: string, content: Uint8Array, contentBase: number): void {
  const file = openSync(path, 'r+');
  try {
    writeAtPath(path, () => {
      for (let done = 0; done < content.length;) {
        const position = HEADER_SIZE + contentBase + done;
        done += writeSync(file, content, done, content.length - done, position);
      }
    });
  } finally {
    closeSync(file);
  }
}

/** Adds the file's name to errors of `write`. */
function writeAtPath<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    throw atPath(error, path);
  }
}

/** @param segmentBase  number of the first segment in its shard */
export function writeSegments(
  path: string,
  segments: readonly Uint8Array[],
  segmentBase: number,
): string[] {
  return segments.map((segment, index) => {
    const segmentPath = `${path}.segment${segmentBase + index}`;
    writeOwn(segmentPath, segment);
    return segmentPath;
  });
}

/**
 * Writes everything after the contents, removes the segments, and checks the file. Errors: of the file system; the written
 * file is damaged.
 */
export function completeShard(
  module: WebAssembly.Module,
  path: string,
  tables: NewTables,
  segments: readonly string[],
  isSynced: boolean,
): FinishedShard {
  const files = segments.map((segment) => ({ path: segment, size: statSync(segment).size }));
  const sums = segments.map((segment) => {
    const head = Buffer.alloc(8);
    readInto(segment, head);
    return head.readBigUInt64LE();
  });
  const summary = writeAtPath(path, () =>
    writeShard(module, path, tables, (onPostings) => mergeSegments(module, files, onPostings)),
  );
  if (isSynced) writeAtPath(path, () => syncPathNow(path));
  for (const segment of segments) unlinkSync(segment);
  const problem = verifyShardFile(module, path, sums);
  if (problem !== undefined) throw new Error(`the shard just built is damaged: ${problem}`);
  return { ...summary, fileId: hashFile(path) };
}

function readInto(path: string, target: Uint8Array): void {
  const file = openSync(path, 'r');
  try {
    let done = 0;
    while (done < target.length) {
      const count = readSync(file, target, done, target.length - done, done);
      if (count === 0) throw new Error(`${path} ended early`);
      done += count;
    }
  } finally {
    closeSync(file);
  }
}

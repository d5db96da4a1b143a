// Records which shards are being searched in a small file that survives a crash: an unreadable mapped page kills the process
// without a message, and would kill the next one too. Each thread writes its shard into a slot of the shared, mapped file
// (0.1 us a shard); a start checks the shards found in it, a clean shutdown clears it.

import { rmSync } from 'node:fs';
import { SHORT_ID_SIZE } from '../../base/file-hash.ts';
import { readOwn, writeOwn } from '../../base/own-file.ts';
import { mapShared } from './mapping.ts';

/** Bytes: the start of the shardId, a number of 64 bits. */
const SLOT_SIZE = 8;
/** Whole pages on every system, so that no part lies past the end of the file. */
const FILE_SIZE = 65536;

export class SearchNote {
  readonly #words: Uint32Array;
  #last = '';
  /** Starts of ids as two words. Bound: ids that this process has seen. */
  readonly #ids = new Map<string, readonly number[]>();

  private constructor(words: Uint32Array) {
    this.#words = words;
  }

  /** Undefined: files cannot be mapped, there is no file, or too many threads. */
  static open(path: string, slot: number): SearchNote | undefined {
    if ((slot + 1) * SLOT_SIZE > FILE_SIZE) return undefined;
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    try {
      if (!mapShared(memory, path, FILE_SIZE)) return undefined;
    } catch {
      // The note only helps the next start.
      return undefined;
    }
    return new SearchNote(new Uint32Array(memory.buffer, slot * SLOT_SIZE, SLOT_SIZE / 4));
  }

  set(shardId: string): void {
    if (shardId === this.#last) return;
    this.#last = shardId;
    let words = this.#ids.get(shardId);
    if (words === undefined) {
      words = [shardId.slice(8, 16), shardId.slice(0, 8)].map((part) => Number.parseInt(part, 16));
      this.#ids.set(shardId, words);
    }
    this.#words.set(words);
  }
}

/** Id prefixes of the shards that were being searched when the writing process ended. */
export function readNotes(path: string): string[] {
  let bytes: Buffer;
  try {
    bytes = readOwn(path);
  } catch {
    return [];
  }
  const found = new Set<string>();
  for (let at = 0; at + SLOT_SIZE <= bytes.length; at += SLOT_SIZE) {
    const id = bytes.readBigUInt64LE(at);
    if (id !== 0n) found.add(id.toString(16).padStart(SHORT_ID_SIZE, '0'));
  }
  return [...found];
}

/**
 * Creates an empty file. Errors: the file system's; there is no file then.
 * Safety: all bytes are written, as touching a page of a hole would end the process if the disk is full.
 */
export function makeNotes(path: string): void {
  try {
    clearNotes(path);
    writeOwn(path, Buffer.alloc(FILE_SIZE), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    clearNotes(path);
    throw error;
  }
}

/** Threads with a mapping write to the removed file. */
export function clearNotes(path: string): void {
  rmSync(path, { force: true, recursive: true });
}

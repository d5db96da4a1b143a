// Messages between the tree-sitter engine and its processes, as frames on a pipe: size in 4 bytes, little-endian, then V8's
// serialization.

import { deserialize, serialize } from 'node:v8';
import type { Extraction } from './found.ts';

export interface TreeRequest {
  readonly language: string;
  readonly grammar: string;
  readonly content: Uint8Array;
}

export interface TreeAnswer {
  readonly outcome: Extraction;
  /** The process must be replaced: its parser failed, or it has used much memory or time. */
  readonly isSpent: boolean;
}

const HEAD_SIZE = 4;

export function frameOf(message: TreeRequest | TreeAnswer): Buffer {
  const body = serialize(message);
  const head = Buffer.allocUnsafe(HEAD_SIZE);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

/** Splits the bytes of a pipe into messages. Safety: both ends have the same version. */
export class FrameReader<Message extends TreeRequest | TreeAnswer> {
  #parts: Buffer[] = [];
  #size = 0;

  /** The complete messages so far. Cost: each byte is copied once. */
  *take(bytes: Buffer): Generator<Message> {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    for (;;) {
      const end = this.#frameEnd();
      if (end === undefined || this.#size < end) return;
      const all = Buffer.concat(this.#parts);
      this.#parts = [all.subarray(end)];
      this.#size -= end;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other end is ours
      yield deserialize(all.subarray(HEAD_SIZE, end)) as Message;
    }
  }

  /** End of the first frame; undefined: unknown yet. */
  #frameEnd(): number | undefined {
    if (this.#size < HEAD_SIZE) return undefined;
    if (this.#parts[0]!.length < HEAD_SIZE) this.#parts = [Buffer.concat(this.#parts)];
    return HEAD_SIZE + this.#parts[0]!.readUInt32LE();
  }
}

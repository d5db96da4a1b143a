// Parses the output of `git cat-file`: for each object a line `<oid> <type> <size>`, or `<name> missing`, followed by the
// content and a line end if requested. Content is passed on either as a view of the stream, copied into a reused buffer
// only if it spans chunks, or as a copy that the caller may keep.

const LINE_END = 10;
/** For a missing object git repeats the name, which has at most a kibibyte. */
const LINE_SIZE_MAX = 8192;
/** A larger buffer is released after its object. */
const KEPT_BUFFER_SIZE_MAX = 16 << 20;
const OBJECT_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) (\d{1,15})$/;
const NO_OBJECT_LINE = / (?:missing|ambiguous|submodule)$/;

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface ObjectInfo {
  readonly oid: string;
  readonly type: ObjectType;
  /** Bytes. */
  readonly size: number;
}

/** Undefined if the name stands for no object of the repository. Errors: throws if git does not write such lines. */
export function parseObjectLine(line: string): ObjectInfo | undefined {
  const [, oid, type, size] = OBJECT_LINE.exec(line) ?? [];
  if (oid === undefined) {
    if (NO_OBJECT_LINE.test(line)) return undefined;
    throw new Error('git cat-file: bad line');
  }
  // Safety: the expression lists the types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { oid, type: type as ObjectType, size: Number(size) };
}

export interface ParserOptions {
  /** Whether content follows the line of the next object. */
  readonly hasContent: () => boolean;
  /** The callee may keep the bytes of each object. */
  readonly isKept: boolean;
  /**
   * Called for each object in turn. Unless bytes are kept, the view is valid only during the call. No info: there is no
   * such object. No bytes: none were requested.
   */
  readonly onObject: (info: ObjectInfo | undefined, bytes: Buffer | undefined) => void;
}

export class CatFileParser {
  readonly #options: ParserOptions;
  /** Start of an incomplete line. */
  #line = '';
  /** The object whose content is being received. */
  #open: ObjectInfo | undefined;
  /** Received bytes of content and line end. */
  #filledSize = 0;
  #buffer = Buffer.alloc(0);

  constructor(options: ParserOptions) {
    this.#options = options;
  }

  /**
   * Consumes the next chunk and calls back for each object it completes. Errors: throws if the stream is not what git
   * writes, or what the callbacks throw.
   */
  push(chunk: Buffer): void {
    for (let offset = 0; offset < chunk.length;) {
      offset =
        this.#open === undefined
          ? this.#readLine(chunk, offset)
          : this.#readContent(this.#open, chunk, offset);
    }
  }

  #readLine(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(LINE_END, start);
    this.#line += chunk.toString('latin1', start, end < 0 ? chunk.length : end);
    if (this.#line.length > LINE_SIZE_MAX) throw new Error('git cat-file: line too long');
    if (end < 0) return chunk.length;
    const info = parseObjectLine(this.#line);
    this.#line = '';
    const { hasContent, onObject } = this.#options;
    if (!hasContent() || info === undefined) onObject(info, undefined);
    else {
      this.#open = info;
      this.#filledSize = 0;
    }
    return end + 1;
  }

  #readContent(info: ObjectInfo, chunk: Buffer, start: number): number {
    const { size } = info;
    const missingSize = size + 1 - this.#filledSize;
    const isWhole = this.#filledSize === 0 && chunk.length - start >= missingSize;
    if (isWhole && !this.#options.isKept) {
      this.#finish(info, chunk.subarray(start, start + size));
      return start + missingSize;
    }
    if (this.#filledSize === 0) this.#reserve(size);
    const takenSize = Math.min(missingSize, chunk.length - start);
    // The line end falls behind the buffer, or is overwritten.
    chunk.copy(this.#buffer, this.#filledSize, start, start + takenSize);
    this.#filledSize += takenSize;
    if (takenSize === missingSize) this.#finish(info, this.#buffer.subarray(0, size));
    return start + takenSize;
  }

  #finish(info: ObjectInfo, bytes: Buffer): void {
    this.#open = undefined;
    if (this.#options.isKept || this.#buffer.length > KEPT_BUFFER_SIZE_MAX)
      this.#buffer = Buffer.alloc(0);
    this.#options.onObject(info, bytes);
  }

  /** Reserves memory for an object. Why slow: kept memory must not belong to a pool that it would keep alive. */
  #reserve(size: number): void {
    if (this.#options.isKept) this.#buffer = Buffer.allocUnsafeSlow(size);
    else if (this.#buffer.length < size)
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(size, this.#buffer.length * 2, 1 << 16));
  }
}

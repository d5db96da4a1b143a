// Takes the output stream of `git cat-file` apart: for each object a line `<oid> <type> <size>`, or `<name> missing`. If the
// content was asked for, that many bytes and a line end follow. There are two ways to hand content on. As a view of the
// stream: then only content that is cut by the end of a piece is copied, into one buffer that is used again. Or as
// memory of its own, copied once, that whoever asked may keep.

const LINE_END = 10;
/** A name of at most a kibibyte comes back with an answer that there is no such object. */
const LINE_SIZE_MAX = 8192;
/** A buffer larger than this is given up after its object. */
const KEPT_BUFFER_SIZE_MAX = 16 << 20;
const BUFFER_SIZE_MIN = 1 << 16;
const OBJECT_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) (\d{1,15})$/;
const NO_OBJECT_LINE = / (?:missing|ambiguous|submodule)$/;

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface ObjectInfo {
  readonly oid: string;
  readonly type: ObjectType;
  /** Bytes. */
  readonly size: number;
}

/** Undefined for a name that stands for no object of the repository. Errors: throws if git does not write such lines. */
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
  /** The bytes of each object are the callee's to keep. */
  readonly isKept: boolean;
  /**
   * Called for each object in turn, unless bytes are kept with a view that is valid only during the call. No info:
   * there is no such object. No bytes: they do not follow either.
   */
  readonly onObject: (info: ObjectInfo | undefined, bytes: Buffer | undefined) => void;
}

export class CatFileParser {
  readonly #options: ParserOptions;
  /** The beginning of a line that came with earlier pieces. */
  #line = '';
  /** The object whose content comes. */
  #open: ObjectInfo | undefined;
  /** Bytes of content and line end that have come. */
  #filledSize = 0;
  #buffer = Buffer.alloc(0);

  constructor(options: ParserOptions) {
    this.#options = options;
  }

  /**
   * Consumes the next piece of the stream and calls back for each object that it completes.
   *
   * Errors: throws if the stream is not what git writes, or what the callbacks throw.
   */
  push(piece: Buffer): void {
    for (let offset = 0; offset < piece.length;) {
      offset =
        this.#open === undefined
          ? this.#readLine(piece, offset)
          : this.#readContent(this.#open, piece, offset);
    }
  }

  #readLine(piece: Buffer, start: number): number {
    const end = piece.indexOf(LINE_END, start);
    this.#line += piece.toString('latin1', start, end < 0 ? piece.length : end);
    if (this.#line.length > LINE_SIZE_MAX) throw new Error('git cat-file: line too long');
    if (end < 0) return piece.length;
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

  #readContent(info: ObjectInfo, piece: Buffer, start: number): number {
    const { size } = info;
    const missingSize = size + 1 - this.#filledSize;
    const isWhole = this.#filledSize === 0 && piece.length - start >= missingSize;
    if (isWhole && !this.#options.isKept) {
      this.#finish(info, piece.subarray(start, start + size));
      return start + missingSize;
    }
    if (this.#filledSize === 0) this.#reserve(size);
    const takenSize = Math.min(missingSize, piece.length - start);
    // The line end is behind the buffer, or overwritten.
    piece.copy(this.#buffer, this.#filledSize, start, start + takenSize);
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

  /** Makes room for an object. Why slow: memory that is kept must not be part of a pool that outlives it. */
  #reserve(size: number): void {
    if (this.#options.isKept) this.#buffer = Buffer.allocUnsafeSlow(size);
    else if (this.#buffer.length < size)
      this.#buffer = Buffer.allocUnsafeSlow(
        Math.max(size, this.#buffer.length * 2, BUFFER_SIZE_MIN),
      );
  }
}

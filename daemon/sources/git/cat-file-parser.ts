// Takes the output stream of `git cat-file` in batch form apart: a line `<oid> <type> <size>`, that
// many bytes, a newline; or `<name> missing`. Content that lies in one piece of the stream is
// handed on as a view of it; only content that is cut by the end of a piece is copied, into one
// buffer that is used again.

const LINE_END = 10;
const HEADER_LENGTH_MAX = 4096;
/** A buffer larger than this is given up after its blob. */
const KEPT_BUFFER_SIZE_MAX = 16 << 20;

/** Undefined: there is no such object of that type. The view is valid only during the call. */
export type OnObject = (bytes: Uint8Array | undefined) => void;

export type ObjectType = 'blob' | 'tree';

export class CatFileParser {
  readonly #onObject: OnObject;
  readonly #type: ObjectType;
  /** Part of a header line that came with an earlier piece. */
  #header = '';
  #isInContent = false;
  #isWanted = false;
  /** Bytes of the content, without the newline after it. */
  #contentSize = 0;
  /** Bytes of content and newline that are in `#buffer`. */
  #filledSize = 0;
  #buffer: Buffer = Buffer.allocUnsafeSlow(1 << 16);

  /** @param type  objects of another type count as missing */
  constructor(onObject: OnObject, type: ObjectType = 'blob') {
    this.#onObject = onObject;
    this.#type = type;
  }

  /**
   * Consumes the next piece of the stream and calls back for each object that it completes.
   *
   * Errors: throws if the stream is not what git writes, or what the callback throws.
   */
  push(piece: Buffer): void {
    let offset = 0;
    while (offset < piece.length) {
      offset = this.#isInContent
        ? this.#readContent(piece, offset)
        : this.#readHeader(piece, offset);
    }
  }

  #readHeader(piece: Buffer, start: number): number {
    const end = piece.indexOf(LINE_END, start);
    this.#header += piece.toString('latin1', start, end < 0 ? piece.length : end);
    if (this.#header.length > HEADER_LENGTH_MAX)
      throw new Error('git cat-file: header line too long');
    if (end < 0) return piece.length;
    const [, type, size] = this.#header.split(' ');
    this.#header = '';
    if (type === 'missing' || type === 'ambiguous') {
      this.#onObject(undefined);
      return end + 1;
    }
    this.#contentSize = Number(size);
    if (!Number.isSafeInteger(this.#contentSize)) throw new Error('git cat-file: bad header line');
    this.#isWanted = type === this.#type;
    this.#isInContent = true;
    this.#filledSize = 0;
    return end + 1;
  }

  #readContent(piece: Buffer, start: number): number {
    const missingSize = this.#contentSize + 1 - this.#filledSize;
    const presentSize = piece.length - start;
    if (this.#filledSize === 0 && presentSize >= missingSize) {
      this.#finish(piece.subarray(start, start + this.#contentSize));
      return start + missingSize;
    }
    this.#reserve(this.#contentSize + 1);
    const takenSize = Math.min(missingSize, presentSize);
    piece.copy(this.#buffer, this.#filledSize, start, start + takenSize);
    this.#filledSize += takenSize;
    if (takenSize === missingSize) this.#finish(this.#buffer.subarray(0, this.#contentSize));
    return start + takenSize;
  }

  #finish(bytes: Uint8Array): void {
    this.#isInContent = false;
    this.#onObject(this.#isWanted ? bytes : undefined);
    if (this.#buffer.length > KEPT_BUFFER_SIZE_MAX) this.#buffer = Buffer.allocUnsafeSlow(1 << 16);
  }

  #reserve(size: number): void {
    if (this.#buffer.length >= size) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(size, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#filledSize);
    this.#buffer = grown;
  }
}

// Takes apart what a `git cat-file` process answers to single questions, of which each is known before its answer
// comes: what an object is (a line), or its content (a line, so many bytes, a line end). Content is copied once, into
// memory of its own size that belongs to whoever asked. Reading in bulk, without copies: cat-file-parser.ts.

const LINE_END = 10;
/** A name of at most a kibibyte comes back with an answer that there is no such object. */
const LINE_SIZE_MAX = 8192;
const OBJECT_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) (\d{1,15})$/;

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface ObjectInfo {
  readonly oid: string;
  readonly type: ObjectType;
  /** Bytes. */
  readonly size: number;
}

export interface ObjectContent extends ObjectInfo {
  readonly bytes: Buffer;
}

/** What the next answer is to. Undefined: there is no such object. */
export type Question =
  | { readonly kind: 'info'; readonly onAnswer: (info: ObjectInfo | undefined) => void }
  | { readonly kind: 'content'; readonly onAnswer: (content: ObjectContent | undefined) => void };

interface OpenContent {
  readonly content: ObjectContent;
  readonly onAnswer: (content: ObjectContent) => void;
  /** Bytes that have come; the line end counts. */
  filledSize: number;
}

export class AnswerParser {
  readonly #questions: Question[] = [];
  /** The beginning of a line that came with earlier pieces. */
  #line = '';
  #open: OpenContent | undefined;

  get isWaiting(): boolean {
    return this.#questions.length > 0 || this.#open !== undefined;
  }

  expect(question: Question): void {
    this.#questions.push(question);
  }

  /**
   * Takes the next piece of the stream and answers the questions that it completes.
   *
   * Errors: throws if the stream is not what git writes.
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
    const info = parseLine(this.#line);
    this.#line = '';
    const question = this.#questions.shift();
    if (question === undefined) throw new Error('git cat-file: answer without question');
    if (question.kind === 'info') question.onAnswer(info);
    else if (info === undefined) question.onAnswer(undefined);
    else {
      // Why slow: the memory must not be part of a pool that outlives it.
      const content = { ...info, bytes: Buffer.allocUnsafeSlow(info.size) };
      this.#open = { content, onAnswer: question.onAnswer, filledSize: 0 };
    }
    return end + 1;
  }

  #readContent(open: OpenContent, piece: Buffer, start: number): number {
    const { content, filledSize } = open;
    const takenSize = Math.min(content.size + 1 - filledSize, piece.length - start);
    piece.copy(content.bytes, filledSize, start, start + takenSize);
    open.filledSize += takenSize;
    if (open.filledSize > content.size) {
      this.#open = undefined;
      open.onAnswer(content);
    }
    return start + takenSize;
  }
}

/** Undefined for `<name> missing` and `<name> ambiguous`. */
function parseLine(line: string): ObjectInfo | undefined {
  const [, oid, type, size] = OBJECT_LINE.exec(line) ?? [];
  if (oid === undefined) return undefined;
  // Safety: the expression lists the types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { oid, type: type as ObjectType, size: Number(size) };
}

// The text of a result: lines, as many as a model should have to read at once.

/** Characters of a result: about a quarter as many tokens. */
const TEXT_SIZE_MAX = 60_000;

export class BoundedText {
  readonly #lines: string[] = [];
  readonly #sizeMax: number;
  #size = 0;

  constructor(sizeMax = TEXT_SIZE_MAX) {
    this.#sizeMax = sizeMax;
  }

  /** False: there is no room for these lines, and nothing was added. */
  add(...lines: readonly string[]): boolean {
    const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (this.#size + size > this.#sizeMax) return false;
    this.#lines.push(...lines);
    this.#size += size;
    return true;
  }

  /** Adds a line that says what is missing; there is always room for it. */
  end(line: string): void {
    this.#lines.push(line);
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

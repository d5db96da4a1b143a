// The text of a result: lines up to the size that a model should read at once.

/** Characters of a result: about a quarter as many tokens. */
const TEXT_SIZE_MAX = 60_000;

export class BoundedText {
  readonly #lines: string[] = [];
  readonly #sizeMax: number;
  #size = 0;

  constructor(sizeMax = TEXT_SIZE_MAX) {
    this.#sizeMax = sizeMax;
  }

  /** False: the lines do not fit, and nothing was added. */
  add(...lines: readonly string[]): boolean {
    const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (this.#size + size > this.#sizeMax) return false;
    this.#lines.push(...lines);
    this.#size += size;
    return true;
  }

  /** Adds a final line about what is missing; it always fits. */
  end(line: string): void {
    this.#lines.push(line);
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

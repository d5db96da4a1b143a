// The text of a result: lines up to the size that a model should read at once, and how they show names of files.

/** Characters of a result: about a quarter as many tokens. */
export const TEXT_SIZE_MAX = 60_000;
/** Of these, reserved for the final lines about what is missing. */
const END_SIZE_MAX = 5000;

export class BoundedText {
  readonly #lines: string[] = [];
  #size = 0;

  /** False: the lines do not fit, and nothing was added. */
  add(...lines: readonly string[]): boolean {
    return this.#addUpTo(TEXT_SIZE_MAX - END_SIZE_MAX, lines);
  }

  /** Adds a final line about what is missing. False: it does not fit, and was not added. */
  end(line: string): boolean {
    return this.#addUpTo(TEXT_SIZE_MAX, [line]);
  }

  #addUpTo(sizeMax: number, lines: readonly string[]): boolean {
    const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (this.#size + size > sizeMax) return false;
    this.#lines.push(...lines);
    this.#size += size;
    return true;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/**
 * The name of a file, of which lines have one: JSON, which a model can pass back, if it contains a line end or an invisible
 * character. Otherwise a repository could forge lines of results.
 */
export function displayName(name: string): string {
  // JSON alone does not escape characters beyond ASCII.
  return name.search(UNPRINTABLE) === -1
    ? name
    : JSON.stringify(name).replaceAll(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

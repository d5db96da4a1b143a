// Stretches of a line: matches, and what a parser says of them.

/** A marked stretch of a line, in UTF-16 units; `to` is behind it. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

export interface Colour extends Mark {
  /** Classes of the stretch, such as `code-keyword`. */
  readonly name: string;
}

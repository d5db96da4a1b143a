// Marked ranges of a line: matches and syntax colours.

/** A marked range of a line, in UTF-16 units; `to` is exclusive. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

export interface Colour extends Mark {
  /** CSS classes of the range, such as `code-keyword`. */
  readonly name: string;
}

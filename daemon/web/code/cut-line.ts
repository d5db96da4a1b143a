// A line may have millions of characters: what is shown of it where lines stand below one another. Pure.

import type { Mark } from './marks.ts';

/**
 * Longer lines are cut around their first match; what is shown before that match: so little that the match is to be seen on a
 * phone. In UTF-16 units.
 */
const LINE_LENGTH_MAX = 500;
const LEAD_LENGTH = 24;

/** Moved by one unit where a character of two units would be cut. */
function wholeCharacter(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at + 1 : at;
}

export interface CutText {
  readonly text: string;
  readonly marks: readonly Mark[];
  /** Where `text` lies in a line that is too long to be shown, in UTF-16 units; undefined: it is all of it. */
  readonly cut: { readonly from: number; readonly lineLength: number } | undefined;
}

/** A line as it is shown, the part around its first match if it is long. */
export function cutLine(text: string, marks: readonly Mark[]): CutText {
  if (text.length <= LINE_LENGTH_MAX) return { text, marks, cut: undefined };
  const lead = Math.max(0, (marks[0]?.from ?? 0) - LEAD_LENGTH);
  const from = wholeCharacter(text, Math.min(lead, text.length - LINE_LENGTH_MAX));
  const to = wholeCharacter(text, from + LINE_LENGTH_MAX);
  return {
    text: text.slice(from, to),
    marks: marks.flatMap((mark) =>
      mark.to > from && mark.from < to
        ? [{ from: Math.max(mark.from, from) - from, to: Math.min(mark.to, to) - from }]
        : [],
    ),
    cut: { from, lineLength: text.length },
  };
}

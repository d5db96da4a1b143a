// Cuts long lines for lists, since a line may have millions of characters. Pure.

import type { Mark } from './marks.ts';

/**
 * Longer lines are cut around their first match. Few characters come before the match, so that it is visible on a
 * phone. In UTF-16 units.
 */
const LINE_LENGTH_MAX = 500;
const LEAD_LENGTH = 24;

/** Moves a cut by one unit if it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at + 1 : at;
}

export interface CutText {
  readonly text: string;
  readonly marks: readonly Mark[];
  /** Position of `text` in the whole line, in UTF-16 units; undefined: `text` is the whole line. */
  readonly cut: { readonly from: number; readonly lineLength: number } | undefined;
}

/** The displayed part of a line: the part around its first match if the line is long. */
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

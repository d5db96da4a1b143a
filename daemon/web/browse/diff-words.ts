// Marks the words of a line that differ from its counterpart on the other side. The comparison library is loaded with
// the first diff.

import { useEffect, useState } from 'react';
import type { Mark } from '../code/marks.ts';

/** UTF-16 units; longer lines have no marks. */
const LINE_SIZE_MAX = 1000;
/** Lines with a smaller share in common are unrelated: marks would only confuse. */
const COMMON_MIN = 0.25;

type Compare = typeof import('diff').diffWordsWithSpace;

let compare: Compare | undefined;

/** Undefined: still loading. */
export function useWordCompare(): Compare | undefined {
  const [compared, setCompared] = useState(() => compare);
  useEffect(() => {
    if (compared !== undefined) return;
    let isOver = false;
    const load = async (): Promise<void> => {
      compare = (await import('diff')).diffWordsWithSpace;
      if (!isOver) setCompared(() => compare);
    };
    // If loading fails, lines have no marks.
    load().catch(() => {});
    return () => {
      isOver = true;
    };
  }, [compared]);
  return compared;
}

/** The parts of `text` that `partner` does not have. */
export function wordMarks(
  text: string,
  partner: string | undefined,
  words: Compare | undefined,
): readonly Mark[] {
  if (partner === undefined || words === undefined) return [];
  if (text.length > LINE_SIZE_MAX || partner.length > LINE_SIZE_MAX) return [];
  const marks: Mark[] = [];
  let from = 0;
  let commonSize = 0;
  for (const { value, added, removed } of words(partner, text)) {
    if (removed) continue;
    const to = from + value.length;
    if (added) marks.push({ from, to });
    else commonSize += value.trim().length;
    from = to;
  }
  const size = Math.max(1, text.trim().length, partner.trim().length);
  return commonSize / size < COMMON_MIN ? [] : marks;
}

// Steps through the matches of the search that led to a file.

import { useState } from 'react';
import type { FileMatch } from '../code/match-marks.ts';
import { lineRangeOf } from '../code/line-range.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import type { BrowseTarget } from './address.ts';
import { useMatches } from './matches.ts';

/** The current match, with its list: a new list starts over. */
interface At {
  readonly matches: readonly FileMatch[];
  readonly index: number;
}

/** Index of the match on the address's line, or of the last one before it; -1: none. */
function indexAt(matches: readonly FileMatch[], line: number | undefined): number {
  if (line === undefined) return -1;
  const there = matches.findIndex(({ start }) => start.lineNumber === line);
  return there < 0 ? matches.findLastIndex(({ start }) => start.lineNumber < line) : there;
}

/** @param text  of the file */
export function useMatchSteps(target: BrowseTarget, parameters: AddressParameters, text: string) {
  const { matches, areOfOther } = useMatches(target, parameters, text);
  const [at, setAt] = useState<At>();
  const current = at?.matches === matches ? at.index : undefined;
  const line = lineRangeOf(parameters.valueOf('highlightRange'))?.from;
  const step = (by: 1 | -1): void => {
    if (matches.length === 0) return;
    const from = current ?? indexAt(matches, line);
    setAt({
      matches,
      index: (Math.max(from, by === 1 ? -1 : 0) + by + matches.length) % matches.length,
    });
  };
  return { matches, areOfOther, total: matches.length, current, step };
}

export type MatchSteps = ReturnType<typeof useMatchSteps>;

// Steps through the matches of the search that led to a file.

import { useState } from 'react';
import type { FileMatch } from '../code/match-marks.ts';
import { lineRangeOf } from '../code/line-range.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import { count } from '../parts/number-format.ts';
import { toast } from '../parts/toasts.ts';
import type { BrowseTarget } from './address.ts';
import { nextIndex } from './match-index.ts';
import { useMatches } from './matches.ts';

/** The current match, with its list: a new list starts over. */
interface At {
  readonly matches: readonly FileMatch[];
  readonly index: number;
}

/** @param text  of the file */
export function useMatchSteps(target: BrowseTarget, parameters: AddressParameters, text: string) {
  const { matches, isLimited, areOfOther } = useMatches(target, parameters, text);
  const [at, setAt] = useState<At>();
  const current = at?.matches === matches ? at.index : undefined;
  const line = lineRangeOf(parameters.valueOf('highlightRange'))?.from;
  const step = (by: 1 | -1): void => {
    const index = nextIndex(matches, by, { current, line, isLimited });
    if (index !== undefined) setAt({ matches, index });
    else if (isLimited)
      toast(`Only the first ${count(matches.length)} matches of this file are loaded`);
  };
  return { matches, isLimited, areOfOther, total: matches.length, current, step };
}

export type MatchSteps = ReturnType<typeof useMatchSteps>;

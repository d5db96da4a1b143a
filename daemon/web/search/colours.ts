// Syntax colours of the lines of a result. While more lines load, the colours so far stay.

import { useRef } from 'react';
import { useLineColours } from '../code/line-colours.ts';
import type { Colour } from '../code/marks.ts';
import type { ResultFile, ResultLine } from './rows.ts';

/** By line number. */
export type ColourOfLines = ReadonlyMap<number, readonly Colour[]>;

/** Runs of consecutive lines. */
function runsOf(lines: readonly ResultLine[]): string[][] {
  const runs: string[][] = [];
  lines.forEach(({ number, text }, index) => {
    const isNext = index > 0 && lines[index - 1]?.number === number - 1;
    if (isNext) runs.at(-1)?.push(text);
    else runs.push([text]);
  });
  return runs;
}

const NONE: ColourOfLines = new Map();

/** Colours of lines of a file; until all are ready, the previous ones. */
export function useColours(file: ResultFile, lines: readonly ResultLine[]): ColourOfLines {
  const size = lines.reduce((sum, { text }) => sum + text.length, 0);
  const latest = useRef<ColourOfLines>(NONE);
  const colours = useLineColours({
    key: `${file.key}:${size}:${lines.map(({ number }) => number).join()}`,
    language: lines.length === 0 ? '' : file.language,
    runs: () => runsOf(lines),
  });
  if (colours !== undefined)
    latest.current = new Map(lines.map(({ number }, index) => [number, colours[index] ?? []]));
  return latest.current;
}

// Syntax colours of the lines of a diff. Each hunk is parsed separately: its old lines and its new lines.

import { useRef } from 'react';
import { useLineColours } from '../code/line-colours.ts';
import type { Colour } from '../code/marks.ts';
import type { BrowseTarget } from './address.ts';
import type { DisplayedFile } from './diff-gaps.ts';
import { type DiffLine, keyOf, linesOf } from './diff-rows.ts';

/** The two sides of a comparison. */
export interface DiffSides {
  /** The newer side. */
  readonly target: BrowseTarget;
  /** Revision of the older side. */
  readonly base: string;
}

type ByNumber = ReadonlyMap<number, readonly Colour[]>;

export interface DiffColours {
  readonly old: ByNumber;
  readonly new: ByNumber;
}

type Numbered = readonly (readonly [number, string])[];

/** The numbered lines of one side, hunk by hunk. */
function runsOf(file: DisplayedFile, side: 'oldNumber' | 'newNumber'): Numbered[] {
  return file.hunks.map((hunk) =>
    linesOf(hunk).flatMap((line) => {
      const number = line[side];
      return number === undefined ? [] : [[number, line.text] as const];
    }),
  );
}

type Colours = NonNullable<ReturnType<typeof useLineColours>>;

/** All rows of a file share one result. */
const cached = new WeakMap<Colours, DiffColours>();

function byNumber(file: DisplayedFile, colours: Colours): DiffColours {
  const made = cached.get(colours);
  if (made !== undefined) return made;
  const before = runsOf(file, 'oldNumber').flat();
  const after = runsOf(file, 'newNumber').flat();
  const of = (lines: Numbered, first: number): ByNumber =>
    new Map(lines.map(([number], index) => [number, colours[first + index] ?? []]));
  const both = { old: of(before, 0), new: of(after, before.length) };
  cached.set(colours, both);
  return both;
}

/** Syntax colours of a changed file; undefined: not ready, or none. While more lines load, the colours so far stay. */
export function useDiffColours(file: DisplayedFile, sides: DiffSides): DiffColours | undefined {
  const { repo, revision } = sides.target;
  const last = useRef<DiffColours>(undefined);
  const ranges = file.hunks.map(({ oldRange, newRange }) => [oldRange, newRange]);
  const colours = useLineColours({
    key: JSON.stringify(['diff', repo, sides.base, revision, keyOf(file), ranges]),
    language: file.language,
    runs: () =>
      [...runsOf(file, 'oldNumber'), ...runsOf(file, 'newNumber')].map((lines) =>
        lines.map(([, text]) => text),
      ),
  });
  if (colours !== undefined) last.current = byNumber(file, colours);
  return last.current;
}

export function colourOf(line: DiffLine, colours: DiffColours | undefined): readonly Colour[] {
  const { kind, oldNumber, newNumber } = line;
  if (colours === undefined || kind === 'note') return [];
  const side = kind === 'removed' ? colours.old : colours.new;
  return side.get((kind === 'removed' ? oldNumber : newNumber) ?? 0) ?? [];
}

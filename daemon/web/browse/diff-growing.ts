// Expands the unchanged lines between hunks step by step, from either end: the lines are added to the hunk next to
// them.

import { useMemo, useState } from 'react';
import type { LineRange } from '../code/line-range.ts';
import { queryClient } from '../data/session.ts';
import type { BrowseTarget } from './address.ts';
import { keyOf, pathOf } from './diff-rows.ts';
import type { FileDiff } from './history-queries.ts';
import { type DisplayedFile, type Gap, gapOf } from './diff-gaps.ts';
import { sourceLines } from './file-queries.ts';

/** Lines added in one step. */
export const STEP = 20;

/** Where lines are added: `down` below the hunk above the gap, `up` above the hunk below it. */
export type Direction = 'down' | 'up';

/** The next lines to add, numbered as on the newer side. */
function nextLines({ from, to }: Gap, direction: Direction): LineRange {
  if (direction === 'down') return { from, to: Math.min(from + STEP - 1, to) };
  return { from: Math.max(from, to - STEP + 1), to };
}

function bodyOf(lines: readonly string[]): string {
  return lines.map((line) => ` ${line}\n`).join('');
}

type Hunk = FileDiff['hunks'][number];

function longer(hunk: Hunk, lines: readonly string[], direction: Direction): Hunk {
  const { oldRange, newRange, body } = hunk;
  const shift = direction === 'up' ? lines.length : 0;
  const grown = ({ start, lines: count }: Hunk['newRange']) => ({
    start: start - shift,
    lines: count + lines.length,
  });
  const ended = body.endsWith('\n') ? body : `${body}\n`;
  return {
    ...hunk,
    oldRange: grown(oldRange),
    newRange: grown(newRange),
    body: direction === 'up' ? bodyOf(lines) + body : ended + bodyOf(lines),
  };
}

/** The file with these lines added, unchanged if they were added before. */
function withLines(
  file: DisplayedFile,
  index: number,
  direction: Direction,
  range: LineRange,
  text: string,
) {
  const next = nextLines(gapOf(file, index), direction);
  if (next.from !== range.from || next.to !== range.to) return file;
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const at = direction === 'up' ? index : index - 1;
  const isEndVisible = index === file.hunks.length && lines.length < STEP;
  const hunks = file.hunks.map((hunk, each) =>
    each === at ? longer(hunk, lines, direction) : hunk,
  );
  return { ...file, hunks, isEndVisible: isEndVisible || file.isEndVisible === true };
}

/** The files with their expanded gaps, and the function that expands one. */
export function useGrowing(files: readonly FileDiff[], target: BrowseTarget) {
  const [grown, setGrown] = useState<ReadonlyMap<FileDiff, DisplayedFile>>(new Map());
  const displayed = useMemo(() => files.map((file) => grown.get(file) ?? file), [files, grown]);
  const grow = async (file: DisplayedFile, index: number, direction: Direction): Promise<void> => {
    const original = files.find((one) => keyOf(one) === keyOf(file));
    if (original === undefined) return;
    const range = nextLines(gapOf(file, index), direction);
    const at = { ...target, path: pathOf(file) };
    const { source } = await queryClient.fetchQuery(sourceLines(at, range));
    setGrown((before) => {
      const now = before.get(original) ?? original;
      return new Map(before).set(original, withLines(now, index, direction, range, source));
    });
  };
  return { displayed, grow };
}

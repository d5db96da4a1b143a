// Colours of the files that are on the screen, asked of the worker when lines are first shown, and kept for a while.

import { LRUCache } from 'lru-cache';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Colour } from '../code/marks.ts';
import type { ResultFile, ResultLine } from './rows.ts';
import { hear, post } from './worker-link.ts';

type LineColours = readonly (readonly Colour[])[];
/** By the number of the line. */
export type ColourOfLines = ReadonlyMap<number, readonly Colour[]>;

/** Files whose colours are kept. */
const KEPT_MAX = 2000;

const kept = new LRUCache<string, LineColours>({ max: KEPT_MAX });
const asked = new Set<string>();
const listeners = new Set<() => void>();

hear((message) => {
  if (message.type !== 'coloured') return;
  asked.delete(message.key);
  kept.set(message.key, message.colours);
  for (const listener of listeners) listener();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Lines that follow one another, each run of them for itself. */
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

/** Colours of lines of a file; those of fewer lines until all are known. */
export function useColours(file: ResultFile, lines: readonly ResultLine[]): ColourOfLines {
  const size = lines.reduce((sum, { text }) => sum + text.length, 0);
  const key = `${file.key}:${size}:${lines.map(({ number }) => number).join()}`;
  const colours = useSyncExternalStore(subscribe, () => kept.get(key));
  const known = useRef<ColourOfLines>(NONE);
  const isMissing = colours === undefined && lines.length > 0;
  useEffect(() => {
    if (!isMissing || asked.has(key)) return;
    asked.add(key);
    post({ type: 'colour', key, language: file.language, runs: runsOf(lines) });
    // `key` says which lines.
  }, [key, isMissing]);
  if (colours !== undefined)
    known.current = new Map(lines.map(({ number }, index) => [number, colours[index] ?? []]));
  return known.current;
}

// Colours of the files that are on the screen, asked of the worker when a file is first shown, and kept for a while.

import { LRUCache } from 'lru-cache';
import { useEffect, useSyncExternalStore } from 'react';
import type { Colour } from '../code/marks.ts';
import type { ResultFile } from './rows.ts';
import { hear, post } from './worker-link.ts';

type LineColours = readonly (readonly Colour[])[];

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
function runsOf({ lines }: ResultFile): string[][] {
  const runs: string[][] = [];
  lines.forEach(({ number, text }, index) => {
    const isNext = index > 0 && lines[index - 1]?.number === number - 1;
    if (isNext) runs.at(-1)?.push(text);
    else runs.push([text]);
  });
  return runs;
}

/** Colours of each line of a file; undefined until they are known. */
export function useColours(file: ResultFile): LineColours | undefined {
  // Context and query decide which lines there are.
  const key = `${file.key}:${file.lines.length}:${file.lines[0]?.number ?? 0}`;
  const colours = useSyncExternalStore(subscribe, () => kept.get(key));
  const isMissing = colours === undefined && file.lines.length > 0;
  useEffect(() => {
    if (!isMissing || asked.has(key)) return;
    asked.add(key);
    post({ type: 'colour', key, language: file.language, runs: runsOf(file) });
  }, [key, isMissing, file]);
  return colours;
}

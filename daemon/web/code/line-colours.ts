// Syntax colours of separate lines, in results and diffs. A worker computes them when the lines first appear; they are
// cached. The text appears first; colours never move it.

import { LRUCache } from 'lru-cache';
import { useEffect, useSyncExternalStore } from 'react';
import type { FromLineColourer, ToLineColourer } from './colour-messages.ts';

type LineColours = FromLineColourer['colours'];

/** Texts whose colours are cached. */
const KEPT_MAX = 2000;

const kept = new LRUCache<string, LineColours>({ max: KEPT_MAX });
const requested = new Set<string>();
const listeners = new Set<() => void>();
let worker: Worker | undefined;

function openWorker(): Worker {
  const made = new Worker(new URL('./line-colour-worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', ({ data }: MessageEvent<FromLineColourer>) => {
    requested.delete(data.key);
    kept.set(data.key, data.colours);
    for (const listener of listeners) listener();
  });
  return made;
}

function send(request: ToLineColourer): void {
  requested.add(request.key);
  worker ??= openWorker();
  worker.postMessage(request);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Lines that are coloured together. */
export interface Lines {
  /** Identifies the lines. */
  readonly key: string;
  readonly language: string;
  /** Runs of consecutive lines. */
  readonly runs: () => readonly (readonly string[])[];
}

/** Colours of each line of all runs; undefined: not ready, or none. */
export function useLineColours({ key, language, runs }: Lines): LineColours | undefined {
  const colours = useSyncExternalStore(subscribe, () => kept.get(key));
  const isMissing = colours === undefined && language !== '';
  useEffect(() => {
    if (isMissing && !requested.has(key)) send({ key, language, runs: runs() });
    // `key` identifies the lines.
  }, [key, isMissing]);
  return colours;
}

/** Calls back with the colours once they are ready; never for a language without a parser. */
export function coloursSoon(
  { key, language, runs }: Lines,
  onColours: (colours: LineColours) => void,
): void {
  const cached = kept.get(key);
  if (cached !== undefined) {
    onColours(cached);
    return;
  }
  const unsubscribe = subscribe(() => {
    const colours = kept.get(key);
    if (colours === undefined) return;
    unsubscribe();
    onColours(colours);
  });
  if (!requested.has(key)) send({ key, language, runs: runs() });
}

// Colours of lines that are drawn one by one, in results and differences: asked of a worker when lines are first shown, and
// kept for a while. Text is there before they are, and they never change its geometry.

import { LRUCache } from 'lru-cache';
import { useEffect, useSyncExternalStore } from 'react';
import type { FromLineColourer, ToLineColourer } from './colour-messages.ts';

type LineColours = FromLineColourer['colours'];

/** Texts whose colours are kept. */
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
  /** Says which they are: others have another one. */
  readonly key: string;
  readonly language: string;
  /** Lines that follow one another, each run of them for itself. */
  readonly runs: () => readonly (readonly string[])[];
}

/** Colours of each line of all runs; undefined: not known, or not yet. */
export function useLineColours({ key, language, runs }: Lines): LineColours | undefined {
  const colours = useSyncExternalStore(subscribe, () => kept.get(key));
  const isMissing = colours === undefined && language !== '';
  useEffect(() => {
    if (isMissing && !requested.has(key)) send({ key, language, runs: runs() });
    // `key` says which lines.
  }, [key, isMissing]);
  return colours;
}

/** Tells the colours once they are known; those of a language without colours never are. */
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

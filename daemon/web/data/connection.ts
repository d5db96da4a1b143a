// Whether the daemon is reachable. After a request without an answer, it is polled until it answers; other requests
// wait meanwhile.

import { onlineManager } from '@tanstack/react-query';
import { create } from 'zustand';
import { fetchApi, OfflineError } from './api.ts';

interface Connection {
  /** `starting`: it answers but cannot search yet. `back`: it has just become reachable again. */
  readonly state: 'online' | 'offline' | 'starting' | 'back';
  /** Time of the next try, in ms since the epoch. */
  readonly tryAt: number;
}

/** Seconds between tries; the last value repeats. */
const PAUSES = [1, 2, 4, 8, 15];
const BACK_MS = 4000;

export const useConnection = create<Connection>()(() => ({ state: 'online', tryAt: 0 }));

let tries = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function tryLater(state: 'offline' | 'starting'): void {
  const pause = (PAUSES[tries] ?? PAUSES.at(-1) ?? 1) * 1000;
  tries++;
  clearTimeout(timer);
  timer = setTimeout(() => void tryNow(), pause);
  useConnection.setState({ state, tryAt: Date.now() + pause });
}

function isBack(): void {
  useConnection.setState({ state: 'back' });
  // Resumes waiting queries.
  onlineManager.setOnline(true);
  timer = setTimeout(() => {
    if (useConnection.getState().state === 'back') useConnection.setState({ state: 'online' });
  }, BACK_MS);
}

export async function tryNow(): Promise<void> {
  clearTimeout(timer);
  try {
    await fetchApi('/api/ready', {});
    isBack();
  } catch (error) {
    tryLater(error instanceof OfflineError ? 'offline' : 'starting');
  }
}

/** Called when a request got no answer. */
export function noteOffline(): void {
  const { state } = useConnection.getState();
  if (state === 'offline' || state === 'starting') return;
  tries = 0;
  onlineManager.setOnline(false);
  tryLater('offline');
}

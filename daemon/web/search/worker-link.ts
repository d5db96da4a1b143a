// The one search worker of the page, made at its first use, and who hears what it says.

import type { FromWorker, ToWorker } from './messages.ts';

type Listener = (message: FromWorker) => void;

const listeners = new Set<Listener>();
let worker: Worker | undefined;

function openWorker(): Worker {
  const made = new Worker(new URL('./search-worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    for (const listener of listeners) listener(data);
  });
  return made;
}

/** Every message of the worker from now on. */
export function hear(listener: Listener): void {
  listeners.add(listener);
}

export function post(message: ToWorker): void {
  worker ??= openWorker();
  worker.postMessage(message);
}

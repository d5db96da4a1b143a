// The one search worker of the page, made at its first use, and who hears what it says.

import type { FromWorker, SearchFailure, ToWorker } from './messages.ts';

type Listener = (message: FromWorker) => void;

const listeners = new Set<Listener>();
let worker: Worker | undefined;
/** What the worker was asked for last of each kind: what it owes an answer to if it cannot be had. */
const running = new Map<'start' | 'download', number>();

const LOST: SearchFailure = {
  statusCode: 0,
  errorCode: 'PART_MISSING',
  message: 'A part of this page could not be loaded. Load the page again.',
  retryAfter: undefined,
};

function deliver(message: FromWorker): void {
  for (const listener of listeners) listener(message);
}

/** The worker's script could not be loaded: whoever waits is told, and the next search tries anew. */
function lose(): void {
  worker?.terminate();
  worker = undefined;
  const search = running.get('start');
  const file = running.get('download');
  running.clear();
  if (search !== undefined) deliver({ type: 'failed', id: search, failure: LOST });
  if (file !== undefined) deliver({ type: 'download-failed', id: file, failure: LOST });
}

function openWorker(): Worker {
  const made = new Worker(new URL('./search-worker.ts', import.meta.url), { type: 'module' });
  let isLoaded = false;
  made.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    isLoaded = true;
    deliver(data);
  });
  // An error after it has answered is one of its code: the page says it as any other, and the worker goes on.
  made.addEventListener('error', () => {
    if (!isLoaded && worker === made) lose();
  });
  return made;
}

/** Every message of the worker from now on. */
export function hear(listener: Listener): void {
  listeners.add(listener);
}

export function post(message: ToWorker): void {
  worker ??= openWorker();
  if (message.type !== 'stop') running.set(message.type, message.id);
  worker.postMessage(message);
}

// The page's only search worker, created at its first use, and its listeners.

import type { FromWorker, SearchFailure, ToWorker } from './messages.ts';

type Listener = (message: FromWorker) => void;

const listeners = new Set<Listener>();
let worker: Worker | undefined;
/** Latest request of each kind, which fails if the worker cannot load. */
const running = new Map<'start' | 'download', number>();

const LOST: SearchFailure = {
  statusCode: 0,
  errorCode: 'PART_MISSING',
  message: 'A part of this page could not be loaded. Reload the page.',
  retryAfter: undefined,
};

function deliver(message: FromWorker): void {
  for (const listener of listeners) listener(message);
}

/** The worker's script could not be loaded: pending requests fail, and the next search creates a new worker. */
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
  // An error after the first message is a bug in the worker: the page reports it like any other, and the worker
  // continues.
  made.addEventListener('error', () => {
    if (!isLoaded && worker === made) lose();
  });
  return made;
}

/** Registers a listener for all messages of the worker. */
export function hear(listener: Listener): void {
  listeners.add(listener);
}

export function post(message: ToWorker): void {
  worker ??= openWorker();
  if (message.type !== 'stop') running.set(message.type, message.id);
  worker.postMessage(message);
}

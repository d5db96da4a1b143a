// The thread that reads ref fingerprints: a file system that does not answer blocks only this thread.

import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import type { RefPoll } from './ref-poller.ts';
import { refStateOf } from './ref-state.ts';

lowerPriority('background');
const port = parentPort!;

port.on('message', ({ paths, progress }: RefPoll) => {
  const states = paths.map((path, index) => {
    Atomics.store(progress, 0, index);
    return stateOf(path);
  });
  port.postMessage(states);
});

/** The text for what cannot be read. */
function stateOf(path: string): string {
  try {
    return refStateOf(path);
  } catch (error) {
    return messageOf(error);
  }
}

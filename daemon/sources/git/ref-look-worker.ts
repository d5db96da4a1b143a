// The thread that looks at refs: what of a file system it asks may not answer, and nobody else waits for that.

import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import type { LookOrder } from './ref-looks.ts';
import { refStateOf } from './ref-state.ts';

lowerPriority('background');
const port = parentPort!;

port.on('message', ({ paths, progress }: LookOrder) => {
  const states = paths.map((path, index) => {
    Atomics.store(progress, 0, index);
    return stateOf(path);
  });
  port.postMessage(states);
});

/** What cannot be looked at looks like that. */
function stateOf(path: string): string {
  try {
    return refStateOf(path);
  } catch (error) {
    return messageOf(error);
  }
}

// The thread that looks at refs: what of a file system it asks may not answer, and nobody else waits for that.

import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '../../base/priority.ts';
import type { LookOrder } from './ref-looks.ts';
import { refStateOf } from './ref-state.ts';

lowerPriority('background');
const port = parentPort!;

port.on('message', ({ paths, progress }: LookOrder) => {
  const states = paths.map((path, index) => {
    Atomics.store(progress, 0, index);
    return hash('sha1', refStateOf(path));
  });
  port.postMessage(states);
});

// Replaces the thread that polls refs: waits at some paths until a file exists, or its folder is removed.

import { spawnSync } from 'node:child_process';
import { parentPort } from 'node:worker_threads';
import type { RefPoll } from '../../../daemon/sources/git/ref-poller.ts';

const WAIT = 'while [ ! -e "$1" ] && [ -d "${1%/*}" ]; do sleep 0.05; done';

parentPort!.on('message', ({ paths, progress }: RefPoll) => {
  const states = paths.map((path, index) => {
    Atomics.store(progress, 0, index);
    // Why a child: waiting for it cannot be ended from outside, as a call of the system cannot.
    if (path.startsWith('/')) spawnSync('sh', ['-c', WAIT, '', path]);
    return `state of ${path}`;
  });
  parentPort!.postMessage(states);
});

// Worker thread that converts large bodies to MessagePack, in order of request.

import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '../base/priority.ts';
import { jsonToMessagePack } from './message-pack.ts';
import type { PackAnswer } from './packer.ts';

function answerFor(json: Uint8Array): PackAnswer {
  try {
    return { packed: new Uint8Array(jsonToMessagePack(json)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

lowerPriority('search');
parentPort?.on('message', (json: Uint8Array) => {
  const answer = answerFor(json);
  // Transferred: a copy would block the main thread.
  parentPort?.postMessage(answer, 'packed' in answer ? [answer.packed.buffer] : []);
});

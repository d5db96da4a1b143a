// The merge thread: merges one set of shards at a time, and first checks all their pages, without mapping: damage must not
// spread.

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import type { EndOrder, LoadedNotice } from '../../base/reusable-thread.ts';
import { giveMemoryBackSoon, keepMemory } from '../host/collect.ts';
import { loadMapping } from '../host/mapping.ts';
import { checkShards } from '../host/page-check.ts';
import { ShardError, type ShardFault } from '../host/space.ts';
import { mergeShards, type MergeOrder, MergeOverflow, type MergeResult } from './merge.ts';

export interface MergeWorkerData {
  readonly module: WebAssembly.Module;
}

export type ToMergeWorker = EndOrder | { readonly kind: 'run'; readonly order: MergeOrder };

export type FromMergeWorker =
  | LoadedNotice
  | { readonly kind: 'done'; readonly result: MergeResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly isOverflow: boolean;
      readonly shard?: { readonly shardId: string; readonly fault: ShardFault };
    };

const { module }: MergeWorkerData = workerData;
const port = parentPort!;

loadMapping();
post({ kind: 'loaded' });
lowerPriority('background');
port.on('message', (message: ToMergeWorker) => {
  keepMemory();
  if (message.kind === 'end') port.close();
  else void runAndPost(message.order);
});

async function runAndPost(order: MergeOrder): Promise<void> {
  try {
    await checkShards(module, order.sources);
    post({ kind: 'done', result: mergeShards(module, order) });
  } catch (error) {
    const isOverflow = error instanceof MergeOverflow;
    if (error instanceof ShardError) {
      const { shardId, reason, fault } = error;
      post({ kind: 'failed', message: reason, isOverflow, shard: { shardId, fault } });
    } else post({ kind: 'failed', message: messageOf(error), isOverflow });
  }
  giveMemoryBackSoon();
}

function post(message: FromMergeWorker): void {
  port.postMessage(message);
}

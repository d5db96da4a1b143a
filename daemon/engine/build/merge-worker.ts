// The merge thread: merges one set of shards at a time, and first checks all their pages, without mapping: damage must not
// spread.

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import type { EndOrder, LoadedNotice } from '../../base/reusable-thread.ts';
import { giveMemoryBackSoon, keepMemory } from '../host/collect.ts';
import { loadMapping } from '../host/mapping.ts';
import { PageCheck } from '../host/page-check.ts';
import { type ShardFile, ShardError, type ShardFault } from '../host/space.ts';
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
    await checkAll(order.sources);
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

async function checkAll(sources: readonly ShardFile[]): Promise<void> {
  const check = new PageCheck(module);
  try {
    for (const source of sources) {
      const problem = await check.check(source, async () => {});
      if (problem !== undefined)
        throw new ShardError(source.shardId, problem.reason, problem.fault);
    }
  } finally {
    check.drop();
  }
}

function post(message: FromMergeWorker): void {
  port.postMessage(message);
}

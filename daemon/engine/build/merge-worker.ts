// The thread of one merge: checks all pages of the shards that it reads, without mapping them, and merges them. Damage
// must not become part of another shard.

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import { loadMapping } from '../host/mapping.ts';
import { PageCheck } from '../host/page-check.ts';
import { ShardError, type ShardFault } from '../host/space.ts';
import { mergeShards, type MergeOrder, MergeOverflow, type MergeResult } from './merge.ts';

export interface MergeWorkerData {
  readonly module: WebAssembly.Module;
  readonly order: MergeOrder;
}

export type FromMergeWorker =
  /** It may be ended from now on. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'done'; readonly result: MergeResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly isOverflow: boolean;
      /** The shard that is at fault, if one is. */
      readonly shard?: { readonly shardId: string; readonly fault: ShardFault };
    };

loadMapping();
tell({ kind: 'loaded' });
lowerPriority('background');
const { module, order }: MergeWorkerData = workerData;

try {
  const check = new PageCheck(module);
  for (const source of order.sources) {
    const problem = await check.check(source, async () => {});
    if (problem !== undefined) throw new ShardError(source.shardId, problem.reason, problem.fault);
  }
  tell({ kind: 'done', result: mergeShards(module, order) });
} catch (error) {
  const isOverflow = error instanceof MergeOverflow;
  if (error instanceof ShardError) {
    const { shardId, reason, fault } = error;
    tell({ kind: 'failed', message: reason, isOverflow, shard: { shardId, fault } });
  } else tell({ kind: 'failed', message: messageOf(error), isOverflow });
}

function tell(message: FromMergeWorker): void {
  parentPort!.postMessage(message);
}

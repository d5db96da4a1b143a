// The thread of symbol passes, one at a time: checks a shard, extracts its symbols, writes the symbols file. It first checks
// all pages, without mapping: damage must not become symbols.

import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { giveMemoryBackSoon, keepMemory } from '../host/collect.ts';
import { loadMapping } from '../host/mapping.ts';
import { checkShards } from '../host/page-check.ts';
import { ShardError } from '../host/space.ts';
import { lowerPriority } from '../../base/priority.ts';
import { SymbolsFileBuilder } from '../shards/symbols-builder.ts';
import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import type { EndOrder, LoadedNotice } from '../../base/reusable-thread.ts';
import { type EngineName, type ExtractorOptions, openExtractor } from './extractor.ts';
import { passOver, type PassProgress, type PassSource, type PassTotals } from './pass-loop.ts';

export interface PassWorkerData {
  readonly module: WebAssembly.Module;
}

export interface PassOrder extends Required<ExtractorOptions> {
  readonly kind: 'run';
  readonly shardPath: string;
  readonly outPath: string;
}

/** To the thread: `cancel` ends the current pass at once, `end` the thread. */
export type ToPassWorker = PassOrder | { readonly kind: 'cancel' } | EndOrder;

export interface PassResult extends PassTotals {
  /** SHA-256 of the symbols file, and its bytes. */
  readonly fileId: string;
  readonly size: number;
  readonly engines: readonly EngineName[];
}

export type FromPassWorker =
  | LoadedNotice
  | { readonly kind: 'progress'; readonly progress: PassProgress }
  | { readonly kind: 'done'; readonly result: PassResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** System error code, if that is the cause. */
      readonly code?: string;
      readonly damage?: string;
    };

const { module }: PassWorkerData = workerData;
const port = parentPort!;
loadMapping();
post({ kind: 'loaded' });
lowerPriority('background');
let cancelled = new AbortController();

port.on('message', (message: ToPassWorker) => {
  if (message.kind === 'cancel') cancelled.abort();
  else if (message.kind === 'end') end();
  else void runAndPost(message);
});

function end(): void {
  keepMemory();
  port.close();
}

async function runAndPost(order: PassOrder): Promise<void> {
  keepMemory();
  cancelled = new AbortController();
  try {
    post({ kind: 'done', result: await run(order, cancelled.signal) });
  } catch (error) {
    const isDamage = error instanceof ShardError && error.fault !== 'unmapped';
    const damage = isDamage ? error.reason : undefined;
    const cause = omitUndefined({ code: systemCodeOf(error), damage });
    post({ kind: 'failed', message: messageOf(error), ...cause });
  }
  giveMemoryBackSoon();
}

function post(message: FromPassWorker): void {
  port.postMessage(message);
}

async function run(order: PassOrder, signal: AbortSignal): Promise<PassResult> {
  const { shardPath } = order;
  const shard = { shardId: shardPath, path: shardPath, size: statSync(shardPath).size };
  await checkShards(module, [shard], async () => signal.throwIfAborted());
  const builder = new SymbolsFileBuilder(module, shardPath);
  try {
    return await fill(builder, order, signal);
  } finally {
    builder.drop();
  }
}

async function fill(
  builder: SymbolsFileBuilder,
  order: PassOrder,
  signal: AbortSignal,
): Promise<PassResult> {
  const extractor = await openExtractor(order);
  const closeEarly = (): void => void extractor.close();
  signal.addEventListener('abort', closeEarly, { once: true });
  try {
    const totals = await passOver(sourceOf(builder), extractor, builder, {
      signal,
      onProgress: throttledProgress(),
    });
    const { fileId, size } = builder.finish(order.outPath);
    return { ...totals, fileId, size, engines: extractor.engines };
  } finally {
    await extractor.close();
  }
}

function sourceOf({ tables }: SymbolsFileBuilder): PassSource {
  return {
    blobCount: tables.blobCount,
    contentSize: tables.contentSize,
    blob(blobId) {
      const { content, docId } = tables.blob(blobId);
      const { path, language } = tables.doc(docId);
      return { path: Buffer.from(path).toString(), language, content };
    },
  };
}

function throttledProgress(): (progress: PassProgress) => void {
  let postedMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    if (nowMs - postedMs < 200) return;
    postedMs = nowMs;
    post({ kind: 'progress', progress });
  };
}

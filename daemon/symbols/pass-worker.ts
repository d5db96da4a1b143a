// The thread of one symbol pass: checks and opens the shard, runs the pass over its contents with an extractor of its
// own, writes the symbols file. All of the shard is read here, so all of its pages are checked before, without mapping:
// a search checks each page that it reads, and damage must not become symbols either.

import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PageCheck } from '../engine/host/page-check.ts';
import { ShardError, Space } from '../engine/host/space.ts';
import { SymbolsFileBuilder } from '../engine/host/symbols-builder.ts';
import { lowerPriority } from '../base/priority.ts';
import { ShardTables } from '../engine/shards/tables.ts';
import { messageOf } from '../base/caught.ts';
import { openExtractor } from './extractor.ts';
import { passOver, type PassProgress, type PassSource } from './pass-loop.ts';
import type { FromPassWorker, PassResult, PassWorkerData } from './pass-messages.ts';

const PROGRESS_MS = 200;

lowerPriority('background');
const data: PassWorkerData = workerData;
const port = parentPort!;
const cancelled = new AbortController();
port.on('message', () => cancelled.abort());

try {
  tell({ kind: 'done', result: await run() });
} catch (error) {
  const isDamage = error instanceof ShardError && error.fault !== 'unmapped';
  const damage = isDamage ? { damage: error.reason } : {};
  tell({ kind: 'failed', message: messageOf(error), ...damage });
}
port.close();

function tell(message: FromPassWorker): void {
  port.postMessage(message);
}

async function run(): Promise<PassResult> {
  const source = await openShardSource();
  const builder = new SymbolsFileBuilder(data.module, data.shardPath);
  const extractor = await openExtractor(data);
  const closeEarly = (): void => void extractor.close();
  cancelled.signal.addEventListener('abort', closeEarly, { once: true });
  try {
    const { signal } = cancelled;
    const totals = await passOver(source, extractor, builder, { signal, onProgress: inTurns() });
    const { size } = builder.finish(data.outPath);
    return { ...totals, size, engines: extractor.engines };
  } finally {
    await extractor.close();
  }
}

async function whileWanted(): Promise<void> {
  cancelled.signal.throwIfAborted();
}

/** Errors: ShardError. */
async function openShardSource(): Promise<PassSource> {
  const { shardPath } = data;
  const file = { shardId: shardPath, path: shardPath, size: statSync(shardPath).size };
  const problem = await new PageCheck(data.module).check(file, whileWanted);
  if (problem !== undefined) throw new ShardError(shardPath, problem.reason, problem.fault);
  const space = new Space(data.module);
  space.open(file);
  const tables = new ShardTables(space.bytesOf(shardPath));
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

/** Tells the progress a few times a second. */
function inTurns(): (progress: PassProgress) => void {
  let toldMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS) return;
    toldMs = nowMs;
    tell({ kind: 'progress', progress });
  };
}

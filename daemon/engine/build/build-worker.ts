// A build thread: reads a batch of files, passes those that are text to the core, and writes contents and coded segments; or
// completes a shard file from its segments and checks it.

import { parentPort, workerData } from 'node:worker_threads';
import {
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../../../core/shared/format.ts';
import { CONTENT_SIZE_MAX, joinRows, SegmentBuilder } from '../host/builder.ts';
import { giveMemoryBack, KEPT_MS } from '../host/collect.ts';
import { loadMapping } from '../host/mapping.ts';
import { lowerPriority } from '../../base/priority.ts';
import {
  type BatchJob,
  buffersOf,
  type BuildWorkerData,
  type CompletionJob,
  type FileOutcome,
  type FromBuildWorker,
  type StoredAnswer,
  type BuildSetup,
  type BatchStart,
  packOutcomes,
  type ToBuildWorker,
} from './build-messages.ts';
import { completeShard, writeContent, writeSegments } from './shard-file.ts';
import { DocFilter, isBinary } from './filters.ts';
import { detectLanguage, languageOfPath, saidLanguage } from '../../sources/languages/languages.ts';
import { DocReader } from '../../sources/docs/doc-reader.ts';
import { FileList, type SourceFile } from '../../sources/docs/file-list.ts';
import type { ReadFailure } from '../../sources/docs/source.ts';
import { utf8Of } from '../../base/utf16.ts';

interface ReadBatch {
  readonly outcomes: FileOutcome[];
  /** Index of each content in the builder; undefined: it is excluded. */
  readonly positions: (number | undefined)[];
  readonly failures: readonly ReadFailure[];
}

const { module, work }: BuildWorkerData = workerData;
loadMapping();
lowerPriority(work);
const port = parentPort!;
let builder: SegmentBuilder | undefined;
let build: (BuildSetup & { readonly filter: DocFilter }) | undefined;
let keeping: NodeJS.Timeout | undefined;
let reader: DocReader | undefined;
let onAnswer: ((answer: StoredAnswer | BatchStart) => void) | undefined;

port.on('message', (message: ToBuildWorker) => {
  if (message.kind === 'stored' || message.kind === 'start') {
    onAnswer?.(message);
    return;
  }
  if (message.kind === 'begin') {
    clearTimeout(keeping);
    build = { ...message, filter: new DocFilter(message.filters) };
    return;
  }
  if (message.kind === 'leaveBuild') {
    void closeReader().then(message.isOver ? end : rest);
    return;
  }
  // Why: an error must end the thread, so that the build notices.
  const work = message.kind === 'batch' ? runBatch(message) : runCompletion(message);
  work.catch(async (error: unknown) => {
    await closeReader();
    setImmediate(() => {
      throw error;
    });
  });
});

/** Why awaited: a child process whose thread ends first stays defunct as long as the daemon runs. */
async function closeReader(): Promise<void> {
  const open = reader;
  reader = undefined;
  await open?.close().catch(() => {});
}

function rest(): void {
  build = undefined;
  onAnswer = undefined;
  keeping = setTimeout(dropBuilder, KEPT_MS);
  post({ kind: 'left' });
}

function end(): void {
  // The timer would keep the thread alive.
  clearTimeout(keeping);
  port.close();
}

function dropBuilder(): void {
  builder?.drop();
  builder = undefined;
  giveMemoryBack();
}

function post(message: FromBuildWorker, transferList: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferList);
}

async function request<Answer extends StoredAnswer | BatchStart>(
  question: FromBuildWorker,
  transferList: readonly ArrayBuffer[] = [],
): Promise<Answer> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: one question is open, with its kind of answer.
    onAnswer = (answer) => resolve(answer as Answer);
    post(question, transferList);
  });
}

async function runBatch(job: BatchJob): Promise<void> {
  const { batch } = job;
  builder ??= new SegmentBuilder(module);
  builder.begin();
  const files = [...new FileList(job.files)];
  const { outcomes, positions, failures } = await readBatch(builder, files, job.alsoAt);
  const packed = packOutcomes(outcomes);
  const question = { kind: 'askStored' as const, batch, outcomes: packed, failures };
  const { toStore } = await request<StoredAnswer>(question, buffersOf(packed));
  const refused = addContents(builder, files, outcomes, positions, toStore);
  const { content, segments, blobCount, blockCount } = builder.close();
  const start = await request<BatchStart>({
    kind: 'askStart',
    batch,
    contentSize: content.length,
    blobCount,
    blockCount,
    segmentCount: segments.length,
    refused,
  });
  writeContent(job.path, content, start.contentBase);
  const paths = writeSegments(job.path, segments, start.segmentBase);
  const rows = builder.rows(start.contentBase, start.blobBase, start.blockBase);
  post({ kind: 'batchDone', batch, rows, segments: paths }, buffersOf(rows));
}

async function readBatch(
  target: SegmentBuilder,
  files: readonly SourceFile[],
  alsoAt: BatchJob['alsoAt'],
): Promise<ReadBatch> {
  const { spec, filter, headerFolders } = build!;
  reader ??= new DocReader(spec.path);
  const outcomes: FileOutcome[] = [];
  const positions: (number | undefined)[] = [];
  const failures = await reader.read(files, (index, stored, oid) => {
    const { path, size } = files[index]!;
    if (stored === undefined) {
      outcomes[index] = {
        size,
        oid: '',
        language: detectLanguage(path, new Uint8Array(), headerFolders),
        skipReason: SKIP_NONE,
      };
      return;
    }
    const bytes = utf8Of(stored);
    const said = saidLanguage(bytes);
    const languageAt = (one: string): string => said ?? languageOfPath(one, bytes, headerFolders);
    const isTooLarge = filter.isTooLarge(path, stored.length) || bytes.length > CONTENT_SIZE_MAX;
    const skipReason = isTooLarge ? SKIP_TOO_LARGE : isBinary(bytes) ? SKIP_BINARY : SKIP_NONE;
    const isKept = skipReason === SKIP_NONE;
    const kept = isKept ? bytes : stored;
    outcomes[index] = {
      size: kept.length,
      oid,
      language: languageAt(path),
      languagesThere: alsoAt.get(index)?.map(languageAt) ?? [],
      skipReason,
    };
    if (isKept) positions[index] = target.stage(bytes);
  });
  return { outcomes, positions, failures };
}

/** Returns why contents are refused (SKIP_*), by their indexes in `toStore`. */
function addContents(
  target: SegmentBuilder,
  files: readonly SourceFile[],
  outcomes: readonly FileOutcome[],
  positions: readonly (number | undefined)[],
  toStore: StoredAnswer['toStore'],
): Map<number, number> {
  const staged = new Set<number>();
  // Why first: added contents may overwrite staged ones.
  const startsToStore = toStore.map((index) => {
    const start = positions[index];
    if (start === undefined || !staged.has(index)) {
      staged.add(index);
      return start;
    }
    return target.stageAgain(start, outcomes[index]!.size);
  });
  const refused = new Map<number, number>();
  for (const [nth, index] of toStore.entries()) {
    const start = startsToStore[nth];
    const trigramMax = build!.filter.trigramCountMax(files[index]!.path);
    const outcome =
      start === undefined ? 'full' : target.add(start, outcomes[index]!.size, trigramMax);
    if (outcome === 'too_many_trigrams') refused.set(nth, SKIP_TOO_MANY_TRIGRAMS);
    if (outcome === 'full') refused.set(nth, SKIP_TOO_LARGE);
  }
  return refused;
}

async function runCompletion(job: CompletionJob): Promise<void> {
  // Guess: from four segments on, returning memory pays.
  const isLarge = job.segments.length >= 4;
  if (isLarge) dropBuilder();
  const tables = { ...job, ...joinRows(job.rows) };
  const isSynced = work === 'background';
  const summary = completeShard(module, job.path, tables, job.segments, isSynced);
  if (isLarge) giveMemoryBack();
  post({ kind: 'shardDone', path: job.path, summary });
  await Promise.resolve();
}

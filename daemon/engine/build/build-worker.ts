// A build thread: reads a batch of files, excludes files that are not text, passes the rest to the core, and writes contents
// and coded stripes; or completes a shard file from its stripes and checks it. Serves one build at a time.

import { parentPort, workerData } from 'node:worker_threads';
import {
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../../../core/shared/format.ts';
import { CONTENT_SIZE_MAX, StripeBuilder } from '../host/builder.ts';
import { giveMemoryBack, KEPT_MS } from '../host/collect.ts';
import { loadMapping } from '../host/mapping.ts';
import { lowerPriority } from '../../base/priority.ts';
import {
  type BatchJob,
  buffersOf,
  type BuildWorkerData,
  type CompletionJob,
  type FromBuildWorker,
  type KnownAnswer,
  type OfBuild,
  type PlaceAnswer,
  type ToBuildWorker,
} from './build-messages.ts';
import { type FileOutcome, packOutcomes } from './batch-outcomes.ts';
import { completeShard, writeContent, writeStripes } from './shard-file.ts';
import { DocFilter, isBinary, type SkipReason } from './filters.ts';
import { detectLanguage, languageOfPath, saidLanguage } from '../../sources/languages/languages.ts';
import { DocReader } from '../../sources/docs/doc-reader.ts';
import { FileList, type SourceFile } from '../../sources/docs/file-list.ts';
import type { ReadFailure, SourceReader } from '../../sources/docs/source.ts';
import { utf8Of } from '../../base/utf16.ts';

const SKIP_CODES: Readonly<Record<SkipReason, number>> = {
  binary: SKIP_BINARY,
  too_large: SKIP_TOO_LARGE,
  too_many_trigrams: SKIP_TOO_MANY_TRIGRAMS,
};

interface ReadBatch {
  readonly outcomes: FileOutcome[];
  /** Index of each content in the builder; undefined: it is excluded. */
  readonly places: (number | undefined)[];
  readonly failures: readonly ReadFailure[];
}

/** Guess: from this many stripes on, returning memory before and after completion pays. */
const MANY_STRIPES = 4;

const { module, work }: BuildWorkerData = workerData;
loadMapping();
lowerPriority(work);
const port = parentPort!;
let builder: StripeBuilder | undefined;
/** The build that the thread works for. */
let build: (OfBuild & { readonly filter: DocFilter }) | undefined;
let keeping: NodeJS.Timeout | undefined;
let reader: SourceReader | undefined;
let onAnswer: ((answer: KnownAnswer | PlaceAnswer) => void) | undefined;

port.on('message', (message: ToBuildWorker) => {
  if (message.kind === 'known' || message.kind === 'place') {
    onAnswer?.(message);
    return;
  }
  if (message.kind === 'begin') {
    clearTimeout(keeping);
    build = { ...message, filter: new DocFilter(message.filters) };
    return;
  }
  if (message.kind === 'letGo') {
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
  tell({ kind: 'rested' });
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

function tell(message: FromBuildWorker, givenAway: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, givenAway);
}

async function ask<Answer extends KnownAnswer | PlaceAnswer>(
  question: FromBuildWorker,
  givenAway: readonly ArrayBuffer[] = [],
): Promise<Answer> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: one question is open, with its kind of answer.
    onAnswer = (answer) => resolve(answer as Answer);
    tell(question, givenAway);
  });
}

async function runBatch(job: BatchJob): Promise<void> {
  const { batch } = job;
  builder ??= new StripeBuilder(module);
  builder.begin();
  const files = [...new FileList(job.files)];
  const { outcomes, places, failures } = await readBatch(builder, files, job.alsoAt);
  const told = packOutcomes(outcomes);
  const question = { kind: 'askKnown' as const, batch, outcomes: told, failures };
  const { toStore } = await ask<KnownAnswer>(question, buffersOf(told));
  const refused = addContents(builder, files, outcomes, places, toStore);
  const { content, stripes, blobCount, blockCount } = builder.close();
  const place = await ask<PlaceAnswer>({
    kind: 'askPlace',
    batch,
    contentSize: content.length,
    blobCount,
    blockCount,
    stripeCount: stripes.length,
    refused,
  });
  writeContent(job.path, content, place.contentBase);
  const paths = writeStripes(job.path, stripes, place.stripeBase);
  const rows = builder.rows(place.contentBase, place.blobBase, place.blockBase);
  tell({ kind: 'batchDone', batch, ...rows, stripes: paths }, buffersOf(rows));
}

async function readBatch(
  target: StripeBuilder,
  files: readonly SourceFile[],
  alsoAt: BatchJob['alsoAt'],
): Promise<ReadBatch> {
  const { spec, filter, headerFolders } = build!;
  reader ??= new DocReader(spec.path);
  const outcomes: FileOutcome[] = [];
  const places: (number | undefined)[] = [];
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
    const reason =
      filter.skipReasonOfSize(path, stored.length) ??
      (bytes.length > CONTENT_SIZE_MAX ? 'too_large' : isBinary(bytes) ? 'binary' : undefined);
    const skipReason = reason === undefined ? SKIP_NONE : SKIP_CODES[reason];
    const isKept = skipReason === SKIP_NONE;
    const kept = isKept ? bytes : stored;
    outcomes[index] = {
      size: kept.length,
      oid,
      language: languageAt(path),
      languagesThere: alsoAt.get(index)?.map(languageAt) ?? [],
      skipReason,
    };
    if (isKept) places[index] = target.stage(bytes);
  });
  return { outcomes, places, failures };
}

/** Returns why contents are refused (SKIP_*), by their indexes in `toStore`. */
function addContents(
  target: StripeBuilder,
  files: readonly SourceFile[],
  outcomes: readonly FileOutcome[],
  places: readonly (number | undefined)[],
  toStore: KnownAnswer['toStore'],
): Map<number, number> {
  const staged = new Set<number>();
  // Why first: added contents may overwrite staged ones.
  const placesToStore = toStore.map((index) => {
    const place = places[index];
    if (place === undefined || !staged.has(index)) {
      staged.add(index);
      return place;
    }
    return target.stageAgain(place, outcomes[index]!.size);
  });
  const refused = new Map<number, number>();
  for (const [nth, index] of toStore.entries()) {
    const place = placesToStore[nth];
    const trigramMax = build!.filter.trigramCountMax(files[index]!.path);
    const outcome =
      place === undefined ? 'full' : target.add(place, outcomes[index]!.size, trigramMax);
    if (outcome === 'too_many_trigrams') refused.set(nth, SKIP_TOO_MANY_TRIGRAMS);
    if (outcome === 'full') refused.set(nth, SKIP_TOO_LARGE);
  }
  return refused;
}

async function runCompletion(job: CompletionJob): Promise<void> {
  const isLarge = job.stripes.length >= MANY_STRIPES;
  if (isLarge) dropBuilder();
  const tables = {
    ...job,
    blobs: Buffer.concat(job.blobs),
    blocks: Buffer.concat(job.blocks),
    caseMarks: Buffer.concat(job.caseMarks),
  };
  const summary = completeShard(module, job.path, tables, job.stripes, {
    isSynced: work === 'background',
  });
  if (isLarge) giveMemoryBack();
  tell({ kind: 'shardDone', path: job.path, summary });
  await Promise.resolve();
}

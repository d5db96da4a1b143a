// The symbol pass over a shard: extracts many contents at once, within bounds, and writes the symbols in content order.

import type { Extractor } from './extractor.ts';
import type { Extraction, ExtractionFailure, Found, FoundSymbol, Part } from './found.ts';

export interface PassBlob {
  readonly path: string;
  /** As linguist spells it; '' if unknown. */
  readonly language: string;
  /** Does not change during the pass. */
  readonly content: Uint8Array;
}

export interface PassSource {
  readonly blobCount: number;
  readonly contentSize: number;
  blob(blobId: number): PassBlob;
}

export interface PassSink {
  /** Called with ascending ids, only for contents with symbols; returns how many it keeps. Undefined: it has no room for them. */
  addBlob(blobId: number, symbols: readonly FoundSymbol[]): number | undefined;
}

export interface PassProgress {
  readonly blobsDone: number;
  readonly blobsTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface PassFailure extends ExtractionFailure {
  readonly path: string;
}

/** A content that was read partly, or by a lesser engine; symbols may be missing. */
export interface PartlyRead {
  readonly path: string;
  readonly detail: string;
}

export interface PassTotals {
  /** Contents read by an engine. */
  readonly fileCount: number;
  readonly symbolCount: number;
  readonly failureCount: number;
  /** The first LISTED_MAX. */
  readonly failures: readonly PassFailure[];
  readonly partlyReadCount: number;
  /** The first LISTED_MAX. */
  readonly partlyRead: readonly PartlyRead[];
}

/** Of failures, and of partly read files, that are named. */
const LISTED_MAX = 100;

interface Ahead {
  readonly blobId: number;
  readonly blob: PassBlob;
  readonly extraction: Promise<Extraction>;
}

export async function passOver(
  source: PassSource,
  extractor: Extractor,
  sink: PassSink,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: PassProgress) => void;
  },
): Promise<PassTotals> {
  const counts = { fileCount: 0, symbolCount: 0, failureCount: 0, partlyReadCount: 0 };
  const failures: PassFailure[] = [];
  const partlyRead: PartlyRead[] = [];
  const ahead: Ahead[] = [];
  let aheadSize = 0;
  let bytesDone = 0;
  for (let blobId = 0; blobId < source.blobCount; blobId++) {
    options.signal.throwIfAborted();
    const blob = source.blob(blobId);
    const size = blob.content.length;
    // Bound: memory; a single content may be larger.
    while (ahead.length >= 1024 || (ahead.length > 0 && aheadSize + size > 64 << 20))
      await takeFirst();
    if (extractor.engineOf(blob.language) === undefined) {
      bytesDone += size;
      continue;
    }
    const extraction = extractor.extract(blob.language, blob.content);
    // Why: a failure before it is taken must not end the thread.
    extraction.catch(() => undefined);
    ahead.push({ blobId, blob, extraction });
    aheadSize += size;
  }
  while (ahead.length > 0) await takeFirst();
  return { ...counts, failures, partlyRead };

  async function takeFirst(): Promise<void> {
    const { blobId, blob, extraction } = ahead.shift()!;
    aheadSize -= blob.content.length;
    const extracted = await extraction;
    options.signal.throwIfAborted();
    const outcome = store(sink, blobId, extracted);
    counts.fileCount++;
    bytesDone += blob.content.length;
    if ('failure' in outcome) {
      counts.failureCount++;
      if (failures.length < LISTED_MAX) failures.push({ path: blob.path, ...outcome });
    } else {
      const detail = outcome.failedEngine ?? unreadText(outcome.unread, blob.content);
      if (detail !== undefined) {
        counts.partlyReadCount++;
        if (partlyRead.length < LISTED_MAX) partlyRead.push({ path: blob.path, detail });
      }
      counts.symbolCount += outcome.keptCount;
    }
    options.onProgress({
      blobsDone: blobId + 1,
      blobsTotal: source.blobCount,
      bytesDone,
      bytesTotal: source.contentSize,
    });
  }
}

/** With the symbols stored. */
function store(
  sink: PassSink,
  blobId: number,
  outcome: Extraction,
): ExtractionFailure | (Found & { readonly keptCount: number }) {
  if ('failure' in outcome) return outcome;
  const keptCount = outcome.symbols.length === 0 ? 0 : sink.addBlob(blobId, outcome.symbols);
  if (keptCount !== undefined) return { ...outcome, keptCount };
  return { failure: 'output', detail: 'too many names, or words in names, for its shard' };
}

function unreadText(unread: readonly Part[] | undefined, content: Uint8Array): string | undefined {
  if (unread === undefined) return undefined;
  const size = unread.reduce((sum, { start, end }) => sum + end - start, 0);
  const before = content.subarray(0, unread[0]?.start ?? 0);
  const line = before.reduce((count, byte) => (byte === 10 ? count + 1 : count), 1);
  return `${size} of ${content.length} bytes have a syntax that the parser does not know; the first are on line ${line}`;
}

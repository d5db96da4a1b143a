// The symbol pass over a shard: extracts many contents at once, within bounds, and writes the symbols in content order.

import type { Extractor } from './extractor.ts';
import type { Extraction, FailureKind, FoundSymbol, Part } from './found.ts';

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
  /** Called with ascending ids, only for contents with symbols; returns how many it keeps. */
  addBlob(blobId: number, symbols: readonly FoundSymbol[]): number;
}

export interface PassProgress {
  readonly blobsDone: number;
  readonly blobsTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly symbolCount: number;
  readonly failureCount: number;
}

export interface PassFailure {
  readonly path: string;
  readonly failure: FailureKind;
  readonly detail: string;
}

/** A content that was read partly; symbols in the other parts may be missing. */
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
  const ahead = new Queue();
  let bytesDone = 0;
  try {
    for (let blobId = 0; blobId < source.blobCount; blobId++) {
      options.signal.throwIfAborted();
      const blob = source.blob(blobId);
      while (!ahead.canFit(blob.content.length)) await takeFirst();
      if (extractor.engineOf(blob.language) === undefined) {
        bytesDone += blob.content.length;
        continue;
      }
      ahead.push({ blobId, blob, extraction: extractor.extract(blob.language, blob.content) });
    }
    while (!ahead.isEmpty) await takeFirst();
  } finally {
    ahead.abandon();
  }
  return { ...counts, failures, partlyRead };

  async function takeFirst(): Promise<void> {
    const { blobId, blob, extraction } = ahead.shift();
    const outcome = await extraction;
    options.signal.throwIfAborted();
    counts.fileCount++;
    bytesDone += blob.content.length;
    if ('failure' in outcome) {
      counts.failureCount++;
      if (failures.length < LISTED_MAX) failures.push({ path: blob.path, ...outcome });
    } else {
      if (outcome.unread !== undefined) {
        counts.partlyReadCount++;
        if (partlyRead.length < LISTED_MAX)
          partlyRead.push({ path: blob.path, detail: detailOf(outcome.unread, blob.content) });
      }
      if (outcome.symbols.length > 0) counts.symbolCount += sink.addBlob(blobId, outcome.symbols);
    }
    options.onProgress({
      blobsDone: blobId + 1,
      blobsTotal: source.blobCount,
      bytesDone,
      bytesTotal: source.contentSize,
      symbolCount: counts.symbolCount,
      failureCount: counts.failureCount,
    });
  }
}

function detailOf(unread: readonly Part[], content: Uint8Array): string {
  const size = unread.reduce((sum, { start, end }) => sum + end - start, 0);
  const before = content.subarray(0, unread[0]?.start ?? 0);
  const line = before.reduce((count, byte) => (byte === 10 ? count + 1 : count), 1);
  return `${size} of ${content.length} bytes have a syntax that the parser does not know; the first are on line ${line}`;
}

class Queue {
  readonly #items: Ahead[] = [];
  #size = 0;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Bound: memory; a single content may be larger. */
  canFit(size: number): boolean {
    if (this.isEmpty) return true;
    return this.#items.length < 1024 && this.#size + size <= 64 << 20;
  }

  push(item: Ahead): void {
    // Why: a failure before it is taken must not end the thread.
    item.extraction.catch(() => undefined);
    this.#items.push(item);
    this.#size += item.blob.content.length;
  }

  shift(): Ahead {
    const item = this.#items.shift();
    if (item === undefined) throw new Error('no content is being extracted');
    this.#size -= item.blob.content.length;
    return item;
  }

  abandon(): void {
    this.#items.length = 0;
  }
}

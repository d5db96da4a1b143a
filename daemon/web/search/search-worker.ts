// The search worker: sends the search, reads the event stream and converts results to rows, so that the page only
// paints. A new search aborts the previous one, in the daemon too.

/// <reference lib="webworker" />

import { createParser } from 'eventsource-parser';
import type { SearchEvent } from '../../api/search/search-schemas.ts';
import { ApiFailure, OfflineError, fetchApi } from '../data/api.ts';
import { download } from './download.ts';
import type {
  DownloadRequest,
  FromWorker,
  Outcome,
  Progress,
  SearchFailure,
  ToWorker,
} from './messages.ts';
import { toResultFile } from './rows.ts';

/** Maximum number of files in a message; the page takes one message per frame. */
const MESSAGE_FILES_MAX = 50;

let running: { readonly id: number; readonly abort: AbortController } | undefined;

function post(message: FromWorker): void {
  self.postMessage(message);
}

function toFailure(error: unknown): SearchFailure {
  if (error instanceof ApiFailure) {
    const { statusCode, errorCode, message, retryAfter } = error;
    return { statusCode, errorCode, message, retryAfter };
  }
  const [errorCode, message] =
    error instanceof OfflineError
      ? ['OFFLINE', error.message]
      : ['INTERRUPTED', 'The answer ended early.'];
  return { statusCode: 0, errorCode, message, retryAfter: undefined };
}

type Final = Extract<SearchEvent, { readonly type: 'final' }>;

function outcomeOf({
  accumulatedStats,
  isSearchExhaustive,
  incompleteReasons,
  hints,
}: Final): Outcome {
  return {
    isAll: isSearchExhaustive,
    reasons: incompleteReasons ?? [],
    visibleMatches: accumulatedStats.actualMatchCount,
    totalMatches: accumulatedStats.totalMatchCount,
    totalFiles: accumulatedStats.fileCount,
    hints: hints ?? [],
    stats: accumulatedStats,
  };
}

type ChunkEvent = Extract<SearchEvent, { readonly type: 'chunk' }>;

/** The progress of the search, if the daemon reports it. */
function progressOf(event: ChunkEvent): Progress | undefined {
  if (!('progress' in event)) return undefined;
  const { shardsDone: done, shardsEligible: total } = Object(event.progress);
  return typeof done === 'number' && typeof total === 'number' ? { done, total } : undefined;
}

/**
 * Scores that keep the order of a chunk. Files are sorted by score, except those that the daemon moved up for their
 * kind: they get the score of the next file.
 */
function placedScores(scores: readonly number[]): number[] {
  const placed = [...scores];
  for (let i = placed.length - 2; i >= 0; i--) placed[i] = Math.max(placed[i]!, placed[i + 1]!);
  return placed;
}

/** @param count  number of earlier files of the search */
function postFiles(id: number, event: ChunkEvent, count: number): void {
  const scores = placedScores(event.files.map(({ score = 0 }) => score));
  for (let from = 0; from < event.files.length; from += MESSAGE_FILES_MAX) {
    const some = event.files.slice(from, from + MESSAGE_FILES_MAX);
    const files = some.map((file, index) =>
      toResultFile({ ...file, score: scores[from + index] ?? 0 }, count + from + index),
    );
    post({ type: 'files', id, files });
  }
  // Sent after the files, which matter more.
  const progress = progressOf(event);
  if (progress !== undefined) post({ type: 'progress', id, progress });
}

/** Handles the events of one answer. Errors: ApiFailure for an error event. */
function eventTaker(id: number): { readonly take: (data: string) => void; isOver: boolean } {
  let outcome: Outcome | undefined;
  let count = 0;
  const taker = {
    isOver: false,
    take: (data: string): void => {
      if (data === '[DONE]') {
        if (outcome === undefined) return;
        post({ type: 'end', id, outcome });
        taker.isOver = true;
        return;
      }
      // Safety: the daemon's tests check every event against its schema.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const event = JSON.parse(data) as SearchEvent;
      if (event.type === 'chunk') {
        postFiles(id, event, count);
        count += event.files.length;
      } else if (event.type === 'final') outcome = outcomeOf(event);
      else throw new ApiFailure(event.error.statusCode, event.error.errorCode, event.error.message);
    },
  };
  return taker;
}

/**
 * Reads the events of one answer to its end. Why not a chain of streams: the first results would take longer.
 *
 * Errors: as `eventTaker`; Error if the stream ends early.
 */
async function readEvents(
  id: number,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const taker = eventTaker(id);
  const parser = createParser({ onEvent: ({ data }) => taker.take(data) });
  const decoder = new TextDecoder();
  // Why not `for await`: some browsers cannot iterate over a stream.
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parser.feed(decoder.decode(read.value, { stream: true }));
    if (taker.isOver) return;
  }
  throw new Error('the stream ended early');
}

async function run(message: Extract<ToWorker, { readonly type: 'start' }>): Promise<void> {
  const { id, search, base, isPreview } = message;
  const abort = new AbortController();
  running = { id, abort };
  try {
    const response = await fetchApi('/api/stream_search', {
      base,
      method: 'POST',
      body: { ...search, fields: ['score'] },
      signal: abort.signal,
      headers: isPreview ? { 'X-Service-Client-Source': 'web-preview' } : {},
    });
    if (response.body !== null) await readEvents(id, response.body);
  } catch (error) {
    if (!abort.signal.aborted) post({ type: 'failed', id, failure: toFailure(error) });
    abort.abort();
  }
}

async function makeFile(request: DownloadRequest): Promise<void> {
  const { id } = request;
  try {
    post({ type: 'downloaded', id, ...(await download(request)) });
  } catch (error) {
    post({ type: 'download-failed', id, failure: toFailure(error) });
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'download') {
    void makeFile(data);
    return;
  }
  if (data.type === 'stop' && running?.id !== data.id) return;
  running?.abort.abort();
  if (data.type === 'start') void run(data);
});

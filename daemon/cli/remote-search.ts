// Searches through a running daemon: one POST per search. The counterpart of local-search.ts.

import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Explanation } from '../api/search/explain-schemas.ts';
import type { SearchCall, SearchEvent, SearchResponse } from '../api/search/search-schemas.ts';
import { RequestError, UsageError, isErrorObject } from './errors.ts';
import type { SearchSource } from './search-source.ts';

/** Undefined: it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether an answer has the form of the example: its members, by type, and each item of a list as the example's item. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type that the example stands for
function isLike<Answer>(value: unknown, example: unknown): value is Answer {
  if (typeof value !== typeof example || Array.isArray(value) !== Array.isArray(example))
    return false;
  if (Array.isArray(value) && Array.isArray(example))
    return example.every((one) => value.every((item) => isLike(item, one)));
  if (typeof example !== 'object' || example === null) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(example).every(([name, one]) => isLike(Reflect.get(value, name), one));
}

const PLACE = { lineNumber: 1, column: 1 };
const RANGES = [{ start: PLACE, end: PLACE }];
const CHUNK = { content: '', contentStart: PLACE, matchRanges: RANGES };
const FILE = { repository: '', fileName: { text: '', matchRanges: RANGES }, chunks: [CHUNK] };
const STATS = { totalMatchCount: 0, actualMatchCount: 0 };
const ANSWER = { files: [FILE], stats: STATS, isSearchExhaustive: true };
const FINAL = { accumulatedStats: STATS, isSearchExhaustive: true };
const EXPLANATION = { query: { canonical: '' }, plan: { regexps: [] }, totals: {}, best: [] };

function isSearchEvent(value: unknown): value is SearchEvent {
  const isError = isLike<{ error: unknown }>(value, { error: {} }) && isErrorObject(value.error);
  return isError || isLike(value, { files: [] }) || isLike(value, FINAL);
}

/** Errors: UsageError if `url` is no address of a server. */
export function addressOf(url: string, endpoint: string): URL {
  const isAddress = URL.canParse(url) && /^https?:/.test(url);
  if (!isAddress) {
    const isSchemeMissing = !url.includes('://') && URL.canParse(`http://${url}`);
    const advice = isSchemeMissing ? `; write http://${url}` : '';
    throw new UsageError(`not an http or https address: ${url}${advice}`);
  }
  return new URL(endpoint, url.endsWith('/') ? url : `${url}/`);
}

/** The cause of fetch's "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

const KEY_ADVICE =
  'Give an API key with --api-key or TRAWL_API_KEY; "trawl key create" on the server creates one.';

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to one daemon. Errors: it cannot be reached. */
export interface Daemon {
  /** For messages. */
  readonly name: string;
  readonly advice: string;
  post(endpoint: string, body: string, signal: AbortSignal): Promise<Answer>;
  folders: SearchSource['folders'];
}

/** Errors: UsageError if `url` is no address of a server. */
export function daemonAt(url: string, apiKey: string | undefined): Daemon {
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { 'content-type': 'application/json', ...key };
  addressOf(url, '');
  return {
    name: url,
    advice: apiKey === undefined ? ` ${KEY_ADVICE}` : '',
    async post(endpoint, body, signal) {
      const address = addressOf(url, endpoint);
      try {
        const answer = await fetch(address, { method: 'POST', headers, body, signal });
        const contentType = answer.headers.get('content-type') ?? '';
        return { status: answer.status, contentType, body: answer.body ?? Readable.from([]) };
      } catch (error) {
        throw new UsageError(
          `cannot reach ${address.origin}: ${causeOf(error)}; "trawl serve" starts a daemon, --url selects another one`,
          { cause: error },
        );
      }
    },
    folders: () => Promise.resolve(new Map()),
  };
}

/** The connection was lost. */
export function lostError(name: string, cause: unknown): UsageError {
  return new UsageError(`${name} went away during the search; repeat it`, { cause });
}

/** The whole body, as JSON; undefined: it is none. Errors: UsageError if the connection is lost. */
export async function readBody(name: string, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const whole = await text(body).catch((error: unknown) => {
    throw lostError(name, error);
  });
  return parseJson(whole);
}

export function refusal(
  { name, advice }: Pick<Daemon, 'name' | 'advice'>,
  endpoint: string,
  status: number,
  value: unknown,
): Error {
  if (isErrorObject(value)) {
    const { errorCode, message } = value;
    const isKeyMissing = errorCode === 'NOT_AUTHENTICATED';
    return new RequestError(isKeyMissing ? { ...value, message: `${message}${advice}` } : value);
  }
  const address = URL.canParse(name) ? addressOf(name, endpoint).href : name;
  return new UsageError(`unexpected answer from ${address}: HTTP ${status}; is it a Trawl daemon?`);
}

const EVENT_START = 'data: ';
const STREAM_END = '[DONE]';

/** The data of the events in a body of server-sent events, with the end mark. */
async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Pieces without the end of an event, so that a large event is scanned once.
  let unfinished: string[] = [];
  for await (const bytes of body) {
    const parts = decoder.decode(bytes, { stream: true }).split('\n');
    for (const part of parts.slice(0, -1)) {
      const line = unfinished.join('') + part;
      unfinished = [];
      if (line.startsWith(EVENT_START)) yield line.slice(EVENT_START.length);
    }
    unfinished.push(parts.at(-1) ?? '');
  }
}

/** @returns whether the stream is complete */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<SearchEvent, boolean> {
  try {
    for await (const text of readEvents(body)) {
      if (text === STREAM_END) return true;
      const event = parseJson(text);
      if (isSearchEvent(event)) yield event;
      else return false;
    }
  } catch {
    // The connection was lost.
  }
  return false;
}

/**
 * A search rejects with RequestError if the daemon refuses, with UsageError if it cannot be reached, the server is not
 * Trawl, or a stream is incomplete.
 */
export function openRemoteSearch(daemon: Daemon): SearchSource {
  const ask = async <Value>(
    endpoint: string,
    call: SearchCall,
    signal: AbortSignal,
    example: unknown,
  ): Promise<Value> => {
    const { status, body } = await daemon.post(endpoint, JSON.stringify(call), signal);
    const value = await readBody(daemon.name, body);
    if (status === 200 && isLike<Value>(value, example)) return value;
    throw refusal(daemon, endpoint, status, value);
  };
  return {
    search: (call, signal) => ask<SearchResponse>('api/search', call, signal, ANSWER),
    async *stream(call, signal) {
      const endpoint = 'api/stream_search';
      const { status, contentType, body } = await daemon.post(
        endpoint,
        JSON.stringify(call),
        signal,
      );
      if (!contentType.startsWith('text/event-stream'))
        throw refusal(daemon, endpoint, status, await readBody(daemon.name, body));
      const isComplete = yield* eventsOf(body);
      if (!isComplete) throw new UsageError('the stream ended early');
    },
    explain: (call, signal) => ask<Explanation>('api/explain', call, signal, EXPLANATION),
    folders: (names) => daemon.folders(names),
    close: () => Promise.resolve(),
  };
}

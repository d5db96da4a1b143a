// Searches through a running daemon: one POST per search. The counterpart of local-search.ts.

import type { Explanation } from '../api/search/explain-schemas.ts';
import type { SearchCall, SearchEvent, SearchResponse } from '../api/search/search-schemas.ts';
import { RequestError, UsageError, isErrorObject } from './errors.ts';
import type { SearchSource } from './search-source.ts';

function parseBody(text: string): unknown {
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

class RemoteDaemon {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #hasKey: boolean;

  constructor(url: string, apiKey: string | undefined) {
    this.#url = url;
    this.#hasKey = apiKey !== undefined;
    const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#headers = { 'content-type': 'application/json', ...key };
  }

  async post(endpoint: string, call: SearchCall, signal: AbortSignal): Promise<Response> {
    const address = addressOf(this.#url, endpoint);
    const body = JSON.stringify(call);
    try {
      return await fetch(address, { method: 'POST', headers: this.#headers, body, signal });
    } catch (error) {
      throw new UsageError(
        `cannot reach ${address.origin}: ${causeOf(error)}; "trawl serve" starts a daemon, --url selects another one`,
        { cause: error },
      );
    }
  }

  refusal(endpoint: string, status: number, value: unknown): Error {
    if (isErrorObject(value)) {
      const isKeyMissing = value.errorCode === 'NOT_AUTHENTICATED' && !this.#hasKey;
      return new RequestError(
        isKeyMissing ? { ...value, message: `${value.message} ${KEY_ADVICE}` } : value,
      );
    }
    const { href } = addressOf(this.#url, endpoint);
    return new UsageError(
      `unexpected answer from ${href}: HTTP ${String(status)}; is it a Trawl daemon?`,
    );
  }
}

const EVENT_START = 'data: ';
const STREAM_END = '[DONE]';

/** The data of the events in a body of server-sent events, with the end mark. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
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
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<SearchEvent, boolean> {
  try {
    for await (const text of readEvents(body)) {
      if (text === STREAM_END) return true;
      const event = parseBody(text);
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
export function openRemoteSearch(url: string, apiKey: string | undefined): SearchSource {
  const daemon = new RemoteDaemon(url, apiKey);
  addressOf(url, '');
  return {
    async search(call, signal) {
      const answer = await daemon.post('api/search', call, signal);
      const value = parseBody(await answer.text());
      if (answer.status === 200 && isLike<SearchResponse>(value, ANSWER)) return value;
      throw daemon.refusal('api/search', answer.status, value);
    },
    async *stream(call, signal) {
      const answer = await daemon.post('api/stream_search', call, signal);
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
      if (answer.body === null || isStream !== true)
        throw daemon.refusal('api/stream_search', answer.status, parseBody(await answer.text()));
      const isComplete = yield* eventsOf(answer.body);
      if (!isComplete) throw new UsageError('the stream ended early');
    },
    async explain(call, signal) {
      const answer = await daemon.post('api/explain', call, signal);
      const value = parseBody(await answer.text());
      if (answer.status === 200 && isLike<Explanation>(value, EXPLANATION)) return value;
      throw daemon.refusal('api/explain', answer.status, value);
    },
    folders: () => Promise.resolve(new Map()),
    close: () => Promise.resolve(),
  };
}

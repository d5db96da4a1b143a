// HTTP transport to a code host, one per connection. It contacts only the connection's host, whatever a redirect or a page
// link says, so that credentials reach nobody else; waits as the host requests; retries; and buffers each answer within
// limits.

import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
// oxlint-disable-next-line import/no-unassigned-import -- for its side effect
import '../base/own-fetch.ts';
import { type Dispatcher, request } from 'undici';
import { isShortage, messageOf } from '../base/caught.ts';
import { ConfigError } from '../base/config/error.ts';
import type { Log } from '../base/log.ts';
import { observed } from '../base/observed-calls.ts';
import { Slots } from '../base/slots.ts';
import { TimeLimit } from '../base/time-limit.ts';
import { Awaiting } from './awaited-answers.ts';
import {
  answerFailure,
  isCertificateFault,
  isSilence,
  networkFailure,
  type Question,
} from './failures.ts';
import { HostError } from './host.ts';
import { isRateLimited, type Limited, noteHostBudget } from './rate-limit.ts';
import { noteHostPause, requestedPauseMs } from './rate-limit.ts';
import { openDispatcher, type Environment } from '../base/config/dispatcher.ts';

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly signal?: AbortSignal;
}

export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Response>;

export interface TransportOptions {
  /** Of the host's API; only its origin counts. */
  readonly url: string;
  /** PEM; trusted besides the certificates of the system. A replaced file counts from the next request on. */
  readonly caFile?: string | undefined;
  readonly log: Log;
  /** Name of its connection. */
  readonly connection?: string | undefined;
  /** Variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly env: Environment;
  /** Overrides of LIMITS; for tests. */
  readonly limits?: Partial<typeof LIMITS>;
}

export const LIMITS = {
  connectMs: 10_000,
  /** Of headers, and between two chunks of a body. */
  silenceMs: 30_000,
  /** Of one attempt, redirects included. */
  attemptMs: 120_000,
  /** Of an answer, uncompressed. */
  bytes: 64 * 1024 * 1024,
  redirects: 5,
  /** After the first attempt. */
  retries: 3,
  /**
   * Before the first of them; doubles each time, plus up to half of it at random. Also the shortest pause after answers of
   * a rate limit.
   */
  retryMs: 1_000,
  /** Total wait of one request on behalf of the host: GitHub counts by the hour. */
  waitMs: 3_900_000,
  /** Bound: lines of the log: a shorter wait is not reported. */
  noticeMs: 10_000,
};

/** Bound: growth of the shortest pause after answers of a rate limit. */
const SHORTEST_PAUSE_MS_MAX = 60_000;

/** Concurrent requests to one host, over all connections. */
const REQUESTS_MAX = 8;

/** By origin. Bound: the configured hosts. */
const slotsOf = new Map<string, Slots>();

/** Statuses that are retried: often temporary failures of the host. All our requests only read. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Bound: bytes of an answer that are searched for the report of a rate limit. */
const TEXT_MAX = 2_000;

const unpack = promisify(unzip);

/** Defaults. */
const USUAL_HEADERS = { accept: '*/*', 'user-agent': 'trawl', 'accept-encoding': 'gzip, deflate' };

/** A request in a form that can be repeated. */
interface OutgoingRequest extends Question {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

interface Answer extends Limited {
  readonly url: URL;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

export class HostTransport {
  readonly #url: URL;
  readonly #options: TransportOptions;
  readonly #limits: typeof LIMITS;
  readonly #slots: Slots;
  readonly #dispatchers = new Map<string, Dispatcher>();
  /** Fingerprint of the certificate file in use. */
  #mark: string;
  /** End of the host's pause; of performance.now, which clock changes do not affect. */
  #pausedUntilMs = 0;
  #clockAheadMs = 0;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(options: TransportOptions) {
    this.#url = new URL(options.url);
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#slots = slotsOf.get(this.#url.origin) ?? new Slots({ runningMax: REQUESTS_MAX });
    slotsOf.set(this.#url.origin, this.#slots);
    this.#mark = markOf(options.caFile);
    // Reports invalid certificates or proxies now.
    this.#dispatcherOf(this.#url);
  }

  /** Host name for messages, with a non-default port. */
  get host(): string {
    return this.#url.host;
  }

  /** How far the host's clock was ahead of ours at its last answer; 0: unknown. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  /**
   * As the global fetch, but: other hosts are refused, also in redirects; the answer is complete, with any status except
   * redirects. Errors: HostError, the reason of the signal.
   */
  readonly fetch: Fetch = async (input, { headers, body = null, ...options } = {}) => {
    const { method = 'GET', signal = new AbortController().signal } = options;
    const [url, { host }] = [new URL(input), this];
    const what = `${method} ${url.pathname}`;
    const outgoing = { url, method, headers: new Headers(headers), body, signal, host, what };
    return responseOf(await this.#send(outgoing));
  };

  /** `fetch` with a signal. */
  readonly fetchUntil =
    (signal: AbortSignal): Fetch =>
    (url, options) =>
      this.fetch(url, { ...options, signal });

  async close(): Promise<void> {
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }

  /** One answer, after any number of attempts and pauses. */
  async #send(outgoing: OutgoingRequest): Promise<Answer> {
    const { connection, log } = this.#options;
    const question = { host: outgoing.host, what: outgoing.what };
    const { noticeMs } = this.#limits;
    const awaiting = new Awaiting({ question, connection, noticeMs, log });
    try {
      return await this.#sendUntilAnswered(outgoing, awaiting);
    } finally {
      awaiting.end();
    }
  }

  async #sendUntilAnswered(outgoing: OutgoingRequest, awaiting: Awaiting): Promise<Answer> {
    const endMs = performance.now() + this.#limits.waitMs;
    let limitedCount = 0;
    for (let failureCount = 0; ;) {
      await this.#waitForHost(outgoing, endMs);
      const outcome = await this.#slots.run('', outgoing.signal, () =>
        this.#attempt(outgoing, awaiting, limitedCount),
      );
      // Another request was told to wait meanwhile.
      if (outcome === undefined) continue;
      if (outcome instanceof HostError) {
        awaiting.noteFailure(outcome.message);
        if (++failureCount > this.#limits.retries) throw outcome;
        await this.#pause(failureCount, outgoing);
        continue;
      }
      if (isRateLimited(outcome)) {
        limitedCount++;
        continue;
      }
      if (!RETRIED_STATUSES.has(outcome.status) || ++failureCount > this.#limits.retries)
        return outcome;
      await this.#pause(failureCount, outgoing);
    }
  }

  /** Errors: HostError if the host requests more time than allowed. */
  async #waitForHost({ signal, host, what }: OutgoingRequest, endMs: number): Promise<void> {
    for (;;) {
      const nowMs = performance.now();
      const remainingMs = this.#pausedUntilMs - nowMs;
      if (remainingMs <= 0) return;
      if (this.#pausedUntilMs > endMs) {
        const retryAt = new Date(Date.now() + remainingMs).toISOString();
        const reason = `${host}: ${what}: the host takes no more requests until ${retryAt}`;
        throw new HostError(
          'RATE_LIMITED',
          `${reason}; list less often, or use a credential with a higher limit`,
          retryAt,
        );
      }
      await wait(remainingMs, signal);
    }
  }

  #applyPause(pauseMs: number, { host, what }: Question): void {
    const untilMs = performance.now() + pauseMs;
    if (pauseMs === 0 || untilMs <= this.#pausedUntilMs) return;
    this.#pausedUntilMs = untilMs;
    noteHostPause(host, untilMs);
    this.#options.log.warn('the code host asks to wait', { host, what, pauseMs });
  }

  async #pause(failureCount: number, { signal, host, what }: OutgoingRequest): Promise<void> {
    const pauseMs = this.#retryPauseMs(failureCount);
    const fields = { host, what, failureCount, pauseMs };
    this.#options.log.debug('a request to the code host is retried after a pause', fields);
    await wait(pauseMs, signal);
  }

  #retryPauseMs(failureCount: number): number {
    return Math.round(this.#limits.retryMs * 2 ** (failureCount - 1) * (1 + Math.random() / 2));
  }

  /** For how many milliseconds no request may follow an answer. @param limitedCount  limited answers to the request before */
  #pauseMsAfter(answer: Answer, limitedCount: number): number {
    const pauseMs = requestedPauseMs(answer, Date.now());
    if (!isRateLimited(answer)) return pauseMs;
    // Why: a host may limit requests and ask for no pause.
    const shortestMs = Math.min(this.#retryPauseMs(limitedCount + 1), SHORTEST_PAUSE_MS_MAX);
    return Math.max(pauseMs, shortestMs);
  }

  /**
   * An answer; a failure worth a retry; undefined: the host requests a pause. Errors: HostError of failures that no retry
   * fixes.
   */
  async #attempt(
    outgoing: OutgoingRequest,
    awaiting: Awaiting,
    limitedCount: number,
  ): Promise<Answer | HostError | undefined> {
    if (this.#pausedUntilMs > performance.now()) return undefined;
    awaiting.begin();
    const limit = new TimeLimit(this.#limits.attemptMs, outgoing.signal);
    try {
      const answer = await this.#follow({ ...outgoing, signal: limit.signal });
      awaiting.noteAnswer();
      noteHostBudget(outgoing.host, answer.headers);
      this.#applyPause(this.#pauseMsAfter(answer, limitedCount), outgoing);
      const aheadMs = Date.parse(answer.headers.get('date') ?? '') - Date.now();
      if (!Number.isNaN(aheadMs)) this.#clockAheadMs = aheadMs;
      return answer;
    } catch (error) {
      outgoing.signal.throwIfAborted();
      if (error instanceof HostError || error instanceof ConfigError) throw error;
      const failure = networkFailure(this.#endOf(error, limit.isOver), outgoing);
      if (isCertificateFault(error) || isShortage(error)) throw failure;
      return failure;
    } finally {
      limit.end();
    }
  }

  /** The reason of an attempt's end; a timeout names its duration. */
  #endOf(error: unknown, isOver: boolean): unknown {
    const { attemptMs, silenceMs } = this.#limits;
    if (isOver) return new Error(`no complete answer within ${attemptMs} ms`);
    return isSilence(error) ? new Error(`no data for ${silenceMs} ms`) : error;
  }

  async #follow(outgoing: OutgoingRequest): Promise<Answer> {
    let url = this.#allowed(outgoing.url, outgoing);
    for (let count = 0; count <= this.#limits.redirects; count++) {
      const { method: name, host, signal } = outgoing;
      const call = { system: 'host', name, host, signal } as const;
      const answer = await observed(call, this.#once({ ...outgoing, url }));
      const location = answer.headers.get('location');
      if (!REDIRECTS.has(answer.status) || location === null) return answer;
      if (!URL.canParse(location, url.href)) break;
      url = this.#allowed(new URL(location, url), outgoing);
    }
    throw new HostError(
      'REDIRECT_REFUSED',
      `${outgoing.host}: ${outgoing.what}: redirects lead nowhere; check \`url\` of the connection`,
    );
  }

  /** The address itself, if it belongs to the connection's host: the same origin, or https in place of http. */
  #allowed(url: URL, { host, what }: Question): URL {
    const isUpgrade = url.protocol === 'https:' && url.hostname === this.#url.hostname;
    const isOwn = url.origin === this.#url.origin || (isUpgrade && this.#url.protocol === 'http:');
    if (isOwn && url.username === '' && url.password === '') return url;
    throw new HostError(
      'REDIRECT_REFUSED',
      `${host}: ${what}: the host points to ${url.origin}, which is not contacted; if that is the right address, set it as \`url\` of the connection`,
    );
  }

  async #once(outgoing: OutgoingRequest): Promise<Answer> {
    const { url, method, body, signal, host, what } = outgoing;
    const startMs = performance.now();
    const {
      statusCode: status,
      headers,
      body: content,
    } = await request(url, {
      method,
      headers: { ...USUAL_HEADERS, ...Object.fromEntries(outgoing.headers) },
      body,
      signal,
      dispatcher: this.#dispatcherOf(url),
      // Safety: if it waits for its reader and the host closes, undici 7 crashes the process (nodejs/undici#5360). Its
      // fetch, which always waits, is no alternative.
      highWaterMark: 2 * this.#limits.bytes,
    });
    const question = { host, what };
    const packed = await this.#read(content, question);
    const bytes = await this.#unpacked(packed, headers['content-encoding'], question);
    if (status < 200 || status > 599) throw answerFailure(`status ${status}`, { host, what });
    const ms = Math.round(performance.now() - startMs);
    this.#options.log.debug('the code host was asked', { host, what, status, ms });
    const text = bytes.toString('utf8', 0, TEXT_MAX);
    return { url, status, headers: plainHeaders(headers), bytes, text };
  }

  async #read(body: AsyncIterable<Uint8Array>, question: Question): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > this.#limits.bytes) throw this.#tooLarge(question);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async #unpacked(
    packed: Buffer,
    encoding: string | string[] | undefined,
    question: Question,
  ): Promise<Buffer> {
    if (encoding === undefined || encoding === 'identity' || packed.length === 0) return packed;
    try {
      return await unpack(packed, { maxOutputLength: this.#limits.bytes });
    } catch (error) {
      if (error instanceof RangeError) throw this.#tooLarge(question);
      throw answerFailure(`content encoding ${String(encoding)}: ${messageOf(error)}`, question);
    }
  }

  #tooLarge({ host, what }: Question): HostError {
    return new HostError(
      'ANSWER_TOO_LARGE',
      `${host}: ${what}: the answer has more than ${this.#limits.bytes} bytes; check \`url\` of the connection`,
    );
  }

  #dispatcherOf({ protocol }: URL): Dispatcher {
    const mark = markOf(this.#options.caFile);
    if (mark !== this.#mark) {
      // Ends once running requests have been answered.
      for (const dispatcher of this.#dispatchers.values()) void dispatcher.close();
      this.#dispatchers.clear();
      this.#mark = mark;
    }
    const cached = this.#dispatchers.get(protocol);
    if (cached !== undefined) return cached;
    const dispatcher = openDispatcher(protocol, {
      hostname: this.#url.hostname,
      caFile: this.#options.caFile,
      env: this.#options.env,
      connectMs: this.#limits.connectMs,
      silenceMs: this.#limits.silenceMs,
      connectionsMax: REQUESTS_MAX,
    });
    this.#dispatchers.set(protocol, dispatcher);
    return dispatcher;
  }
}

/** Fingerprint of a file. */
function markOf(file: string | undefined): string {
  const status = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return status === undefined ? '' : `${status.ino} ${status.size} ${status.mtimeMs}`;
}

/** Headers of an answer after decompression. */
function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const plain = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of [value ?? []].flat()) plain.append(name, one);
  plain.delete('content-encoding');
  plain.delete('content-length');
  return plain;
}

function responseOf({ url, status, headers, bytes }: Answer): Response {
  const isEmpty = status === 204 || status === 205 || status === 304;
  const response = new Response(isEmpty ? null : new Uint8Array(bytes), { status, headers });
  // As fetch does: libraries resolve links against it.
  return Object.defineProperty(response, 'url', { value: url.href });
}

/** Errors: the reason of the signal. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // A timer takes at most 2^31 ms.
  await sleep(Math.min(ms, 2_000_000_000), undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}

// Requests to the API. Request and answer types come from the schemas that the daemon validates with. Errors are
// `ApiFailure` with the error code of the contract, or `OfflineError` if the daemon does not answer.

import type { AnswerOf, BodyOf, TypedEndpoint } from '../../api/shapes/endpoint.ts';
import { BASE_PATH } from './base-path.ts';

export type { AnswerOf, BodyOf };

/** An error answer of the daemon. */
export class ApiFailure extends Error {
  readonly statusCode: number;
  readonly errorCode: string;
  /** Seconds to wait before a retry; undefined: the daemon did not say. */
  readonly retryAfter: number | undefined;

  constructor(statusCode: number, errorCode: string, message: string, retryAfter?: number) {
    super(message);
    this.name = 'ApiFailure';
    this.statusCode = statusCode;
    this.errorCode = errorCode;
    this.retryAfter = retryAfter;
  }
}

/** The daemon did not answer, or a proxy did so in its place. */
export class OfflineError extends Error {
  constructor() {
    super('Trawl cannot be reached.');
    this.name = 'OfflineError';
  }
}

/** Identifies the page to the daemon, for its audit log. */
const SOURCE_HEADER = { 'X-Service-Client-Source': 'web' };

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An address such as `/api/source` with parameters, below the base path. Undefined parameters are left out. */
export function apiAddress(base: string, path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `${base}${path}${text === '' ? '' : `?${text}`}`;
}

export interface CallOptions {
  /** Workers must pass it; default: that of the page. */
  readonly base?: string;
  readonly method?: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param sentAt  time of the request, in ms since the epoch. @returns  true: try the request again */
type Heed = (status: number, sentAt: number) => Promise<boolean>;

/** Called if a request is refused with 401 or 403. */
let refused: Heed | undefined;

export function heedRefusals(heed: Heed): void {
  refused = heed;
}

/** Sends a request. Errors: ApiFailure; OfflineError; AbortError. */
export async function fetchApi(path: string, options: CallOptions): Promise<Response> {
  const sentAt = Date.now();
  let response = await send(path, options);
  // Why: sign-in requests get a 401 for other reasons.
  const isRefused = [401, 403].includes(response.status) && !path.startsWith('/api/auth/');
  if (isRefused && (await refused?.(response.status, sentAt)) === true)
    response = await send(path, options);
  if (!response.ok) throw await toFailure(response, options.method);
  return response;
}

async function send(path: string, options: CallOptions): Promise<Response> {
  const { base = BASE_PATH, method = 'GET', query, body, signal, headers } = options;
  try {
    return await fetch(apiAddress(base, path, query), {
      method,
      headers: {
        ...SOURCE_HEADER,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new OfflineError();
  }
}

/** Statuses of proxies without a daemon behind them; from 521, of Cloudflare. Why not 504: it may be this request alone that is too slow. */
const UNREACHED = [502, 503, 521, 522, 523, 530];

async function toFailure(response: Response, method?: string): Promise<ApiFailure | OfflineError> {
  const { status } = response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const seconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  try {
    const { errorCode, message } = Object(await response.json());
    if (typeof errorCode !== 'string' || typeof message !== 'string')
      throw new TypeError('no answer of the daemon');
    return new ApiFailure(status, errorCode, message, seconds);
  } catch {
    // An answer to HEAD has no body, whoever sent it. Every other error of the daemon has both: a proxy answered.
    if (UNREACHED.includes(status)) return new OfflineError();
    if (method === 'HEAD')
      return new ApiFailure(status, 'UNKNOWN', `The answer was ${status}.`, seconds);
    return ofProxy(response, seconds);
  }
}

function ofProxy({ status }: Response, retryAfter?: number): ApiFailure {
  const message = `A proxy answered ${status} in place of Trawl.`;
  return new ApiFailure(status, 'UNKNOWN', message, retryAfter);
}

/** The answer of an endpoint that lists pages, with the total count. */
export interface Page<Answer> {
  readonly items: Answer;
  readonly total: number | undefined;
}

/** Errors: as `fetchApi`. */
async function parse(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw error instanceof SyntaxError ? ofProxy(response) : new OfflineError();
  }
}

/** Calls an endpoint, typed by its definition: `call<typeof getSource>('/api/source', …)`. Errors: as `fetchApi`. */
export async function call<E extends TypedEndpoint>(
  path: string,
  options: Omit<CallOptions, 'body'> & { readonly body?: BodyOf<E> },
): Promise<AnswerOf<E>> {
  // Safety: the daemon's tests check every answer against its schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await parse(await fetchApi(path, options))) as AnswerOf<E>;
}

/** Like `call`, for a page of a list. */
export async function callPage<E extends TypedEndpoint>(
  path: string,
  options: CallOptions,
): Promise<Page<AnswerOf<E>>> {
  const response = await fetchApi(path, options);
  const total = response.headers.get('x-total-count');
  return {
    // Safety: as above.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    items: (await parse(response)) as AnswerOf<E>,
    total: total === null ? undefined : Number(total),
  };
}

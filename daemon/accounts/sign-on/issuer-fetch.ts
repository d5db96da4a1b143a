// HTTP requests to an issuer: through the environment's proxies and certificates, as to code hosts; limited in time and
// size; without redirects. A failed address is not contacted for a while, so that a flood of tokens or sign-ons does not
// become a flood of requests.
//
// The operator configures the issuer's address; addresses that it names itself (endpoints, keys) must be https, or, for an
// issuer without https, of the same origin.

import { LRUCache } from 'lru-cache';
import type { Environment } from '../../base/config/dispatcher.ts';
import { type AddressAnswer, fetchAddress } from '../../base/config/fetch-address.ts';

export const ISSUER_LIMITS = {
  /** Of a request with its answer. */
  answerMs: 5_000,
  /** Bytes of an answer. */
  bytes: 256 * 1024,
  /** Pause after a failed request, and between two requests for keys because of an unknown key. */
  restMs: 10_000,
  /** Keys are fetched again after this time, so that withdrawn ones no longer count. */
  keysMs: 300_000,
};

export interface IssuerFetchOptions {
  readonly issuer: URL;
  readonly env: Environment;
  readonly limits: typeof ISSUER_LIMITS;
}

interface Question {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type IssuerFetch = (address: string, question: Question) => Promise<Response>;

/** The fetch for libraries that talk to an issuer. Errors, of the function returned: of the network; of limits. */
export function issuerFetch({ issuer, env, limits }: IssuerFetchOptions): IssuerFetch {
  const { answerMs, bytes, restMs } = limits;
  // An issuer has a few endpoints.
  const failed = new LRUCache<string, true>({ max: 16, ttl: restMs });
  return async (address, question) => {
    const url = allowed(new URL(address), issuer);
    const isKept = (question.method ?? 'GET') === 'GET';
    if (isKept && failed.has(url.href))
      throw new Error(`${url.host} failed a moment ago and is not retried yet`);
    const limit = AbortSignal.timeout(answerMs);
    const signal = question.signal ? AbortSignal.any([question.signal, limit]) : limit;
    try {
      const answer = await fetchAddress({
        url,
        method: question.method === 'POST' ? 'POST' : 'GET',
        headers: Object.fromEntries(new Headers(question.headers)),
        body: textOf(question.body),
        env,
        signal,
        sizeMax: bytes,
        silenceMs: answerMs,
      });
      return responseOf(answer, bytes);
    } catch (error) {
      if (isKept) failed.set(url.href, true);
      throw error;
    }
  };
}

/** Errors: the address is not allowed. */
function allowed(url: URL, issuer: URL): URL {
  const isOwn = issuer.protocol === 'http:' && url.origin === issuer.origin;
  if (url.username === '' && url.password === '' && (url.protocol === 'https:' || isOwn))
    return url;
  throw new Error(
    `the issuer names ${url.origin}, which is not contacted: it is not https, or has a password`,
  );
}

function textOf(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a request to an issuer is a form, or text');
}

/** Errors: an answer that is too large, or a redirect. */
function responseOf({ status, headers, body }: AddressAnswer, sizeMax: number): Response {
  if (body === undefined) throw new Error(`an answer of more than ${sizeMax} bytes`);
  if (status >= 500 || (status >= 300 && status < 400))
    throw new Error(`an answer with status ${status}`);
  const type = headers['content-type'];
  const kept = new Headers(typeof type === 'string' ? { 'content-type': type } : {});
  for (const one of [headers['www-authenticate'] ?? []].flat())
    kept.append('www-authenticate', one);
  const isEmpty = status === 204 || status === 205;
  return new Response(isEmpty ? null : body, { status, headers: kept });
}

// Searches through a running daemon: one POST for each search. The counterpart of the local index.

import { RequestError, UsageError, isErrorObject } from './errors.ts';
import type { SearchResponse, SearchSource } from './services.ts';

/** Parses a body; undefined if it is not JSON. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isSearchResponse(value: unknown): value is SearchResponse {
  if (typeof value !== 'object' || value === null) return false;
  if (!('files' in value && 'stats' in value && 'isSearchExhaustive' in value)) return false;
  const { files, stats, isSearchExhaustive } = value;
  const hasStats = typeof stats === 'object' && stats !== null;
  return Array.isArray(files) && hasStats && typeof isSearchExhaustive === 'boolean';
}

function searchAddress(url: string): URL {
  const isAddress = URL.canParse(url) && /^https?:/.test(url);
  if (!isAddress) throw new UsageError(`not an http or https address: ${url}`);
  return new URL('api/search', url.endsWith('/') ? url : `${url}/`);
}

/** The reason inside fetch's "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

async function post(address: URL, body: unknown, apiKey: string | undefined, signal: AbortSignal) {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey}`;
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    throw new UsageError(`cannot reach ${address.origin}: ${causeOf(error)}`, { cause: error });
  }
}

/**
 * A search source that asks the daemon at `url`.
 *
 * Errors: `search` rejects with a RequestError if the daemon refuses, with a UsageError if it cannot be
 * reached or what answers is no Trawl.
 */
export function openRemoteSearch(url: string, apiKey: string | undefined): SearchSource {
  const address = searchAddress(url);
  return {
    async search(call, signal) {
      const { status, text } = await post(address, call, apiKey, signal);
      const value = parseBody(text);
      if (isErrorObject(value)) throw new RequestError(value);
      if (status === 200 && isSearchResponse(value)) return value;
      throw new UsageError(`unexpected answer from ${address.href}: HTTP ${String(status)}`);
    },
    close: () => Promise.resolve(),
  };
}

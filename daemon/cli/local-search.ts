// Searches the index of a data directory in this process; the counterpart of remote-search.ts. Loads the engine.

import { messageOf } from '../base/caught.ts';
import type { SearchConfiguration } from '../base/config/search-configuration.ts';
import { boundedRequest } from '../engine/query/request.ts';
import { search } from '../engine/search/search.ts';
import { startStream, type StreamEvent } from '../engine/search/stream.ts';
import { ApiError, toApiError } from '../api/shapes/api-error.ts';
import type { Explanation } from '../api/search/explain-schemas.ts';
import { allBytes } from '../base/lazy-bytes.ts';
import type { SearchEvent, SearchResponse } from '../api/search/search-schemas.ts';
import { openToSearch } from '../app/search-host.ts';
import { SEES_ALL } from '../repos/repo-access.ts';
import { noIndexError, notIndexedYetError } from './errors.ts';
import { lateLog } from './late-log.ts';
import type { SearchSource } from './search-source.ts';

/** Every repo is visible. Errors: UsageError without an index. */
export async function openLocalSearch(configuration: SearchConfiguration): Promise<SearchSource> {
  const log = lateLog(configuration.log);
  const { dataDir, settings } = configuration;
  const instance = await openToSearch({
    dataDir,
    searchTimeoutMs: settings.searchTimeoutMs,
    log,
  });
  const { repos, damaged } = instance.catalog;
  const unbuilt = repos.filter(({ record }) => record.indexedAt === undefined);
  if (unbuilt.length === repos.length && damaged.length === 0) {
    await instance.close();
    throw repos.length === 0 ? noIndexError(dataDir) : notIndexedYetError(dataDir, repos.length);
  }
  if (unbuilt.length > 0)
    log.warn('repositories that are not indexed yet are not searched', { repos: unbuilt.length });
  const baseUrl = configuration.baseUrl ?? `http://localhost:${configuration.port}`;
  const environment = { baseUrl, repoAccess: SEES_ALL };
  return {
    async search(call, signal) {
      const clamped = boundedRequest(call, settings.maxMatchCount);
      const { json } = await withErrorObject(
        search(instance.parts, clamped, { signal, ...environment }),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's answer
      return JSON.parse(Buffer.from(allBytes(json)).toString()) as SearchResponse;
    },
    async explain(call, signal) {
      // Loaded for itself: a search does without.
      const { explain } = await import('../engine/search/explain.ts');
      const clamped = boundedRequest(call, settings.maxMatchCount);
      const explained = await withErrorObject(
        explain(instance.parts, clamped, { signal, ...environment }, true),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as a daemon would send it
      return JSON.parse(JSON.stringify(explained)) as Explanation;
    },
    async *stream(call, signal) {
      const clamped = boundedRequest(call, settings.maxMatchCount);
      const whole = { signal, ...environment, eventSizeMax: Infinity };
      const events = await withErrorObject(startStream(instance.parts, clamped, whole));
      try {
        for (;;) {
          const event = await withErrorObject(events.next());
          if (event === undefined) return;
          yield searchEventOf(event);
        }
      } finally {
        events.close();
      }
    },
    folders(names) {
      const wanted = new Set(names);
      const found = repos.flatMap(({ record: { name, source } }): [string, string][] =>
        wanted.has(name) ? [[name, source.path]] : [],
      );
      return Promise.resolve(new Map(found));
    },
    close: () => instance.close(),
  };
}

function searchEventOf(event: StreamEvent): SearchEvent {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's event
  if ('json' in event) return JSON.parse(Buffer.from(event.json).toString()) as SearchEvent;
  const apiError = toApiError(event.error);
  const error = apiError ?? new ApiError('UNEXPECTED_ERROR', messageOf(event.error));
  return { type: 'error', error: error.toObject() };
}

/** Adds the members of the API's error object to errors of a search, as a daemon does. */
async function withErrorObject<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    const apiError = toApiError(error);
    // Contexts depend on configuration, licence and connections together.
    if (apiError?.errorCode === 'SEARCH_CONTEXT_NOT_FOUND')
      throw new ApiError(
        apiError.errorCode,
        'Only a running daemon knows search contexts: name its address by --url or TRAWL_URL, and a key by --api-key or TRAWL_API_KEY.',
      );
    throw apiError ?? error;
  }
}

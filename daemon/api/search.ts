// POST /api/search, /api/stream_search and /api/explain: one search, answered at its end, while it runs, or
// explained. Checks and clamps the request; the search service does the rest.

import { z } from 'zod';
import { bodyEndpoint, ok } from './endpoint.ts';
import type { CallContext } from './endpoint.ts';
import { jsonInteger } from './input.ts';
import type { SearchCall } from './services.ts';

const QUERY_SIZE_MAX = 65536;
const CONTEXT_LINES_MAX = 100;

export const searchBody = z.object({
  query: z.string().refine((query) => Buffer.byteLength(query) <= QUERY_SIZE_MAX, {
    error: `longer than ${QUERY_SIZE_MAX} bytes`,
  }),
  matches: jsonInteger(1),
  contextLines: jsonInteger(0).default(0),
  whole: z.boolean().default(false),
  isRegexEnabled: z.boolean().default(false),
  isCaseSensitivityEnabled: z.boolean().default(false),
});

/** The call that the body asks for, `matches` and `contextLines` clamped. */
export function toSearchCall(body: z.output<typeof searchBody>, matchCountMax: number): SearchCall {
  return {
    ...body,
    matches: Math.min(body.matches, matchCountMax),
    contextLines: Math.min(body.contextLines, CONTEXT_LINES_MAX),
  };
}

export const search = bodyEndpoint(
  {
    operationId: 'search',
    method: 'POST',
    path: '/api/search',
    access: 'opt',
    isSearch: true,
  },
  searchBody,
  async (body, { services, settings, signal, baseUrl }: CallContext) => {
    const call = toSearchCall(body, settings.maxMatchCount);
    const { json } = await services.search.search(call, { signal, baseUrl });
    return { status: 200, content: { json } };
  },
);

export const streamSearch = bodyEndpoint(
  {
    operationId: 'streamSearch',
    method: 'POST',
    path: '/api/stream_search',
    access: 'opt',
    isSearch: true,
  },
  searchBody,
  async (body, { services, settings, signal, baseUrl, eventSizeMax }: CallContext) => {
    const call = toSearchCall(body, settings.maxMatchCount);
    const events = await services.search.stream(call, { signal, baseUrl, eventSizeMax });
    return { status: 200, content: { events } };
  },
);

export const explainSearch = bodyEndpoint(
  {
    operationId: 'explainSearch',
    method: 'POST',
    path: '/api/explain',
    access: 'owner',
    isSearch: true,
  },
  searchBody,
  async (body, { services, settings, signal, baseUrl }: CallContext) => {
    const call = toSearchCall(body, settings.maxMatchCount);
    return ok(await services.search.explain(call, { signal, baseUrl }));
  },
);
